// Package resolve runs operations behind the fields of the schema. The generated resolvers (graph/generated/resolvers) and the
// hand-written ones of package graph call it.
//
//	run.go          operations behind root fields
//	edges.go        operations behind edges, for all rows of a list at once
//	loader.go       why an edge of a hundred rows takes one statement
//	columns.go      which columns of rows are read: those that the document asks for
//	idempotency.go  mutations that take effect once
//	etag.go         the tag of a row
//
// The package never decides what a caller may do (package op does), and writes no answer.
package resolve

// Package paging pages lists for REST and GraphQL.
//
//	declare.go   a list, a look-up by ids and a list of children as operations, each declared by its query alone
//	page.go      pages by number, as REST asks for them
//	cursor.go    windows after a cursor, as connections of the graph ask for them
//	children.go  the windows of many parents in one statement
//	counter.go   totals that triggers keep
//	filter.go    filters that lists have in common
//
// A domain declares its lists with it, and the doors fill in Page. It does not decide what the caller may see: the
// tenancy guard and the access policies narrow every query that Ent runs, and package op narrows the hand-written ones
// here.
//
// Every list is ordered by one column and then by the id, or by further columns of an index in between. So pages never
// overlap, and a cursor is one comparison of the whole key, which the index answers.
package paging

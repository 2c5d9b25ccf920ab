// Package inline replaces parts of gqlgen's runtime in the generated code: it marshals the fields of an object and the elements
// of a list one after the other. Code that graph/internal/generate has rewritten calls it.
//
// OfKind makes introspection say null.
//
// gqlgen's runtime starts a goroutine for each element of a list, and keeps account of @defer for each object. Here edges are
// read for all rows of a list at once, so the goroutines would only wait for the first, and @defer is not supported.
package inline

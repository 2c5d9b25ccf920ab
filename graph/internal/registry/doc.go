// Package registry is the table of the GraphQL API, as rest/routes.go is REST's: one row per entity and one per mutation, each
// with the operations behind it.
//
// The generator (graph/internal/generate) derives from it and from the operations: inputs, payloads, filters, orders, sorts,
// connections, edges, the fields of Query and Mutation, and their resolvers. At run time package graph uses it to read a row by
// its id. The package decides nothing and sees no request.
//
// To add an entity: describe it in ent/schema, which makes its object type, add its row and those of its mutations here, and run
// go generate. What else its type has, such as edges, is declared in graph/*.graphqls. A special case is declared in graph/*.graphqls or resolved in graph/*.resolvers.go; the generator then leaves it out.
package registry

// Package registry is the table of the GraphQL door, as rest/routes.go is REST's: a row an entity, and a row a mutation,
// each with the operations behind it.
//
// The generator (graph/internal/generate) derives from it and from the operations what would otherwise be written again:
// inputs, payloads, filters, orders, sorts, connections, edges, the fields of Query and Mutation and their resolvers. At
// run time package graph finds in it what reads a row by its id. It decides nothing and knows no request.
//
// To show a new entity: declare its object type in graph/*.graphqls, add its row and those of its mutations here, and run
// go generate. What is special is declared in graph/*.graphqls, or resolved in graph/*.resolvers.go, and so is left out of
// what is derived.
package registry

// Package graph is the door for the web frontend, and the only one to the settings that REST does not have: POST /graphql
// with a session's cookie, a bearer token or an API key.
//
// The schema stands in *.graphqls, by domain. A field is a column of an Ent row, or a method in *.resolvers.go that runs
// one operation of a domain package and nothing else. Inputs of mutations are decoded by the operation itself, as bodies
// are for REST; filters of lists are bound to its input struct. generated/ holds what gqlgen writes from both (`go
// generate`), schema.graphql what clients may rely on: a test refuses changes of it that break them.
//
// A call goes through: authentication (401) → rate limit (429) → method, origin (405, 403) → body (413, 415) → the document:
// trusted ones → syntax → size → introspection → rate limit by cost → validation → variables (400), and nothing has been
// read from the database so far. Then its fields are answered one by one, with errors beside the data: 200 from here on.
//
//	server.go     from a call to its answer
//	prepare.go    what an operation must pass before it runs
//	run.go        operations behind root fields, edges.go behind edges, node.go behind ids
//	cohort.go     why an edge of a hundred rows takes one statement
//	errors.go     what callers are told
//
// Who calls it: cmd mounts Server behind the gate. What it never does: decide what a caller may do (that is op's), or send
// a statement of its own.
package graph

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
// A subscription is such a call, too, sent with Accept: text/event-stream; what refuses it comes before its answer begins.
// From then on it is a stream:
//
//	opening ──▶ waiting ◀──────────────────────────────────────────────────┐
//	               │ the feed has changes                                  │ a pause, for changes to gather
//	               ▼                                                       │
//	            recognise the caller again ─▶ read the rows as the caller ─▶ run the selection on each, send
//
//	it ends: unauthorized, forbidden    the credential is not valid any more (asked every ten seconds, too), or gives other rights
//	         unavailable                changes were or may have been missed, or the server stops: open it again
//	         without a word             the client closed it, or did not read for ten seconds
//
// A row that the caller does not see is left out, and nothing tells of it. A stream is no use of its session. Tasks and
// executions will be watched as requests are: a row of the feed's table of kinds, an operation that looks their rows up,
// and a resolver that calls watch.
//
//	server.go     from a call to its answer
//	prepare.go    what an operation must pass before it runs
//	run.go        operations behind root fields, edges.go behind edges, node.go behind ids
//	cohort.go     why an edge of a hundred rows takes one statement
//	stream.go     what a stream does in its time; stream_watch.go where its events come from, stream_limits.go how many
//	              there may be, stream_sse.go how they are written
//	errors.go     what callers are told
//
// Who calls it: cmd mounts Server behind the gate. What it never does: decide what a caller may do (that is op's), or send
// a statement of its own.
package graph

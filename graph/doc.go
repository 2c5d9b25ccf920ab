// Package graph is the door for the web frontend, and the only one to the settings that REST does not have: POST /graphql
// with a session's cookie, a bearer token or an API key.
//
// The table of the door is graph/internal/registry: a row an entity and a row a mutation, each with its operations. Inputs,
// payloads, filters, orders, connections, the fields of Query and Mutation and their resolvers are derived from it and from
// the operations' input structs (`go generate`); *.graphqls declare the object types and what is special, *.resolvers.go
// resolve what no rule of the generator gives. Inputs are bound to the operations' structs and held against the operations'
// rules as REST's bodies are, so that both doors name the same faults. schema.graphql holds what clients may rely on: a test
// refuses changes of it that break them.
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
// A row that the caller does not see is left out, and nothing tells of it. A stream is no use of its session. A kind
// of rows that is watched is a row of the feed's table of kinds, an operation that looks its rows up, and a resolver that calls
// watch.
//
//	server.go     from a call to its answer
//	prepare.go    what an operation must pass before it runs
//	run.go        operations behind root fields, edges.go behind edges, node.go behind ids
//	loader.go     why an edge of a hundred rows takes one statement
//	columns.go    which columns of rows are read: those that the document asks for
//	stream.go     what a stream does in its time; stream_watch.go where its events come from, stream_limits.go how many
//	              there may be, stream_sse.go how they are written
//	errors.go     what callers are told
//
// gqlgen's output is made leaner by a step of the generator (graph/internal/generate/rewrite.go): columns are marshalled
// without a field context, lists without a goroutine an element, objects without an account of @defer. A list of 20 requests
// with three edges each serves 0.39 (PostgreSQL) and 0.47 (SQLite) of REST's rate by it, and 0.20 and 0.23 without; the same
// list without edges 0.85 and 0.95, and 0.54 and 0.58 without. It takes 880 µs of the server's CPU instead of 2,000 to 2,300.
// (bench -quick, doors-rows and doors-edges, two shared cores, 2026-11.) gqlgen has no option for it. When it has, the step
// goes.
//
// Who calls it: cmd mounts Server behind the gate. What it never does: decide what a caller may do (that is op's), or send
// a statement of its own.
package graph

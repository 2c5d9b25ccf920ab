// Package graph is the GraphQL API, for the web frontend and for the settings that REST does not have: POST /graphql with a
// session cookie, a bearer token or an API key.
//
// The table of the API is graph/internal/registry: one row per entity and one per mutation, each with its operations. `go
// generate` derives from it, from ent/schema and from the operations' input structs: object types, inputs, payloads, filters, orders,
// connections, the fields of Query and Mutation, and their resolvers (graph/generated). *.graphqls declare edges and special cases;
// *.resolvers.go resolve what the generator has no rule for. Inputs are bound to the operations' structs and checked by the
// operations' rules as REST's bodies are, so both APIs report the same faults. schema.graphql holds what clients may rely on: a
// test refuses changes of it that break clients.
//
// A call passes these steps, each with the status of its refusal: authentication (401) → rate limit (429) → method, origin (405,
// 403) → body (413, 415) → the document: trusted documents → syntax → size → introspection → rate limit by cost → validation →
// variables (400). No operation has read anything from the database up to here. Then the fields are resolved, with errors beside
// the data. The status is 200 from here on, or 503 when the database is unavailable and no field has data. Refusals of all steps and
// answers come as application/graphql-response+json where the caller prefers that. A refused mutation is null, beside the answers of
// the others.
//
// An operation may be 12 fields deep, and may have 1,000 fields, 500 aliases and 50 fields at its root (graph/internal/limit). A
// document has at most 10,000 tokens. An operation has 10 s to run. For each 1,000 of its cost, rounded, it counts as one further
// call, and for each mutation after the first as another. What a whole operation may cost depends on the company.
//
// A subscription is a call with Accept: text/event-stream. Until the stream is open, an error is answered as for any other call.
// From then on it is a stream:
//
//	opening ──▶ waiting ◀──────────────────────────────────────────────────┐
//	               │ the feed has changes                                  │ a pause, for changes to gather
//	               ▼                                                       │
//	            authenticate the caller again ─▶ read the rows as the caller ─▶ run the selection on each, send
//
//	it ends: unauthorized, forbidden    the credential is no longer valid (also checked every ten seconds), or gives other rights
//	         unavailable                changes were or may have been missed, or the server stops: open it again
//	         no error                   the client closed it, or did not read for ten seconds
//
// A row that the caller may not see is left out silently. A stream does not extend its session. On a node, eight streams read at
// the same time (stream_limits.go); the changes of the others gather meanwhile. To make a kind of rows watchable, add a row to
// the feed's table of kinds, an operation that looks the rows up, and a resolver that calls watch.
//
//	server.go     from a call to its answer
//	prepare.go    what an operation must pass before it runs
//	resolver.go   the types of the resolvers that are partly or wholly written by hand
//	node.go       operations behind ids; graph/internal/resolve has those behind root fields and edges
//	stream.go     the life of a stream; stream_watch.go where its events come from, stream_limits.go how many may be open,
//	              stream_sse.go how events are written
//	errors.go     how errors are written into answers
//
// A step of the generator (graph/internal/generate/rewrite.go) makes gqlgen's output faster: columns are marshalled without a
// field context, lists without a goroutine per element, and objects without bookkeeping for @defer. A list of 20 requests with
// three edges each has to serve 0.6 of the rate of REST's list (`.ci/with-services.sh --durable go run ./internal/test/bench -workload
// edges`). With the step a call of BenchmarkEdges takes 0.81 to 0.83 of the time and makes 0.65 of the allocations, the client's
// included (SQLite, medians of three pairs, 2026-11), and the generated code is 13,500 lines shorter. gqlgen has no option for this.
// When it has one, the step is removed.
//
// cmd mounts Server behind the gate. The package never decides what a caller may do (package op does), and never sends a database
// statement of its own.
package graph

// Package gate handles every HTTP call before a door answers it. Front gives the call an id, refuses plain HTTP, recovers
// from panics, measures, and writes the access log. Loopback is Front for the operators' listener, where a call may be plain
// but must be local. Guard recognises the caller, counts the call against the caller's limits, and lets web applications of
// other origins read the answer.
//
// Its callers are cmd, which puts Front around all doors and Loopback around the operators' door, and the doors, which put
// Guard in front of everything that needs a credential. StatusOf is the one place where an error's code becomes a status.
// Fail writes the error body; WriteErrorHeaders serves doors with another body (GraphQL).
//
//	call ─> Front ─┬─> Guard ─> rest, graph, mcp, invoices
//	               └─> open paths: the reference; behind Anonymous sign-in pages and the identity provider
//	operator ─> Loopback ─┬─> Guard ─> graph
//	                      └─> GraphiQL
//
// Anonymous limits the calls of unrecognised callers by address. It hashes addresses into a fixed number of counters, because
// package ratelimit holds one counter for each key, and an anonymous caller could invent any number of keys.
//
// The package never decides what a caller may do (package op does), and knows no routes. Front and Guard read no body; doors
// read theirs with ReadBody and ReadForm, which limit its size. ReadBody also counts its bytes against the company's limits, and has a
// large body wait for a place of the company (large.go), so that one company's bodies leave half of the processors to others. Costly
// operations of GraphQL wait for the same places (TakeCostly).
//
// Two rooms: console (the web console, whose TypeScript is in web) and tlsfront (TLS and certificates).
package gate

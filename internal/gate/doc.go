// Package gate is what every HTTP call passes before a door answers it: Front gives it an id, refuses plain HTTP, watches
// over panics, measures, and writes the access log; Loopback is Front for the operators' listener, where a call may be plain
// but has to be local; Guard recognises the caller and counts the call against the caller's limits, and lets web applications
// of other origins read the answer.
//
// Who calls it: cmd, which puts Front around all doors and Loopback around the one that operators reach as well, and the
// doors, which put Guard in front of what takes a credential. Fail is the one place where an error becomes an HTTP answer.
//
//	call ─> Front ─┬─> Guard ─> rest, graph
//	               └─> open paths: the reference; behind Anonymous sign-in pages and the identity provider
//	operator ─> Loopback ─┬─> Guard ─> graph
//	                      └─> GraphiQL
//
// Anonymous bounds the calls of callers that have not been recognised, by address. It hashes addresses into a fixed number of
// counters: package ratelimit keeps one for each key, and an anonymous caller could make up any number of keys.
//
// What it never does: decide what a caller may do (that is op's), or know a route. Front and Guard read no body; doors read
// theirs by ReadBody and ReadForm, which bound its size.
package gate

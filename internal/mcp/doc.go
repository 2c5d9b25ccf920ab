// Package mcp is the third door, for agents that speak the Model Context Protocol: POST /mcp, stateless, so that any node answers
// any call. cmd puts it beside the other two.
//
// A tool is a row of a table: the name that GraphQL has for an operation, the operation, and where REST has it. Its arguments
// are the operation's own input, path, query and body in one object; calling it is the call that REST would make, in the
// process and behind the same gate. So there is one set of rules, bodies and refusals, and a tool cannot drift from its operation:
// what the table says of one that does not exist is a fault at start.
//
//	POST /mcp ─> gate (key or token, limits, Agent-Run) ─> SDK ─┬─> tools/list: what role and scopes of the caller have
//	                                                           └─> tools/call ─> rest.Server.Inside ─> op.Run
//
// # Decisions
//
//   - A refusal is our error body as the tool's text, with isError: a model reads it as it reads a result. What is wrong with the
//     protocol itself is an error of JSON-RPC.
//   - A session's cookie is no credential here, so that no page of another origin can call; an API key may come as a bearer token,
//     because most clients have one setting for that.
//   - One message a call. The batches of the protocol's first versions would count as one call against the limits.
//   - One server of the SDK answers all calls; the caller stands in the context of the HTTP request, whose values reach the handlers.
//     A server for each call cost 13 ms, because adding a tool marshals its schema.
//   - The list is a page, and short: descriptions are one sentence, and lists take the filters that an agent needs.
//   - Forms are shown as JSON Schema, which models know.
//   - Tools and nothing else: the methods of other features are not found, where the SDK would answer empty lists. The protocol's own
//     conformance suite runs against the binary (cmd/atrium/clients_test.go), for 2025-11-25 with its handshake and 2026-07-28
//     without; what does not apply is listed beside it with the reason.
//   - Audit entries say via: mcp. Agent-Run and Idempotency-Key are the headers that the other doors take.
//
// # Cost
//
// BenchmarkDoors (internal/apitest/mcp) makes one call by both doors in turns, over TLS; two cores, November 2026, MCP's calls a second over
// REST's: get a request 0.51 on SQLite and 0.80 on PostgreSQL, list twenty of 100 0.45 to 0.54 and 0.71, create one 0.95 and 0.86. What is
// left is the SDK's: each message is decoded nine times, through a buffer of 32 KiB that is new each time, and a result is compacted
// at three levels of its encoding.
package mcp

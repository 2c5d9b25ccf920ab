// Package mcp is the API for agents that speak the Model Context Protocol: POST /mcp. It is stateless, so any node answers any
// call. cmd mounts it beside REST and GraphQL.
//
// A tool is a row of a table (tools.go): the name that GraphQL has for an operation, and the operation. Its arguments are the
// operation's input: path, query and body in one object. A tool call runs the row that REST's table has for the operation, which
// reads the same parameters and renders the same body. So rules, bodies and errors are the same, and a tool cannot drift from its
// operation: New fails for a tool with an argument that its operation does not have.
//
//	POST /mcp ─> gate (key or token, limits, Agent-Run) ─┬─> plain tool call ──────────────────┬─> rest.Server.Inside ─> op.Run
//	                                                     └─> SDK ─┬─> tools/call, if not plain ┘
//	                                                              └─> tools/list: those that the caller's role and scopes allow
//
// # Decisions
//
//   - An error of an operation is our error body as the tool's text, with isError: a model reads it as it reads a result. An
//     error of the protocol itself is an error of JSON-RPC.
//   - A session's cookie is no credential here, so no page of another origin can call. An API key may come as a bearer token,
//     because most clients have one setting for both.
//   - One message per call. A batch of the protocol's first versions would count as one call against the limits.
//   - A plain tool call (plain.go) is answered without the SDK, in the bytes that the SDK would write. The SDK decodes a message
//     nine times, through a new buffer of 32 KiB each time, starts goroutines for a session of one message, and compacts a result
//     at three levels of its encoding, which was half of a read's time. What is faulty, unknown or rare goes to the SDK.
//   - One server of the SDK answers all its calls; the caller is in the context of the HTTP request, whose values reach the handlers.
//     A server for each call cost 13 ms, because adding a tool marshals its schema.
//   - The list of tools is one short page: descriptions are one sentence, and lists take only the filters that an agent needs.
//   - Forms are shown as JSON Schema, which models know.
//   - Only tools: the methods of other features answer method not found, where the SDK would answer empty lists. The protocol's
//     own conformance suite runs against the binary (cmd/atrium/clients_test.go), for 2025-11-25 with its handshake and
//     2026-07-28 without; what does not apply is listed beside it with the reason.
//   - The access log shows the operation of a tool call; it and the metrics show its status in REST: the HTTP status is always 200.
//   - Audit entries say via: mcp. Agent-Run and Idempotency-Key are the headers that the other APIs take.
//
// # Cost
//
// BenchmarkDoors (internal/test/apitest/mcp) makes one call through REST and MCP in turns, over TLS; two busy cores, November 2026,
// the median of three runs, SQLite and PostgreSQL. MCP's calls per second relative to REST's: get a request 0.92 and 0.90, list
// twenty of 100 0.83 and 0.85, create one as many. By the SDK it was 0.47 and 0.52, 0.55 and 0.62, 0.86. The rest is the frame: a
// body to read for every call, and the answer as a text within JSON.
package mcp

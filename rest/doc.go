// Package rest is the REST API for integrations: /v1 over HTTPS with API keys or bearer tokens. cmd/atrium mounts it behind
// gate.Front.
//
// routes.go is the table of the endpoints that take a credential; inbound.go has the one that takes a signature. A row names a
// method, a path, the status of a success, an operation of a domain package, and the function that renders the operation's result:
// rows.generated.go has those of entities, made from ent/schema, and rows.go, task.go, … what a column does not say. route.go runs
// a row, sent.go reads its call, and answer.go writes the answer.
// Package mcp runs the same rows, and those of transitions, without HTTP (Inside). The package decides nothing: package op checks
// rights and runs transactions, package input validates inputs, and package gate maps errors to statuses.
//
// A request passes these steps, each with the status of its refusal: request id → HTTPS (403) → credential (401) → rate limit
// (429) → route (404, 405) → scope (403) → body (413, 415) → input (400) → the operation (403, 404, 409, 412, 422). A call of an
// endpoint in the table has 10 s (gate.MaxCall); then the answer is 503.
//
// openapi.go describes the table as an OpenAPI document. huma derives its schemas from the same structs that requests are decoded
// into and answers are encoded from. components.go holds what rows share, schema.go completes huma's schemas, and example.go
// derives the examples from the tags `example` of the fields. reference.go and its template render the document as the page
// /docs; guides.go makes its guide pages. openapi.json is the committed document: a test compares it, and -update writes it anew.
// huma writes objects in the order of their keys, so the extension x-order holds the order of fields.
package rest

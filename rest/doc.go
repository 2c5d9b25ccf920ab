// Package rest is the door for integrations: /v1 over HTTPS with API keys or bearer tokens. cmd/atrium mounts it behind
// package gate's front.
//
// routes.go is the table of every endpoint. A row names a method, a path, the status of success, an operation of a domain
// package, and the function that turns the operation's result into the answer (one a resource: service.go, team.go, …).
// route.go runs a row, answer.go writes what goes out. Nothing here decides anything: rights
// and transactions are package op's, the rules of inputs package input's, the statuses of errors package gate's.
//
// A request goes through: request id → HTTPS (403) → credential (401) → rate limit (429) → route (404, 405) → scope (403)
// → body (413, 415) → input (400) → the operation (403, 404, 409, 412, 422).
//
// openapi.go describes the table as an OpenAPI document, in huma's types and with huma's schemas of the same structs that
// are read and written; components.go has what rows share, schema.go what huma does not say, example.go the examples,
// which are made of the tags `example` beside the fields. reference.go and its template show that document as the page
// /docs. openapi.json is the document as it is now: a test compares, and -update writes it anew. huma writes objects in
// the order of their keys; the order of fields is told by x-order.
package rest

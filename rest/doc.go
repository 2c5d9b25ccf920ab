// Package rest is the door for integrations: /v1 over HTTPS with API keys or bearer tokens.
//
// routes.go is the table of every endpoint; a row names a method, a path, an operation of a domain package, the status
// of success and the function that turns the operation's result into the answer. Nothing here decides anything: rights,
// validation of inputs and transactions are package op's, and one switch in errors.go turns error codes into statuses.
//
// A request goes through: request id → authentication (401) → rate limit (429) → route (404, 405) → scope (403) → body
// (413, 415) → input (400) → the operation (404, 403, 412, 409).
package rest

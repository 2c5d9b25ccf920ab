// Package inbound lets the outside start workflows: inbound webhooks, the calls that come in at them, and their history.
//
// The operations (webhook.go, secret.go, call.go) are the settings that GraphQL offers to a person. Door (door.go) takes the
// calls, which carry no credential but a signature:
//
//	POST /v1/webhooks/inbound/{id}
//	  │ the body is read (rest), and the webhook looked up by its id, in whatever company
//	  ├── unknown, deleted, disabled ───▶ 404, after the same work as for a signature that is wrong
//	  ├── signature missing or wrong ───▶ 401; the audit log has an entry, and nothing else is kept
//	  ├── more calls than the limit ────▶ 429
//	  ├── no JSON, no active workflow ──▶ 400, 409; the history shows the call as REJECTED
//	  ├── its key was used before ──────▶ the first 202 again; DUPLICATE
//	  └── else ─────────────────────────▶ 202; ACCEPTED
//
// Receive (receive.go) is the operation behind a call whose signature was verified. It runs as a worker with the webhook's id. One
// transaction writes the execution, the job of its first step, the history's row and the audit entry; then the call is answered.
// Nothing that a customer wrote is evaluated before: the execution's first step files the request of the target offering
// (package execution, intake.go), and an incident shows what is wrong with it.
//
// Signatures (signature.go) are HMACs of SHA-256 over the bytes of the body, in one of six styles. Comparing takes the same time
// whatever differs. Where a style signs a moment as well, the call must come within five minutes of it, by the machine's clock:
// the product's may run ahead in development. Two secrets verify while a rotation overlaps. A secret is drawn here, or
// given where the sender chooses it, and sealed under the master key for its row.
//
// A call may carry a key: what the sender signs as the event's id, or the headers webhook-id and Idempotency-Key. The execution
// keeps it for good, and webhook and key are unique together. So a repetition starts nothing twice, on whatever node and
// however late it comes, and no keys have to be swept.
//
// The history (sweep.go) keeps the newest 1,000 calls of a webhook, for 30 days at most, with the first 16 KiB of the body. The
// execution holds the whole body, from which a call can be sent again.
//
// What proves who somebody is (signatures, authorization, cookies, tokens) is never kept. The package decides neither who may
// change settings (op does) nor what a workflow does (execution).
package inbound

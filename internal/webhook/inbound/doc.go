// Package inbound lets external systems start workflows: inbound webhooks, the calls that they receive, and the history of the
// calls.
//
// The operations (webhook.go, secret.go, call.go) are the settings that GraphQL offers to a person. Package rest passes the calls
// to Door (door.go). They carry no credential but a signature:
//
//	POST /v1/webhooks/inbound/{id}
//	  │ the body is read (rest), and the webhook looked up by its id, in any company
//	  ├── more than 1 MiB ──────────────▶ 413; the history shows some of those calls as REJECTED
//	  ├── unknown, deleted, disabled ───▶ 404, after the same work as for a wrong signature
//	  ├── signature missing or wrong ───▶ 401; the audit log has an entry, and nothing else is stored
//	  ├── more calls than the limit ────▶ 429
//	  ├── no JSON, no active workflow ──▶ 400, 415, 409; the history shows the call as REJECTED
//	  ├── its key was used before ──────▶ the first 202 again; DUPLICATE
//	  ├── a ping, or the condition not met ▶ 202, or what the sender expects; IGNORED
//	  └── else ─────────────────────────▶ 202; ACCEPTED
//
// Receive (receive.go) is the operation of a call whose signature was verified. It runs as a worker with the webhook's id. One
// transaction writes the execution, the job of its first step, the history's row and the audit entry; then the call is answered.
// Of what customers wrote, only the webhook's condition is evaluated before that, outside of transactions and within bounds (judge.go). A
// call that it does not let through, or on which it cannot be evaluated, starts nothing and has no audit entry; so do pings (greeting.go).
// The execution's first step files the request of the target offering
// (package execution, intake.go); a fault in it becomes an incident.
//
// Signatures (signature.go) are HMACs with SHA-256 over the bytes of the body, in one of seven styles, compared in constant time. Two
// styles show the secret itself, in a header. The settings of a webhook (settings.go) say in which header, and how it is written. Messages
// of Amazon SNS (sns.go) have certificates, which are fetched through the egress guard, from SNS alone, and kept; as SNS signs for all of
// its customers, a webhook takes the messages of one topic.
// Where a style also signs a time, it must be within five minutes of the machine's clock; the product's clock may run ahead in
// development. Two secrets verify while a rotation overlaps. A secret is generated here, or given where the sender chooses it,
// and sealed under the master key for its row.
//
// A call may carry an idempotency key: the event's id as the sender signs it, or the header webhook-id or Idempotency-Key. The
// execution stores it permanently, and webhook and key are unique together. So a repeated call starts nothing twice, on any node
// and however late it comes, and no keys have to be swept.
//
// The history (sweep.go) keeps the newest 1,000 calls of a webhook, for 30 days at most, with the first 16 KiB of the body. The
// execution holds the whole body, from which a call can be sent again. Of an ignored call, which has no execution, 64 KiB are kept.
//
// Package preset has what webhooks of well-known senders are made with (presets.go).
//
// A call may hold credentials in headers that no list knows, which a proxy or the sender adds. So only the headers that the webhook
// lists are stored (header.go), or the usual ones of events, and never those known as credentials. The package decides neither who
// may change settings (op does) nor what a workflow does (execution).
package inbound

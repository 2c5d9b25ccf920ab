// Package request is the life of a request: filed against an offering, accepted, completed or cancelled.
//
//	            accept                complete
//	PENDING ─────────────▶ IN_PROGRESS ─────────▶ COMPLETED
//	   │                        │
//	   └──────── cancel ────────┴───────────────▶ CANCELLED
//
// create.go files a request, update.go edits it, move.go files a pending one against another offering, transition.go changes its
// status along the arrows, list.go finds requests. comment.go holds
// comments, mention.go notifies the people whom a comment mentions, waiting.go records that a request waits for its requester,
// event.go writes the events for subscribers. COMPLETED and CANCELLED are final. Each arrow writes one event and one audit entry in
// the transaction that changes the row. The package never delivers events and never runs workflows.
//
// # Service levels
//
// The service levels of an offering bind its requests (clock.go; package sla has the rules). The log of a request's clock consists
// of the moments in the request's row (createdAt, acceptedAt and so on, each set once) and of the lines in sla_events: the clock's
// pauses, and the warnings, breaches and escalations that it has fired. sla_events is a table of its own because audit entries are
// erased and hidden by policies, while a clock must always come out the same. Filing a request writes no line.
//
// settle brings a clock up to a moment, in the transaction that has locked the row. Whatever has fallen due gets an event, an audit
// entry and a line, whose unique key keeps it from happening twice; escalate.go then acts through operations, as the product's own
// worker. Every change that may move a clock (status, priority, waiting) settles it before the change, so that nothing is lost
// which fell due when no sweep ran, and settles it again afterwards. When an offering or a calendar changes, a job settles its open
// requests in batches.
//
// sweep.go finds what falls due through one indexed column, sla_next_at, for all companies together. One job runs every five
// seconds and snoozes until the moments in between; each clock whose next moment comes sooner inserts another job. One scheduled
// job for each request was refused: each filing and each change would write one row more, River looks at scheduled jobs only every
// five seconds, and 100,000 of them would stand in its table. A sweep that finds nothing among 100,000 open requests takes 0.08 ms
// on SQLite and 0.33 ms on PostgreSQL (2026-11, two cores), every five seconds.
//
// notice.go notifies people, after it has asked the policies whether they may read the request.
//
// A read of one request uses ent's Load, a prepared statement, instead of Query, which builds its statement each time. Load takes
// 76 µs of CPU instead of 97 on SQLite, and 84 instead of 98 on PostgreSQL, where a bare server takes 62 and 72 (the bench's get,
// the whole HTTP request included; 2026-11, two cores). Without it a get falls below 0.8 of the bare server's rate. Lists would
// gain nothing.
package request

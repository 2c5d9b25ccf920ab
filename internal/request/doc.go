// Package request is the life of a request: filed against an offering, accepted, completed or cancelled.
//
//	            accept                complete
//	PENDING ─────────────▶ IN_PROGRESS ─────────▶ COMPLETED
//	   │                        │
//	   └──────── cancel ────────┴───────────────▶ CANCELLED
//
// create.go files one, update.go edits it, transition.go moves it along the arrows, list.go finds them, comment.go holds what
// is said about them, mention.go who is told of that, waiting.go for whom it waits, event.go says what subscribers are told. COMPLETED and CANCELLED are
// final. Each arrow writes one event and one audit entry in the transaction that changes the row. The package never delivers
// events and never runs workflows.
//
// # Service levels
//
// What an offering promises binds its requests (clock.go; the rules are package sla's). The log of a request's clock is what the
// row tells (createdAt, acceptedAt and so on, each set once) and the lines of sla_events: its pauses, and what it has set off. A
// table of its own, because audit entries are erased and hidden by policies, and a clock must come out the same all the same.
// Filing writes none.
//
// settle brings a clock up to a moment, in the transaction that has locked the row: what has fallen due becomes an event, an audit
// entry and a line, whose unique key keeps it from happening twice; escalate.go acts by operations, on the product's own account.
// Whatever may move a clock (status, priority, waiting) settles it before, so that nothing that fell due is lost when no sweep came
// by, and after. An offering or a calendar that changes has its open requests settled by a job, in batches.
//
// sweep.go finds what falls due by one indexed column, sla_next_at, for all companies together: one job every five seconds, which
// snoozes to the moments in between, and one inserted with each clock that comes to something before the next. One scheduled job
// for each request was refused: it is a row more to write with each filing and each change, River looks at scheduled jobs every
// five seconds only, and 100,000 of them would stand in its table. A sweep that finds nothing at 100,000 open requests takes 0.08 ms
// on SQLite and 0.33 ms on PostgreSQL (2026-11, two cores), every five seconds.
//
// notice.go mails people, after asking the policies whether they may read the request.
//
// A read of one request goes by ent's Load, a statement that is ready, and not by Query, which builds it anew: 76 µs of
// CPU in place of 97 on SQLite, and 84 in place of 98 on PostgreSQL, beside a floor of 62 and 72 (the bench's get, all of
// a request included; 2026-11, two cores). Without it a get falls below 0.8 of the floor. Lists would not gain.
package request

// Package timer keeps the clocks of requests and tasks: it stores what package sla derives, and acts when something falls due.
//
//	a change, or the sweep ──▶ Advance ──▶ Derive ──▶ what has fallen due? ──▶ a line in sla_events, then Fire
//	                                          ▲                       │ nothing (more)          │
//	                                          └───────────────────────┼─────────────────────────┘
//	                                                                  ▼
//	                                                      the row's columns, sla_next_at among them
//
// Packages request and execution say what is theirs as Rows and as a Kind: which moments of a row are its log, what an escalation
// does, who is told. Everything else is here.
//
// # The log
//
// The log of a clock consists of the moments in its row (createdAt, acceptedAt and so on) and of the lines in sla_events: the pauses, and
// the warnings, breaches and escalations that it has fired (log.go). A request that is opened again loses its completedAt, and the time
// for which it was complete becomes a pause. sla_events is a table of its own because audit
// entries are erased and hidden by policies, while a clock must always come out the same. Filing a request writes no line. A task has
// the pauses of its request.
//
// Advance brings a clock up to a moment, in the transaction that has locked the row. Whatever has fallen due gets a line, whose
// unique key keeps it from happening twice, and is fired. It fires one after the other, because an escalation changes the row and so
// what falls due next. Every change that may move a clock (status, priority, waiting) advances it before the change, so that nothing is
// lost which fell due when no sweep ran, and again afterwards. When an offering or a calendar changes, a job derives its clocks anew
// (rederive.go): it reads outside of transactions, and locks only rows whose clock has moved.
//
// What the product does by itself, the sweep and this job, it writes in turns of 2 ms (turns.go), between two firings of one row if need
// be, because on SQLite all companies wait for one writer. Beside a change of levels with 20 escalations, 600 open requests and a calendar
// of a minute a week, the p99 of a neighbour's creates is 9 ms and 6 ms without (BenchmarkBesideChangedServiceLevels); it was 1.4 to 4.5 s.
//
// # The sweep
//
// The sweep finds what falls due through one indexed column, sla_next_at, for all companies together. One job runs every five
// seconds and snoozes until the moments in between; each clock whose next moment comes sooner inserts another job. One scheduled
// job for each request was refused: each filing and each change would write one row more, River looks at scheduled jobs only every
// five seconds, and 100,000 of them would stand in its table. A sweep that finds nothing among 100,000 open requests takes 0.08 ms
// on SQLite and 0.33 ms on PostgreSQL (2026-11, two cores), every five seconds.
//
// A sweep takes companies in turn (pass.go): of each a hundred rows, in the order of their moments, before it looks again at all. Beside a
// company at which 100,000 requests have fallen due at once, another company's is told 0.4 s late on SQLite and 1 s on PostgreSQL; it would
// wait for all of them, a quarter of an hour (BenchmarkBesideMuchThatIsDue, 2026-12, two busy cores). A job for each company was refused:
// each due moment would write one row more.
//
// The package is a room of its own because ent/schema imports sla, which therefore imports nothing of the product.
package timer

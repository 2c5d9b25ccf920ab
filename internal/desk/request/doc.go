// Package request is the life of a request: filed against an offering, accepted, completed or cancelled.
//
//	            accept                complete
//	PENDING ─────────────▶ IN_PROGRESS ─────────▶ COMPLETED
//	   │                        │ ▲                   │
//	   │                        │ └───── reopen ──────┘
//	   └──────── cancel ────────┴───────────────▶ CANCELLED
//
// create.go files a request, update.go edits it, move.go files a pending one against another offering, transition.go changes its
// status along the arrows, bulk.go does what these do to several at once, list.go finds requests, export.go reads them for a table,
// report.go says what they come to.
// people.go names who takes part in one, for whoever reads it. comment.go holds comments, mention.go notifies the people whom a
// comment mentions, watch.go has people watch a request, link.go links two and merge.go closes one as a duplicate, rate.go keeps how
// content the requester is, content.go reads Markdown, waiting.go records that a request waits for its requester, event.go writes the
// events for subscribers. reopen.go opens a completed request again, followup.go files another where that is long ago; CANCELLED is final.
// Each arrow writes one event and one audit entry in the transaction that changes the row. The package never delivers events and never
// runs workflows.
//
// # Service levels
//
// The service levels of an offering bind its requests. Package sla has the rules, sla/timer the clocks, their log and their sweep. Here
// stands what is a request's own: clock.go (which of its moments and which service levels count), sweep.go (how requests are found),
// escalate.go (what an escalation does, through operations, as the product's own worker).
//
// # Reports
//
// A report (report.go, tally.go, figures.go) keeps no sums. Its rows are streamed as columns (reportread.go), so that filters, roles and
// access policies hold as in the list, and counted in Go, so that both databases agree on days, zones and percentiles. Sums by day,
// team and so on would hold for nobody whose policies hide a row, and hardly be fewer than the requests. What was filed in the time is
// read by the index of the list, what ended in it by an index for each way to end: without these, a month of 120,000 requests took
// SQLite a pass of 58 ms over all of them instead of 14. With the time before it, of 200,000 requests in two years a month takes 129 ms
// on SQLite and 88 on PostgreSQL, the year 1.5 s and 0.7 (two cores that were busy with other work, 2026-11; BenchmarkScale). A
// report that takes more than three seconds is refused.
//
// notice.go notifies people, after it has asked the policies whether they may read the request.
//
// A read of one request uses ent's Load, a prepared statement, instead of Query, which builds its statement each time. Load takes
// 76 µs of CPU instead of 97 on SQLite, and 84 instead of 98 on PostgreSQL, where a bare server takes 62 and 72 (the bench's get,
// the whole HTTP request included; 2026-11, two cores). Without it a get falls below 0.8 of the bare server's rate. Lists would
// gain nothing.
package request

// Package request is the life of a request: filed against an offering, accepted, completed or cancelled.
//
//	            accept                complete
//	PENDING ─────────────▶ IN_PROGRESS ─────────▶ COMPLETED
//	   │                        │
//	   └──────── cancel ────────┴───────────────▶ CANCELLED
//
// create.go files one, update.go edits it, transition.go moves it along the arrows, list.go finds them, comment.go holds what
// is said about them, mention.go who is told of that, event.go says what subscribers are told. COMPLETED and CANCELLED are
// final. Each arrow writes one event and one audit entry in the transaction that changes the row. The package never delivers
// events and never runs workflows.
//
// A read of one request goes by ent's Load, a statement that is ready, and not by Query, which builds it anew: 76 µs of
// CPU in place of 97 on SQLite, and 84 in place of 98 on PostgreSQL, beside a floor of 62 and 72 (the bench's get, all of
// a request included; 2026-11, two cores). Without it a get falls below 0.8 of the floor. Lists would not gain.
package request

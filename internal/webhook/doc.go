// Package webhook tells the outside what happened: subscriptions, deliveries of events to them, and their history.
//
// The operations (subscription.go, secret.go, delivery.go, replay.go, trial.go) are the settings that both doors offer
// to a person. What is emitted becomes deliveries in package outbox, in the event's own transaction; here the jobs of
// that transaction are worked:
//
//	                       2xx
//	PENDING ── attempt ───────────────────────────────▶ SUCCESS
//	   ▲          │  410, or the subscription is disabled
//	   │          ├───────────────────────────────────▶ FAILED ── replay ──▶ PENDING
//	   │          │  anything else                         ▲
//	   │          ├── after the last retry ────────────────┘
//	   └── wait ──┘  before that: 30 s, 2 m, 10 m, 1 h, 6 h, or longer where the receiver asks for it
//
// One attempt is one job (worker.go): admitted when its subscription has a place free (lane.go), loaded together with
// others (load.go), sent through the egress guard with a signature made at that moment (send.go, sign.go), and recorded
// together with others, which also inserts the job of the next attempt and removes its own (record.go). No transaction
// is open while a receiver is being called. A node that dies leaves jobs behind that others take over, and the attempts
// that nobody knows the end of are in the history as interrupted: every event of a committed change is delivered at
// least once, under one webhook-id whatever is repeated.
//
// The history is kept for thirty days (sweep.go). On PostgreSQL it lies in a partition a week (weeks.go), because dropping
// one costs milliseconds where deleting its rows costs minutes and leaves their space behind; a page of it reads the index
// of each partition, of which there are eight or so. Events stay one table: foreign keys lead to them, and a week of them is
// a fraction of its deliveries.
//
// The package decides neither what happened (the domain does) nor which addresses may be called (egress).
package webhook

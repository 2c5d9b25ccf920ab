// Package webhook tells the outside what happened: subscriptions, deliveries of events to them, and their history.
//
// The operations (subscription.go, secret.go, delivery.go, replay.go, trial.go) are the settings that both doors offer to a
// person. Deliver (deliver.go) subscribes to events: in the transaction of an event it makes a delivery for each subscription
// that asks for it, with the job of its first attempt.
//
//	                       2xx
//	PENDING ── attempt ───────────────────────────────▶ SUCCESS
//	   ▲          │  410, or the subscription is disabled
//	   │          ├───────────────────────────────────▶ FAILED ── replay ──▶ PENDING
//	   │          │  anything else                         ▲
//	   │          ├── after the last retry ────────────────┘
//	   └── wait ──┘  before that: 30 s, 2 m, 10 m, 1 h, 6 h, or longer where the receiver asks for it
//
// One attempt is one job (attempt.go). It takes one of the receiver's places (limit.go), looks at the delivery first, calls the
// receiver through the egress guard with a signature made at that moment (send.go, sign.go), and writes the attempt, the job of
// the next one and what follows for the subscription in one short transaction (record.go, judge.go). No transaction is open
// while a receiver is being called.
//
// A job that is worked twice finds that its attempt was made: it names the number of the attempt, and the delivery tells how
// many there were. So River ends the jobs, many at once, and none has to be completed in the transaction. A node that dies
// leaves jobs that others take over, and the attempts whose end nobody knows are in the history as interrupted: every event of
// a committed change is delivered at least once, under one webhook-id whatever is repeated.
//
// # Waiting
//
// A retry is a scheduled job. A receiver has 16 attempts under way on a node at most. A job that finds the places taken waits in
// its slot where the receiver's answers let expect that one is free within five seconds, because a snooze costs two statements;
// otherwise it snoozes, for longer the more snooze before it, and a minute at most. A receiver that does not answer gets two
// places once half of the node's slots are busy.
//
// Figures (bench_test.go, 2026-11, two cores under a load of ten from others' builds: lower bounds, and in brackets what lanes and
// batches did in the same hour): deliveries a second to one receiver 577 on SQLite (123 to 851), 436 on PostgreSQL (156 to 397);
// from commit to first attempt p50 18 ms (3), as SQLite waits for River's poll every 50 ms, and 2 ms (2); the others' p99 while
// 100 of 1,000 receivers hang 1.0 times that of a calm minute on SQLite, and 2.2 on PostgreSQL, where one round of three was far slower.
//
// # The history
//
// It is kept for thirty days (sweep.go). On PostgreSQL it lies in a partition a week (weeks.go), because dropping one costs
// milliseconds where deleting its rows costs minutes and leaves their space behind; a page of it reads the index of each
// partition, of which there are eight or so. Events stay one table: foreign keys lead to them, and a week of them is a fraction
// of its deliveries.
//
// The package decides neither what happened (the domain does) nor which addresses may be called (egress).
package webhook

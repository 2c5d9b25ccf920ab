// Package webhook tells the outside what happened: subscriptions, deliveries of events to them, and their history.
//
// Three rooms: inbound (webhooks that start workflows), preset (the senders that call them) and signing (the secrets that sign both).
//
// The operations (subscription.go, secret.go, delivery.go, replay.go, trial.go) are the settings that GraphQL offers to a
// person. Deliver (deliver.go) subscribes to events: in the transaction of an event it makes a delivery for each subscription
// that asks for it, with the job of its first attempt.
//
//	                       2xx
//	PENDING ── attempt ───────────────────────────────▶ SUCCESS
//	   ▲          │  410, or the subscription is disabled, or may not read what the event is about
//	   │          ├───────────────────────────────────▶ FAILED ── replay ──▶ PENDING
//	   │          │  anything else                         ▲
//	   │          ├── after the last retry ────────────────┘
//	   └── wait ──┘  before that: 30 s, 2 m, 10 m, 1 h, 6 h, or longer where the receiver asks for it (schedule.go)
//
// One attempt is one job (attempt.go). It waits until the receiver has fewer than 16 attempts under way (limit.go), reads the
// delivery, and calls the receiver through the egress guard with a signature made at that moment (send.go, package signing). Then
// it writes the attempt, the job of the retry (schedule.go says whether and when there is one) and what follows for the
// subscription in one short transaction (record.go, outcome.go). No transaction is open while a receiver is being called.
//
// A job names the number of its attempt, and the delivery holds the attempts that were made. So a job that is worked a second
// time finds its attempt made and does nothing, River may end many jobs in one statement, and no job has to be completed in the
// transaction of its attempt. When a node dies, other nodes take its jobs over, and the history shows as interrupted each
// attempt whose end was not recorded. Every event of a committed change is delivered at least once, and repetitions carry the
// same webhook-id.
//
// A subscription that answers 410, or that has failed for five days without a single success, is disabled, and the owners get a
// mail (outcome.go).
//
// # Order
//
// Each event has a number of its subject's, from 1 without gaps: a trigger takes it from the table sequences when the event is written
// (*_event_sequences_guards.sql), which costs no round trip, and keeps the counter locked until the commit, so that events of one
// subject commit in the order of their numbers. All events count, subscribed or not. The payload shows it as sequence.
//
// Deliveries of one subject's events to one subscription go out in this order until one fails (order.go). A job whose delivery has
// number 1 or was attempted before does not ask. Any other looks at the delivery before it, with one query. While that one waits for
// its first attempt or is on it, the job gives its place back and waits until the other's job ends; if another node has that, it looks
// again and again. The first 64 in line keep their worker, for ten seconds at most; the others snooze. So nothing but the rows says who
// waits: a node that dies leaves nothing to mend, and a node of the last release, which does not ask, holds up nobody. Refused: a job
// for the next delivery only when the one before has ended. It needs no looking, but a link between the rows that every way to end an
// attempt must follow, on nodes of the last release too, and whatever misses it stalls the resource for good. An attempt that is
// interrupted by a stop has not ended.
//
// # Concurrency limit per receiver
//
// A retry is a scheduled job. A receiver has at most 16 attempts under way on a node. The node keeps for each receiver the
// average duration of an attempt, and computes from it when the next attempt can begin. A job that finds 16 attempts under way
// keeps its worker and waits if that is within five seconds, because a snooze costs two statements. Otherwise it snoozes: each
// job longer than the one before it, and at most a minute. Once attempts hold half of the node's 2,048 workers, a receiver that
// does not answer within five seconds gets two attempts at a time. A company has a quarter of the workers, whichever of
// its 50 receivers they are for.
//
// Figures (bench_test.go, 2026-11, two cores under a load of ten from other processes on the machine, so lower bounds): 577
// deliveries a second to one receiver on SQLite and 436 on PostgreSQL; from the commit to the first attempt p50 2 ms on
// PostgreSQL. While 100 of 1,000 receivers hang, the p99 of the others is 1.0 times that of a calm minute on SQLite and 2.2 times
// on PostgreSQL.
//
// # The history
//
// Deliveries are kept for thirty days (sweep.go). On PostgreSQL each week is a partition (partitions.go): dropping one takes
// milliseconds, whereas deleting its rows takes minutes and does not give their space back. A page of the history reads the
// index of each partition, of which there are about eight. Events are not partitioned: foreign keys refer to them, and a week
// has far fewer events than deliveries.
//
// # What is sent
//
// A subscription is a principal (type webhook, role admin), and is told of no row that access policies hide from it. It is asked
// when an event happens, and again before each attempt: policies and rows may have changed. Where policies do not look at
// rows or callers, neither costs a query (op.Engine.EventVisibleNow).
//
// The package decides neither what happened (the domain does) nor which addresses may be called (egress).
package webhook

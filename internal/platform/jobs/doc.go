// Package jobs is the queue of background work: River on the store's own database. A job is inserted in the transaction that
// makes it necessary, and several nodes on one PostgreSQL share the work.
//
//	InsertTx ─▶ available ─▶ running ─▶ completed          a job that returned nil, or was completed in its own transaction
//	   │           ▲            ├──▶ scheduled, retryable  it snoozed, or failed: River makes it available when it is due
//	   └─▶ scheduled            └──▶ (its node dies)       the reaper makes it available for another node
//
// The package uses River through its public API. Domain packages pass their workers, intervals and sweeps as Options; cmd gives
// all of them to each node that works jobs. The package knows no domain. Of the product's rows it deletes only what a registered
// sweep deletes (sweep.go). Of River's rows it updates the jobs of dead nodes and the times of waiting jobs (tables.go).
//
// New with work set to false returns a queue that only inserts: every process has one; it holds no connection and accepts any
// kind. With work set to true the queue also fetches jobs and performs them.
//
// Times in this package's API are the product's time. River uses the machine's clock, so when a development clock moves forward,
// the times of the waiting jobs are moved too (clock.go).
//
// All jobs of a transaction are inserted by one statement at its end: a create with a workflow, a webhook and an agent made three inserts
// and three notifications, each a round trip on PostgreSQL.
//
// A job is worked more than once when its node dies in the middle. So a worker either checks the rows first, or completes its job
// in the transaction of its work.
//
// # Times and limits
//
// A process that works jobs says itself when its own are due (wake.go): those of a transaction after its commit, those that are put off
// when their time has come. On PostgreSQL it announces them to all nodes, outside of the transactions: a commit that notifies waits for all
// others that do. Transactions of other processes announce their jobs by themselves. A poll every 15 s finds what a node that was killed
// had yet to announce. An attempt has a minute, unless its worker sets another limit; then
// its context ends. A job whose worker goes on nevertheless is not tried again beside it, as long as its node lives (working.go). One
// that no node works is tried again 90 s after the limit: it ended, and that could not be recorded. A periodic job that comes at least hourly has one attempt,
// because the next one is its retry. Completed jobs are kept for a minute. Sweeps run every ten
// minutes, and delete at most 1,000 rows in a transaction. On SQLite a job looks every hour whether tables have grown so
// much that they need new statistics (store.Analyze).
//
// # Companies
//
// A queue whose jobs may wait for what their company chooses is shared (shared.go): a company takes only some of its workers, and a job beyond
// that is put off until those of the company before it have been worked. While a company whose turn of costly work was taken had 200 notices to
// give, another's took 20 s, and takes 0.2 s (2026-12, two busy cores). The default queue is shared, too. A job that snoozes is a write, so
// the wait is what the jobs before it take, as far as that is known, and at most a minute.
//
// # Where River has no API
//
// tables.go holds all SQL on River's tables, and a test forbids it anywhere else. reaper.go makes the jobs of killed nodes available
// within seconds: on PostgreSQL a node looks every 2 s, and takes the jobs of a node that has been without its lock for 5 s, so a
// delivery is repeated 8 s after its node died (BenchmarkFailover, 2026-11, two cores);
// on SQLite a process looks only when it starts. River's rescuer can only judge by how long a job has been running, and webhook
// deliveries would stall for a minute and a half. wake.go wraps the listener of River's driver for SQLite, which looks for notifications
// every 50 ms, while each queue is polled: an idle server took 4.9 % of a core so, and takes 1.6 %; a delivery's
// first attempt came after 16 to 23 ms (p50), and comes after 8 (2026-11, two busy cores, in turn). working.go keeps jobs that a
// node still works from the rescuer. clock.go moves the times of jobs, for --dev-clock. move.go reads a company's unfinished jobs in the
// snapshot of its export.
package jobs

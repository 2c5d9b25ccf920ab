// Package jobs is the queue of work that outlives a call: River on the store's own database, so that a job is inserted in the
// transaction that makes it necessary, and several nodes on one PostgreSQL share the work.
//
//	InsertTx ─▶ available ─▶ running ─▶ completed          a job that returned nil, or was completed in its own transaction
//	   │           ▲            ├──▶ scheduled, retryable  it snoozed, or failed: River makes it available when it is due
//	   └─▶ scheduled            └──▶ (its node dies)       the reaper makes it available for another node
//
// The package uses River by its public API. Packages of the domain bring their workers, intervals and sweeps as Options; cmd
// gives all of them to each node that works jobs. The package knows no domain. Of the product's rows it deletes those that a
// registered sweep names (sweep.go); of River's it updates those of dead nodes and those that wait (reaper.go, clock.go).
//
// New without work returns a queue that inserts: every process has one, it holds no connection, and it knows no kinds. With
// work it fetches jobs and performs them as well.
//
// Times are the product's at the doors of this package. River counts by the machine's clock, so a development clock that
// moves forward moves the times of the jobs that wait (clock.go).
//
// A job is worked more than once when its node dies in the middle. Workers look at the rows first, or complete their job in
// the transaction of what they do.
//
// # Where River has no API
//
// Two files hold SQL on River's tables, and a test refuses it anywhere else. reaper.go gives away the jobs of nodes that were
// killed within seconds; River's rescuer can only tell by how long a job has been running, and deliveries of webhooks would
// stand still for a minute and a half. clock.go moves the times of jobs, for --dev-clock.
package jobs

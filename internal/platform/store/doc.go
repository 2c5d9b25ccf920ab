// Package store keeps the product's rows: SQLite by default, PostgreSQL 15+ in production, with the same behaviour on both.
//
// internal/op calls it for every operation. Packages that work without one (authn, identity, webhook, jobs, transfer) call it as a
// worker of a company (principal.Worker), or as the installation (principal.System). It never decides who may see what. The tenancy guard is in ent/schema, and on PostgreSQL in row-level
// security as well; the drivers here pass the caller's company to row-level security.
//
// Reads go through Reader, writes through Write, which runs one function in one transaction:
//
//	SQLite      Write → queue → the one writer: BEGIN IMMEDIATE, a savepoint per waiting function, COMMIT once,
//	            then every caller gets its answer (group commit); between groups the jobs' connection may write
//	PostgreSQL  Write → a pool connection; statements without a result are sent with the next one that has a
//	            result, so BEGIN, set_config and the first query are one round trip, and so are the last inserts
//	            and COMMIT
//
// At most 4,096 callers wait for SQLite's writer; more get ErrBusy. A group takes at most 128 functions, and none after 5 ms. On
// PostgreSQL a transaction is tried at most 4 times when it meets a deadlock or a serialization failure, and each try has 30 s for
// all of its statements.
//
// On PostgreSQL the reader is an Ent driver directly on pgx. It binds each of its connections to a company with the setting that
// row-level security reads; when the company changes, it sends the setting with the next query in one round trip (postgres.go).
// This way row-level security makes each read 10–20 % slower; with BEGIN, set_config, query and COMMIT it is 45–55 %.
//
// SQLite's log is copied into the file after 1,000 pages, which is its default: with 10,000 the bench's creates were no faster.
//
// # Authority and a server that is silent
//
// Authority is what decides about callers: keys, roles, plans, OAuth clients, policies. Triggers announce its changes. Each
// process's watch (watch.go) hears those of others within Propagation (250 ms), because it asks the database every 80 ms while anybody
// wants to know. Values in an AuthorityCache count only while it does.
//
// A PostgreSQL that does not answer gives no error. The watch asks on its own connection many times a second whether authority
// has changed. When the server has answered nothing for five seconds, all waiting calls fail, and new ones are refused until it
// answers again (heartbeat.go). So statements need no deadline to detect a lost server: a statement that takes long while the
// server answers others is merely slow.
//
// # Replica for reads (replica.go)
//
// Read answers lists from a streaming replica if there is one, with the same guarantee as
// Reader: a read sees everything that was committed before it began, by any node or worker. It asks the primary for its log
// position (LSN). Then it sends the replica, in one round trip, a statement that waits at most 50 ms until the replica has
// replayed that position, followed by the read's statement. Reads that begin while a position query is running share the next
// one. A replica that is behind or down is not used until a check, four times a second, finds that it keeps up; reads that fail
// on it are answered by the primary: the fn of Read runs again. Positions of another timeline (after a failover that the replica
// has not followed, which may last until its next restartpoint) or of another cluster are not accepted, nor is a server that is
// no longer a replica. Only op.Run uses it, and only for reads that are not about one row: the position query costs the primary
// about as much as reading that row. It never serves authority (authn, policies, rights, AuthorityCache), reads inside or for writes,
// or jobs.
//
// Refused alternatives. Remembering the position of each company's last commit, in a node's memory or as a token that callers
// send back: the memory misses other nodes' writes, and a caller who learns of a change by a webhook, a stream or another person
// has no token and gets not found. Bounding the lag in seconds has the same fault. synchronous_commit = remote_apply gives the
// same guarantee, but no write completes while the replica is down. Limits: nothing works without the primary, and the replica
// gives no relief while it cannot keep up with all writes within 50 ms. Nothing was added to writes, so they pay nothing.
//
// Figures (BenchmarkReplica, 2026-11, both servers on two cores under a load of 25 from other processes on the machine). CPU time
// of the primary per read, without and with the replica: with 16 callers, who share position queries, 2.9 and 0.11 ms for a page
// of 5,000 rows that are not analyzed yet, 1.4 and 0.05 ms for a search through them; with one caller 3.8 and 0.28 ms, 1.6 and
// 0.16 ms. Elapsed time per read with 16 callers: 3.0 and 3.3 ms a page, 1.5 and 1.9 ms a search. The cost for a single row was
// calculated, not measured.
//
// # Counters
//
// Triggers count the requests and audit entries of each company, by status, priority and service, so that a list's
// exact total needs no scan (table row_counts, paging.Counter). Without them, counting 900,000 requests of one company by an
// index takes 62 ms on SQLite and 212 ms on PostgreSQL 15, and the 400,000 with one status 34 and 90 ms; summing a counter takes
// less than 0.1 ms (2026-11, two cores). On PostgreSQL a counter has 16 rows, so that the inserts of one company do not wait for
// each other.
//
// # Locks
//
// On PostgreSQL a row is locked FOR NO KEY UPDATE. With Ent's FOR UPDATE the insert of a task waited for whoever held its
// request, and the two waited for each other at the company's counters: 15 to 30 deadlocks of a second each in 20 s of requests with a
// workflow and an agent from four callers, and none since (cmd/atrium, TestRollingUpgrade, 2026-11, two cores).
//
// # Migrations
//
// Embedded SQL files are applied under a lock that other processes wait for: to a new database and on SQLite all in
// one transaction, to a PostgreSQL database in use each statement in its own, with the progress in schema_migrations_begun. In one
// transaction a migration that locks companies and then agents failed in each of a hundred tries beside nodes whose agents
// work, because those lock them the other way round. On SQLite foreign keys are off meanwhile (for rebuilds of tables) and all of
// them are checked before the commit. schema_migrations holds each file's checksum: a changed file and a newer database are
// refused. Alternatives to this code, as of 2026-11: goose v3.29.0 lacks both checks, a lock for SQLite and the
// adoption of the table that existing databases have, and commits each file on its own, so all of this would be our code around
// it; Atlas's executor leaves the table of revisions to its caller, too. migrategen writes the files; triggers and moves of data
// are written by hand, in files of their own.
//
// A constraint violation may be reported by a later statement than the one that violates it. Write (at the end of the
// transaction), Tx.Flush (for the statements so far) and op.RunIn (for a nested operation) turn it into *Violation.
//
// # Long documents
//
// While a function of Write runs on SQLite, all companies wait. So nothing is encoded, checked, masked or compared there that may be
// long: who writes a document encodes it before, and a column of json.RawMessage is saved and loaded as the bytes that it holds
// (raw in ent/schema). Ent's own columns of JSON write it anew when they save and check it when they load, 10 to 20 ms for each mebibyte
// each time. With that and steps that encoded inside, the writer was held for 132 to 421 ms by a step over a call of 1 MiB, of which SQL
// was 7 to 24; now it is for 12 ms, and the commit comes on top. Long values are not written in pieces between others' turns, because
// SQL took the smallest part.
//
// # Figures
//
// Measured with bench_test.go (2026-11, two cores under a load of ten from other processes on the machine, paired in one run).
// Group commit: SQLite makes 760 to 1,000 writes a second for one caller, who waits for each commit, and 17,000 to 22,000 for 64
// concurrent callers. They take turns by company (sqlite_queue.go): beside four callers of another company who write comments of
// 10 KB a create takes 13 to 15 ms instead of 18 to 20 (p50, paired, alone 3). The pipeline: a transaction of three inserts takes
// 128 to 283 µs on PostgreSQL over loopback, and 292 to 615 µs statement by statement, 1.7 to 2.4 times as long. Prepared
// statements (stmtcache.go): SQLite reads a row in 44 to 55 µs, and in 90 to 160 µs if it parses the query each time; for a page
// of rows they save little.
package store

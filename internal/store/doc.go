// Package store keeps the product's rows: SQLite by default, PostgreSQL 15+ in production, one behaviour on both.
//
// Who calls it: internal/op, for every operation; cmd, for opening and migrating; internal/authn, for reading
// credentials as the system principal. What it never does: decide who may see what. The tenancy guard lives in
// ent/schema, and on PostgreSQL in row-level security as well, to which the drivers here hand the caller's company.
//
// Reads go through Reader, writes through Write, which runs one function in one transaction:
//
//	SQLite      Write → queue → the one writer: BEGIN IMMEDIATE, a savepoint per waiting function, COMMIT once,
//	            then every caller gets its answer (group commit); between groups it is the turn of the jobs' connection
//	PostgreSQL  Write → a pool connection; statements without a result are sent with the next one that has a
//	            result, so BEGIN, set_config and the first query are one round trip, and so are the last inserts
//	            and COMMIT
//
// On PostgreSQL the reader is an Ent driver straight on pgx. It binds each of its connections to a company by the setting
// that row-level security reads, in one round trip with the first query after a change of company (postgres.go). Each
// read costs 10–20 % more with row-level security this way, and 45–55 % more with BEGIN, set_config, query and COMMIT.
//
// A PostgreSQL that answers nothing gives no error. The watch, which asks on a connection of its own whether authority has changed,
// notices within five seconds; all that wait are told then, and none begins until it answers (silence.go). No statement has a
// deadline for it: one that takes long on a server that answers others is slow and not lost.
//
// A replica for reads (replica.go). Read answers lists from a streaming replica where there is one, and promises what Reader does: a read
// sees all that was committed before it began, by whatever node or worker. It asks the primary for its position in the log (LSN), and
// sends the replica each statement behind one that waits, for at most 50 ms, until the replica has replayed as far; both go in one
// round trip. Reads that begin while a question is out share the next one. A replica that is behind or gone is left out until it is
// found to keep up, four times a second, and what it fails at the primary answers: fn of Read runs again. Positions of another
// timeline (a failover that the replica has not followed, for as long as until its next restartpoint) or of another cluster count for nothing, and so
// does a server that is no replica any more. Only op.Run reads by it, and only what is not about one row: the question costs the
// primary about what that row does. Never by it are authority (authn, policies, rights, and what is remembered), reads within or for writes, and jobs.
//
// Refused: a position of each company's last commit, in a node's memory or as a token that callers send back. Other nodes' writes are not
// in the memory; and whoever learns of a change by a webhook, a stream or another person has no token, asks, and is told that there is
// no such row. A bound of seconds on the lag has the same fault. synchronous_commit = remote_apply promises the same as this, but no write
// ends while the replica is away. What it does not promise: anything without the primary, and relief while the replica cannot keep up with the
// writes, of whatever company, within 50 ms. Writes pay nothing: nothing was added to them.
//
// Figures (BenchmarkReplica, 2026-11, both servers on two cores under a load of 25 from others' builds). Time of the primary's
// processors for a read, by the primary and by the replica: a page of 5,000 rows that are not analyzed yet 2.9 and 0.11 ms, a search through
// them 1.4 and 0.05 ms with 16 callers, who share questions; 3.8 and 0.28, 1.6 and 0.16 ms with one. Time for 16 callers' reads: 3.0 and 3.3 ms a page,
// 1.5 and 1.9 ms a search. What a single row would cost was reckoned, not measured.
//
// Counters. Triggers keep how many requests and audit entries a company has, by status, priority and service, so that a
// list's exact total costs no scan (table row_counts, paging.Counter). Without them, counting 900,000 requests of one
// company behind an index takes 62 ms on SQLite and 212 ms on PostgreSQL 15, and the 400,000 with one status 34 and
// 90 ms; the sum of a counter takes less than 0.1 ms (2026-11, two cores). On PostgreSQL a counter has 16 rows, so
// that the inserts of one company do not wait for each other.
//
// Migrations. Embedded SQL files are applied in one transaction under a lock that other processes wait for, on SQLite
// with foreign keys off (rebuilds of tables) and all of them checked before the commit. schema_migrations holds each
// file's checksum: a changed file and a newer database are refused. Weighed in 2026-11 against 220 lines here: goose
// v3.29.0 has neither of the two checks, no lock for SQLite and no adoption of the table that databases already carry,
// and it commits each file on its own, so that all of this would be our code around it; Atlas's executor leaves the
// table of revisions to its caller, too. migrategen writes the files.
//
// A constraint violation may come back with a later statement than the one that violates it. Write, Tx.Flush and op.RunIn
// turn it into *Violation, at the end of a transaction, of the statements so far and of an operation within.
//
// Figures (bench_test.go, 2026-11, two cores under a load of ten from others' builds, paired in one run). Group commit: SQLite
// takes 760 to 1,000 writes a second from one caller, who waits for each commit, and 17,000 to 22,000 from 64 at once; of the
// bare floor's requests it made 6,982 a second of 3,667. The pipeline: a transaction of three inserts takes 128 to 283 µs on
// PostgreSQL over loopback, and 292 to 615 µs statement by statement, 1.7 to 2.4 times as long. Prepared statements
// (stmtcache.go): SQLite reads a row in 44 to 55 µs, and in 90 to 160 µs where it parses the query anew; of a page of rows
// they save little.
package store

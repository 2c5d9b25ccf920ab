// Package store keeps the product's rows: SQLite by default, PostgreSQL 15+ in production, one behaviour on both.
//
// Who calls it: internal/op, for every operation; cmd, for opening and migrating; internal/authn, for reading
// credentials as the system principal. What it never does: decide who may see what. The tenancy guard lives in
// ent/schema, and on PostgreSQL in row-level security as well, to which the drivers here hand the caller's company.
//
// Reads go through Reader, writes through Write, which runs one function in one transaction:
//
//	SQLite      Write → queue → the one writer: BEGIN IMMEDIATE, a savepoint per waiting function, COMMIT once,
//	            then every caller gets its answer (group commit)
//	PostgreSQL  Write → a pool connection; statements without a result are sent with the next one that has a
//	            result, so BEGIN, set_config and the first query are one round trip, and so are the last inserts
//	            and COMMIT
//
// Because a write's error may come back with a later statement, constraint violations are turned into *Violation
// in one place, at the end of Write.
package store

// Package testkit provides test fixtures: a migrated database with two companies, on SQLite and on real PostgreSQL (Each), an
// empty PostgreSQL database, a PostgreSQL with a replica, a Redis. Tests of every package call it; production code never does,
// and a test of this package enforces that.
//
// PostgreSQL is a throwaway cluster whose URL is in ATRIUM_TEST_POSTGRES_URL. `make test` starts one, also for a single package
// (`make test PKG=./internal/desk/request`). Its role may create databases but is no superuser, since superusers bypass row-level
// security. Without a cluster a test fails: it never skips itself, because a test that did not run proves nothing.
package testkit

// Package testkit gives tests what they cannot make up themselves: a migrated database of their own with two companies
// in it, on SQLite and on real PostgreSQL (Each), a bare PostgreSQL database, a Redis. Tests of every package call it;
// production code never does, and a test of this package holds that.
//
// PostgreSQL is a throwaway cluster whose address stands in ATRIUM_TEST_POSTGRES_URL. `make test` starts one, and
// so does `.ci/with-services.sh go test ./internal/request` for a single package. Its role may create databases
// but is no superuser, since a superuser walks past row-level security. A test that finds no cluster fails: it
// never skips itself, because a test that did not run proves nothing.
package testkit

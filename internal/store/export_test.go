package store

import (
	"database/sql"
	"strings"

	"atrium/ent"
)

// MaxWaitingWrites is maxWaitingWrites.
const MaxWaitingWrites = maxWaitingWrites

// MigrationLock is migrationLock.
const MigrationLock = int64(migrationLock)

// Waiting tells how many functions wait for SQLite's writer.
func Waiting(s *Store) int { return len(s.begin.(*sqliteWriter).queue) }

// Prepared returns a client that reads db as Reader does.
func Prepared(db *sql.DB) *ent.Client {
	return ent.NewClient(ent.Driver(sqliteReader{newStmtCache(db)}))
}

// SQLiteUnique is sqliteUnique.
func SQLiteUnique(msg string) (string, string) {
	table, columns := sqliteUnique(msg)
	return table, strings.Join(columns, ",")
}

// KnowsIndex reports whether a unique index of PostgreSQL is known by its name.
func KnowsIndex(name string) bool { return uniqueIndexes[name] != nil }

// Whole is whole.
func Whole(name string) string { return whole(name) }

package store

import (
	"database/sql"
	"strings"

	"atrium/ent"
)

// MaxWaitingWrites exports maxWaitingWrites.
const MaxWaitingWrites = maxWaitingWrites

// MigrationLock exports migrationLock.
const MigrationLock = int64(migrationLock)

// Waiting returns the length of the SQLite writer's queue.
func Waiting(s *Store) int { return s.begin.(*sqliteWriter).queue.len() }

// Prepared returns a client that reads db with prepared statements, as Reader does.
func Prepared(db *sql.DB) *ent.Client {
	return ent.NewClient(ent.Driver(sqliteReader{newStmtCache(db)}))
}

// SQLiteUnique exports sqliteUnique, with the columns joined.
func SQLiteUnique(msg string) (string, string) {
	table, columns := sqliteUnique(msg)
	return table, strings.Join(columns, ",")
}

// KnowsIndex reports whether uniqueIndexes has the name.
func KnowsIndex(name string) bool { return uniqueIndexes[name] != nil }

// ParentName exports parentName.
func ParentName(name string) string { return parentName(name) }

// DropLeft exports dropLeft.
var DropLeft = dropLeft

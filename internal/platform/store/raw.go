package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5/stdlib"
)

// Rows runs a query of a Snapshot, with ? for its arguments.
type Rows func(ctx context.Context, statement string, args ...any) (*sql.Rows, error)

// Snapshot passes fn a query function for the rows of all companies as of one moment, without Ent; for reading whole tables.
func (s *Store) Snapshot(ctx context.Context, fn func(Rows) error) (err error) {
	db, begin, bind := s.snapshotDB()
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("begin a snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, statement := range []string{begin, bind} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("begin a snapshot: %w", err)
		}
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck // nothing was written
	return fn(func(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
		return conn.QueryContext(ctx, s.numbered(statement), args...)
	})
}

// snapshotDB opens the database for Snapshot and returns the two statements that begin one.
func (s *Store) snapshotDB() (db *sql.DB, begin, bind string) {
	if s.dialect == dialect.Postgres {
		return stdlib.OpenDBFromPool(s.pool), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", migrationSQL[s.dialect].bind
	}
	db, _ = sql.Open("sqlite", sqliteDSN(s.path, lockTime, readOnly)) // an error appears when the first connection is opened
	return db, "BEGIN DEFERRED", "SELECT 1"
}

// ExecRaw runs a statement without Ent, with ? for its arguments; for copying whole rows.
func (tx *Tx) ExecRaw(ctx context.Context, statement string, args ...any) error {
	if tx.sqlTx != nil {
		_, err := tx.sqlTx.ExecContext(ctx, statement, args...)
		return AsViolation(err)
	}
	_, err := tx.pgxTx.Exec(ctx, Numbered(statement), args...)
	return AsViolation(err)
}

func (s *Store) numbered(statement string) string {
	if s.dialect == dialect.Postgres {
		return Numbered(statement)
	}
	return statement
}

// Numbered replaces each ? by PostgreSQL's $1, $2, …. Statements contain no other ?.
func Numbered(statement string) string {
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(statement, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

// DeferKeys makes SQLite check references at the end of the transaction. PostgreSQL checks each row at once, so callers insert a
// row after those that it refers to.
func (tx *Tx) DeferKeys(ctx context.Context) error {
	if tx.sqlTx == nil {
		return nil
	}
	return tx.ExecRaw(ctx, "PRAGMA defer_foreign_keys = ON")
}

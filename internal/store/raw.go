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

// Rows is what Snapshot reads by: the rows of a statement, with ? for its arguments.
type Rows func(ctx context.Context, statement string, args ...any) (*sql.Rows, error)

// Snapshot hands fn all companies' rows as they were at one moment, without Ent, for what goes through whole tables.
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

// snapshotDB opens the database for Snapshot, which begins by two statements.
func (s *Store) snapshotDB() (db *sql.DB, begin, bind string) {
	if s.dialect == dialect.Postgres {
		return stdlib.OpenDBFromPool(s.pool), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", migrationSQL[s.dialect].bind
	}
	db, _ = sql.Open("sqlite", sqliteDSN(s.path, readOnly)) // an error comes with its first connection
	return db, "BEGIN DEFERRED", "SELECT 1"
}

// ExecRaw runs a statement that is not Ent's, with ? for its arguments: for rows that are carried over whole.
func (tx *Tx) ExecRaw(ctx context.Context, statement string, args ...any) error {
	if tx.sqlTx != nil {
		_, err := tx.sqlTx.ExecContext(ctx, statement, args...)
		return AsViolation(err)
	}
	_, err := tx.pgxTx.Exec(ctx, numbered(statement), args...)
	return AsViolation(err)
}

func (s *Store) numbered(statement string) string {
	if s.dialect == dialect.Postgres {
		return numbered(statement)
	}
	return statement
}

// numbered turns ? into $1, $2, …, as PostgreSQL has them. No statement holds a ? of its own.
func numbered(statement string) string {
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

// DeferKeys has the database look at references when the transaction ends. PostgreSQL looks at each row at once: there rows come
// after those that they refer to.
func (tx *Tx) DeferKeys(ctx context.Context) error {
	if tx.sqlTx == nil {
		return nil
	}
	return tx.ExecRaw(ctx, "PRAGMA defer_foreign_keys = ON")
}

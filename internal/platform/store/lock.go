package store

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// Lock makes the query lock its rows until the transaction ends. Rows that name them may be inserted meanwhile: their foreign keys
// hold the row's key alone (FOR KEY SHARE), for which FOR UPDATE would make them wait. It does nothing on SQLite, which has one
// writer, and for a read, which has no transaction (tx is nil).
func Lock[Q interface {
	ForUpdate(opts ...sql.LockOption) Q
}](tx *Tx, q Q) Q {
	if tx == nil || tx.dialect != dialect.Postgres {
		return q
	}
	return q.ForUpdate(sql.WithLockClause("FOR NO KEY UPDATE"))
}

// LockFree is Lock without waiting: the query leaves out the rows that another transaction has locked (SKIP LOCKED).
func LockFree[Q interface {
	ForUpdate(opts ...sql.LockOption) Q
}](tx *Tx, q Q) Q {
	if tx.dialect != dialect.Postgres {
		return q
	}
	return q.ForUpdate(sql.WithLockClause("FOR NO KEY UPDATE SKIP LOCKED"))
}

// Share makes the query hold its rows as they are until the transaction ends (FOR SHARE): others may hold them too, and changing
// them waits. Like Lock, it does nothing on SQLite and for a read.
func Share[Q interface {
	ForShare(opts ...sql.LockOption) Q
}](tx *Tx, q Q) Q {
	if tx == nil || tx.dialect != dialect.Postgres {
		return q
	}
	return q.ForShare()
}

// LockName takes a lock with this name until the transaction ends, for cases in which there is no row to lock yet. Names begin
// with their kind ("account/ada@example.com").
func (tx *Tx) LockName(ctx context.Context, name string) error {
	if tx.pgxTx == nil {
		return nil // SQLite has one writer
	}
	if _, err := tx.pgxTx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name); err != nil {
		return fmt.Errorf("take the lock %s: %w", name, err)
	}
	return nil
}

// WriteOrRetry is Write for a function that looks for a row and inserts it if there is none. If another transaction inserts the
// row in between, the function runs again and finds it.
func (s *Store) WriteOrRetry(ctx context.Context, fn func(context.Context, *Tx) error) error {
	err := s.Write(ctx, fn)
	if IsUnique(err) {
		err = s.Write(ctx, fn)
	}
	return err
}

// IsUnique reports whether a write violated a unique index.
func IsUnique(err error) bool {
	v, ok := errors.AsType[*Violation](err)
	return ok && v.Kind == Unique
}

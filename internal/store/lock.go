package store

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// Lock makes the query lock its rows until the transaction ends. SQLite has one writer and needs no lock, and neither does
// a read, which has no transaction.
func Lock[Q interface {
	ForUpdate(opts ...sql.LockOption) Q
}](tx *Tx, q Q) Q {
	if tx == nil || tx.dialect != dialect.Postgres {
		return q
	}
	return q.ForUpdate()
}

// LockName takes the lock of that name until the transaction ends: for what has no row yet that could be locked. Names say
// what they are about first ("account/ada@example.com").
func (tx *Tx) LockName(ctx context.Context, name string) error {
	if tx.pgxTx == nil {
		return nil // one writer
	}
	if _, err := tx.pgxTx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name); err != nil {
		return fmt.Errorf("take the lock %s: %w", name, err)
	}
	return nil
}

// WriteOrRetry is Write for a function that looks for a row and inserts it where there is none. When another transaction
// inserts the row between the two, the function runs once more and finds it.
func (s *Store) WriteOrRetry(ctx context.Context, fn func(context.Context, *Tx) error) error {
	err := s.Write(ctx, fn)
	if IsUnique(err) {
		err = s.Write(ctx, fn)
	}
	return err
}

// IsUnique reports whether a write was refused because the row exists already.
func IsUnique(err error) bool {
	v, ok := errors.AsType[*Violation](err)
	return ok && v.Kind == Unique
}

package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"atrium/ent/service"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// onePostgres opens the world's database again with a single connection, so that every transaction runs on the connection that
// the last one used. (The listener has one of its own.)
func onePostgres(t *testing.T, w *testkit.World) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: w.Store.Pool().Config().ConnString(), MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// An insert is sent with the statement after it, so its violation may surface there or at the commit. It is the same violation
// everywhere, and the connection is usable for the next transaction.
func TestDeferredErrorsSurface(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	s := onePostgres(t, w)
	require.NoError(t, s.Write(system(), setting("taken")))
	double := setting("taken")
	for name, fn := range map[string]func(context.Context, *store.Tx) error{
		"at the commit": double,
		"at a query": func(ctx context.Context, tx *store.Tx) error {
			if err := double(ctx, tx); err != nil {
				return fmt.Errorf("it was to be queued: %w", err)
			}
			_, err := tx.Setting.Query().Count(ctx)
			return err
		},
		"at an update": func(ctx context.Context, tx *store.Tx) error {
			_ = double(ctx, tx)
			return tx.Service.Update().Where(service.Slug("x")).SetName("y").Exec(ctx)
		},
		"through pgx's Exec":     raw(double, func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Exec(ctx, "SELECT 1"); return err }),
		"through pgx's QueryRow": raw(double, func(ctx context.Context, tx pgx.Tx) error { var n int; return tx.QueryRow(ctx, "SELECT 1").Scan(&n) }),
		"through pgx's Query": raw(double, func(ctx context.Context, tx pgx.Tx) error {
			rows, err := tx.Query(ctx, "SELECT 1")
			if err == nil {
				rows.Close()
			}
			return err
		}),
		"through pgx's Prepare": raw(double, func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Prepare(ctx, "p", "SELECT 1"); return err }),
		"through pgx's batch": raw(double, func(ctx context.Context, tx pgx.Tx) error {
			b := &pgx.Batch{}
			b.Queue("SELECT 1")
			return tx.SendBatch(ctx, b).Close()
		}),
		"through pgx's copy": raw(double, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"settings"}, []string{"id", "value"}, pgx.CopyFromRows([][]any{{"c", "v"}}))
			return err
		}),
		"although the function swallows it": func(ctx context.Context, tx *store.Tx) error {
			_ = double(ctx, tx)
			_, _ = tx.Setting.Query().Count(ctx)
			return nil
		},
	} {
		err := s.Write(system(), fn)
		if name == "although the function swallows it" {
			require.ErrorContains(t, err, "had failed", name)
		} else {
			var v *store.Violation
			require.ErrorAs(t, err, &v, name)
			require.Equal(t, store.Unique, v.Kind, name)
			require.Equal(t, "settings", v.Table, name)
			require.Equal(t, []string{"id"}, v.Columns, name)
		}
		require.NoError(t, s.Write(system(), func(context.Context, *store.Tx) error { return nil }), "after %s", name)
	}
	require.Equal(t, []string{"taken"}, settings(t, s))
}

// raw runs first and then uses the transaction as the job queue does.
func raw(first func(context.Context, *store.Tx) error, then func(context.Context, pgx.Tx) error) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		if err := first(ctx, tx); err != nil {
			return err
		}
		return then(ctx, tx.PGX())
	}
}

// The pgx.Tx that the job queue gets cannot end the transaction.
func TestTransactionIsEndedByTheStore(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	for _, end := range []func(context.Context, pgx.Tx) error{
		func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
		func(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) },
		func(ctx context.Context, tx pgx.Tx) error { _, err := tx.Begin(ctx); return err },
	} {
		require.ErrorContains(t, w.Store.Write(system(), raw(setting("x"), end)), "ended by the store")
	}
	require.Empty(t, settings(t, w.Store))
}

// However a transaction ends, the pool's one connection is afterwards outside of any transaction and bound to no company.
func TestRollbackLeavesTheConnectionUsable(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	s := onePostgres(t, w)
	touch := func(ctx context.Context, tx *store.Tx) error { _, err := tx.Setting.Query().Count(ctx); return err }
	for range 3 {
		require.ErrorIs(t, s.Write(system(), func(context.Context, *store.Tx) error { return errFails }), errFails)
		require.ErrorIs(t, s.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			if err := touch(ctx, tx); err != nil {
				return err
			}
			return errFails
		}), errFails)
		require.Panics(t, func() {
			_ = s.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				if err := touch(ctx, tx); err != nil {
					return err
				}
				panic("boom")
			})
		})
		require.Error(t, s.Write(system(), raw(touch, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "SELECT no_such_function()")
			return err
		})))
		var company string
		var isolated bool
		require.NoError(t, s.Pool().QueryRow(t.Context(),
			"SELECT coalesce(current_setting('app.company_id', true), ''), pg_current_xact_id_if_assigned() IS NULL").Scan(&company, &isolated))
		require.Empty(t, company, "the binding outlived its transaction")
		require.True(t, isolated)
	}
	require.NoError(t, s.Write(system(), setting("works")))
	require.Equal(t, []string{"works"}, settings(t, s))
}

// Two transactions lock two rows in opposite order: PostgreSQL aborts one, and the store runs it again.
func TestDeadlockIsRetried(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	require.NoError(t, w.Store.Write(system(), setting("one")))
	require.NoError(t, w.Store.Write(system(), setting("two")))
	var runs atomic.Int32
	var met sync.WaitGroup // done when both hold their first row
	met.Add(2)
	crosswise := func(first, second string) error {
		arrived := sync.OnceFunc(met.Done)
		return w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			runs.Add(1)
			if err := tx.Setting.UpdateOneID(first).SetValue(first).Exec(ctx); err != nil {
				return err
			}
			arrived()
			met.Wait()
			return tx.Setting.UpdateOneID(second).SetValue(first).Exec(ctx)
		})
	}
	errs := make(chan error, 2)
	go func() { errs <- crosswise("one", "two") }()
	go func() { errs <- crosswise("two", "one") }()
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	require.Greater(t, runs.Load(), int32(2), "one of the two was broken off and ran again, perhaps more than once")
}

// A deadlock that occurs every time ends with its error, not in an endless loop.
func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	runs := 0
	err := w.Store.Write(system(), raw(func(context.Context, *store.Tx) error { runs++; return nil }, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = 'serialization_failure'; END $$")
		return err
	}))
	require.ErrorContains(t, err, "again")
	require.Equal(t, 4, runs)
}

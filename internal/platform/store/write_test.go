package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestWriteCommitsOrLeavesNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		require.NoError(t, w.Store.Write(system(), setting("kept")))
		err := w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			if err := setting("undone")(ctx, tx); err != nil {
				return err
			}
			if seen, err := tx.Setting.Query().Where(entsql.FieldIn("id", "kept", "undone")).Count(ctx); err != nil || seen != 2 {
				return fmt.Errorf("a transaction sees its own rows: %d, %w", seen, err)
			}
			return errFails
		})
		require.ErrorIs(t, err, errFails)
		require.PanicsWithValue(t, "boom", func() {
			_ = w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				if _, err := tx.Setting.Query().Count(ctx); err != nil {
					return err
				}
				if err := setting("panicked")(ctx, tx); err != nil {
					return err
				}
				panic("boom")
			})
		})
		require.Equal(t, []string{"kept"}, settings(t, w.Store))
		require.NoError(t, w.Store.Write(system(), setting("later")))
		require.Equal(t, []string{"kept", "later"}, settings(t, w.Store))
	})
}

// A caller whose context ends before its transaction begins gets an error; a transaction that has begun is finished.
func TestCallerWhoLeaves(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, cancel := context.WithCancel(system())
		err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Setting.Query().Count(ctx); err != nil {
				return err
			}
			cancel()
			return setting("finished")(ctx, tx)
		})
		require.NoError(t, err)
		require.ErrorIs(t, w.Store.Write(ctx, setting("never")), context.Canceled)
		require.Equal(t, []string{"finished"}, settings(t, w.Store))
	})
}

// The reader refuses every write, also those that Ent or the database would disguise as a query.
func TestReaderCannotWrite(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		db, ctx := w.Store.Reader(), system()
		co := w.A.Company.ID
		for name, err := range map[string]error{
			"create":                   db.Setting.Create().SetID("x").SetValue("x").Exec(ctx),
			"create with a made-up id": db.RowCount.Create().SetCompanyID(co).SetKind("k").SetFacet("f").SetShard(0).SetN(1).Exec(ctx),
			"bulk":                     db.Setting.CreateBulk(db.Setting.Create().SetID("y").SetValue("y")).Exec(ctx),
			"update":                   db.Service.Update().SetName("x").Exec(ctx),
			"update one":               db.User.UpdateOneID(w.A.Owner.ID).SetName("x").Exec(ctx),
			"delete one":               db.User.DeleteOneID(w.A.Owner.ID).Exec(ctx),
		} {
			require.Error(t, err, name)
		}
		_, err := db.Service.Delete().Exec(ctx)
		require.Error(t, err)
		_, err = db.Tx(ctx)
		require.Error(t, err)
		var rows entsql.Rows
		err = ent.DriverOf(db).Query(ctx, "INSERT INTO settings (id, value) VALUES ('raw', 'x') RETURNING id", []any{}, &rows)
		if err == nil {
			for rows.Next() { // to the end: the error may come with the rows
			}
			err = rows.Err()
			require.NoError(t, errIgnored(rows.Close()))
		}
		require.ErrorContains(t, err, map[string]string{dialect.SQLite: "readonly", dialect.Postgres: "read-only"}[w.Store.Dialect()])
		require.Empty(t, settings(t, w.Store))
		n, err := db.RowCount.Query().Where(entsql.FieldEQ("kind", "k")).Count(ctx)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func errIgnored(error) error { return nil }

// AsSystem makes all companies visible in the transaction until it returns.
func TestAsSystemEndsWithItsFunction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		inside, after := 0, 0
		err := w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			err := tx.AsSystem(ctx, "test", func(ctx context.Context) (err error) {
				inside, err = tx.Company.Query().Count(ctx)
				return err
			})
			if err != nil {
				return err
			}
			if after, err = tx.Company.Query().Count(ctx); err != nil {
				return err
			}
			if tx.PGX() == nil {
				return nil
			}
			var raw int
			if err := tx.PGX().QueryRow(ctx, "SELECT count(*) FROM companies").Scan(&raw); err != nil || raw != 1 {
				return fmt.Errorf("row-level security stayed open: %d companies, %w", raw, err)
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 4, inside)
		require.Equal(t, 1, after)
	})
}

// Of many concurrent writes none is lost, on both databases.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const n = 200
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { errs[i] = w.Store.Write(system(), setting(fmt.Sprintf("c%03d", i))) })
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		require.Len(t, settings(t, w.Store), n)
		require.NoError(t, w.Store.Ping(t.Context()))
	})
}

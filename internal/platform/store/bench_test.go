package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Saving of SQLite's prepared statements: the same queries through the store's reader and through Ent's own driver.
func BenchmarkPrepared(b *testing.B) {
	w := testkit.SQLiteWorld(b)
	ctx := w.As(w.A, principal.Owner)
	db, err := store.OpenSQLiteFile(w.Store.Path())
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	for _, way := range []struct {
		name string
		db   *ent.Client
	}{{"prepared", store.Prepared(db)}, {"parsed", ent.NewClient(ent.Driver(entsql.OpenDB(dialect.SQLite, db)))}} {
		b.Run("row/"+way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := way.db.User.Query().Where(user.ID(w.A.Owner.ID)).Only(ctx)
				require.NoError(b, err)
			}
		})
		b.Run("page/"+way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := way.db.User.Query().Where(user.NameContains("o"), user.Not(user.HasMemberships())).
					Order(ent.Desc(user.FieldCreatedAt, user.FieldID)).Limit(21).All(ctx)
				require.NoError(b, err)
			}
		})
	}
}

// Effect of group commit: writes per second by one caller, who waits for each commit, and by 64 concurrent callers.
func BenchmarkWrite(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		b.Run(name, func(b *testing.B) {
			w := world(b)
			var n atomic.Int64
			write := func(b *testing.B) {
				id := fmt.Sprintf("bench-%d", n.Add(1))
				require.NoError(b, w.Store.Write(system(), setting(id)))
			}
			b.Run("alone", func(b *testing.B) {
				for b.Loop() {
					write(b)
				}
			})
			b.Run("64 at once", func(b *testing.B) {
				b.SetParallelism(32) // times GOMAXPROCS, which was 2 for the figures in doc.go
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						write(b)
					}
				})
			})
		})
	}
}

// Saving of the pipeline on PostgreSQL: the same transaction through Write and through Ent's own driver.
func BenchmarkPipeline(b *testing.B) {
	w := testkit.PostgresWorld(b)
	var n atomic.Int64
	ids := func() [3]string {
		i := n.Add(1)
		return [3]string{fmt.Sprintf("bench-%d-a", i), fmt.Sprintf("bench-%d-b", i), fmt.Sprintf("bench-%d-c", i)}
	}
	insert := func(ctx context.Context, c *ent.Client) error {
		for _, id := range ids() {
			if err := c.Setting.Create().SetID(id).SetValue("v").Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error { return insert(ctx, tx.Client) }))
		}
	})
	b.Run("one by one", func(b *testing.B) {
		db := stdlib.OpenDBFromPool(w.Store.Pool())
		defer func() { require.NoError(b, db.Close()) }()
		c := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, db)))
		for b.Loop() {
			tx, err := c.Tx(system())
			require.NoError(b, err)
			require.NoError(b, ent.DriverOf(tx.Client()).Exec(system(), "SELECT set_config('app.company_id', '*', true)", []any{}, nil))
			require.NoError(b, insert(system(), tx.Client()))
			require.NoError(b, tx.Commit())
		}
	})
}

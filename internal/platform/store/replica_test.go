package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/service"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// following waits until reads go to the replica.
func following(tb testing.TB, s *store.Store) {
	tb.Helper()
	require.Eventually(tb, func() bool {
		before, _, _ := s.ReplicaReads()
		err := s.Read(system(), func(ctx context.Context, db *ent.Client) error {
			_, err := db.Company.Query().Limit(1).IDs(ctx)
			return err
		})
		after, _, _ := s.ReplicaReads()
		return err == nil && after > before
	}, time.Minute, 10*time.Millisecond)
}

// The replica shows a caller only the rows of its own company, even without Ent's guard, and accepts no writes.
func TestReplicaIsBoundToItsCaller(t *testing.T) {
	t.Parallel()
	w, _ := testkit.ReplicatedWorld(t)
	following(t, w.Store)
	raw := func(ctx context.Context, query string) (out []string, err error) {
		err = w.Store.Read(ctx, func(ctx context.Context, db *ent.Client) error {
			var rows entsql.Rows
			if err := ent.DriverOf(db).Query(ctx, query, []any{}, &rows); err != nil {
				return err
			}
			defer rows.Close() //nolint:errcheck // scanning tells of errors
			return entsql.ScanSlice(rows, &out)
		})
		return out, err
	}
	before, _, _ := w.Store.ReplicaReads()
	for range 3 {
		for _, of := range []*testkit.Tenant{w.A, w.B} {
			got, err := raw(w.As(of, principal.Owner), "SELECT DISTINCT company_id FROM users")
			require.NoError(t, err)
			require.Equal(t, []string{of.Company.ID}, got)
		}
		got, err := raw(context.Background(), "SELECT id FROM users")
		require.NoError(t, err)
		require.Empty(t, got, "of nobody")
	}
	after, _, _ := w.Store.ReplicaReads()
	require.Equal(t, before+9, after, "the replica has answered")
	_, err := raw(system(), "INSERT INTO settings (id, value) VALUES ('x', 'x') RETURNING id")
	require.ErrorContains(t, err, "read-only")
}

// A read URL that leads to the primary, to another installation or to nothing makes no read fail.
func TestReadURLThatIsNoReplica(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	r := testkit.NewReplicated(t)
	for url, says := range map[string]string{
		w.Store.Pool().Config().ConnString(): "replays no log", r.URL: "no replica of the database",
		"postgres://atrium@127.0.0.1:1/none": "connect",
	} {
		s := open(t, store.Options{DatabaseURL: w.Store.Pool().Config().ConnString(), ReadURL: url, MaxConns: 2})
		require.ErrorContains(t, s.CheckReplica(t.Context()), says)
		err := s.Read(w.As(w.A, principal.Owner), func(ctx context.Context, db *ent.Client) error {
			_, err := db.User.Query().Count(ctx)
			return err
		})
		require.NoError(t, err)
	}
	_, err := store.Open(t.Context(), store.Options{DataDir: t.TempDir(), ReadURL: r.ReadURL})
	require.ErrorContains(t, err, "SQLite has no replicas")
}

// Cost of a read on the replica for its caller and for the primary, compared with one on the primary, alone and with 16 callers:
// a page by an index, and a search through 5,000 rows. The time includes the load of two servers on one machine; primary-µs/op,
// the CPU time of the primary's processes, is the figure that matters.
func BenchmarkReplica(b *testing.B) {
	w, r := testkit.ReplicatedWorld(b)
	ctx := w.As(w.A, principal.Owner)
	require.NoError(b, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		for i := range 5000 {
			if err := tx.Service.Create().SetName(fmt.Sprintf("Service %d", i)).SetSlug(fmt.Sprintf("s-%d", i)).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
	following(b, w.Store)
	for name, read := range map[string]func(context.Context, *ent.Client) error{
		"page": func(ctx context.Context, db *ent.Client) error {
			_, err := db.Service.Query().Order(ent.Desc(service.FieldCreatedAt, service.FieldID)).Limit(21).All(ctx)
			return err
		},
		"search": func(ctx context.Context, db *ent.Client) error {
			_, err := db.Service.Query().Where(service.NameContainsFold("printer")).Count(ctx)
			return err
		},
	} {
		for by, read := range map[string]func() error{
			"primary": func() error { return read(ctx, w.Store.Reader()) }, "replica": func() error { return w.Store.Read(ctx, read) },
		} {
			for _, callers := range []int{1, 16} {
				b.Run(fmt.Sprintf("%s/%d/%s", name, callers, by), func(b *testing.B) {
					before := r.PrimaryTime()
					var left atomic.Int64
					left.Store(int64(b.N))
					var all sync.WaitGroup
					for range callers {
						all.Go(func() {
							for left.Add(-1) >= 0 {
								assert.NoError(b, read())
							}
						})
					}
					all.Wait()
					b.ReportMetric(float64((r.PrimaryTime()-before).Microseconds())/float64(b.N), "primary-µs/op")
				})
			}
		}
	}
	answered, handedOn, _ := w.Store.ReplicaReads()
	b.Logf("the replica answered %d, the primary %d", answered, handedOn)
}

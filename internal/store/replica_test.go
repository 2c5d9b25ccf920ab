package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
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

// The replica shows a caller the rows of its own company and no others, past Ent's guard as well, and takes no writes.
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

// A read URL that leads to the primary, to another installation or to nothing costs nobody an answer.
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

// What a read by the replica costs beside one by the primary, alone and with 16 at once: the same page of a company's people.
func BenchmarkReplica(b *testing.B) {
	w, _ := testkit.ReplicatedWorld(b)
	following(b, w.Store)
	ctx := w.As(w.A, principal.Owner)
	page := func(ctx context.Context, db *ent.Client) error {
		_, err := db.User.Query().Order(ent.Desc(user.FieldCreatedAt, user.FieldID)).Limit(21).All(ctx)
		return err
	}
	for name, read := range map[string]func() error{
		"primary": func() error { return page(ctx, w.Store.Reader()) },
		"replica": func() error { return w.Store.Read(ctx, page) },
	} {
		b.Run(name+"/alone", func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, read())
			}
		})
		b.Run(name+"/16 at once", func(b *testing.B) {
			var failed atomic.Int64
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if read() != nil {
						failed.Add(1)
					}
				}
			})
			require.Zero(b, failed.Load())
		})
	}
	answered, handedOn, _ := w.Store.ReplicaReads()
	b.Logf("the replica answered %d, the primary %d", answered, handedOn)
}

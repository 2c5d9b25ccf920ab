package store_test

import (
	"context"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// heard waits until the store hears changes, and returns its authority number.
func heard(t *testing.T, s *store.Store) uint64 {
	t.Helper()
	require.Eventually(t, func() bool { _, ok := s.Authority(); return ok }, patience, time.Millisecond)
	version, _ := s.Authority()
	return version
}

// change is a write that changes who may do what.
type change struct {
	name string
	do   func(context.Context, *store.Tx) error
}

// changes must be applied in order: a deleted row can no longer be updated.
func changes(w *testkit.World) []change {
	co, owner := w.A.Company.ID, w.A.Owner.ID
	return []change{
		{"a key is revoked", func(ctx context.Context, tx *store.Tx) error {
			return tx.APIKey.Update().SetRevokedAt(time.Now()).Exec(ctx)
		}},
		{"a key is deleted", func(ctx context.Context, tx *store.Tx) error { _, err := tx.APIKey.Delete().Exec(ctx); return err }},
		{"a role changes", func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(owner).SetRole("member").Exec(ctx)
		}},
		{"a user is deactivated", func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(owner).SetStatus("deactivated").Exec(ctx)
		}},
		{"a plan changes", func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(co).SetPlan("free").Exec(ctx)
		}},
		{"a client loses scopes", func(ctx context.Context, tx *store.Tx) error {
			return tx.OAuthClient.Update().SetScopes([]string{}).Exec(ctx)
		}},
		{"a client is deleted", func(ctx context.Context, tx *store.Tx) error { _, err := tx.OAuthClient.Delete().Exec(ctx); return err }},
		{"a routing rule is made", func(ctx context.Context, tx *store.Tx) error {
			return tx.RoutingRule.Create().SetName("R").SetWhen("true").SetPosition(1).Exec(ctx)
		}},
		{"a routing rule changes", func(ctx context.Context, tx *store.Tx) error {
			return tx.RoutingRule.Update().SetWhen("false").Exec(ctx)
		}},
		{"a routing rule is deleted", func(ctx context.Context, tx *store.Tx) error { _, err := tx.RoutingRule.Delete().Exec(ctx); return err }},
		{"a signing key is made", func(ctx context.Context, tx *store.Tx) error {
			return tx.AsSystem(ctx, "test", func(ctx context.Context) error {
				return tx.SigningKey.Create().SetAlgorithm("ES256").SetPrivateSealed([]byte("x")).SetPublicJwk([]byte("{}")).Exec(ctx)
			})
		}},
	}
}

// named returns the change with the name.
func named(all []change, name string) func(context.Context, *store.Tx) error {
	for _, c := range all {
		if c.name == name {
			return c.do
		}
	}
	panic("no change is called " + name)
}

// A change that another process commits becomes known here.
func TestAuthorityIsHeardOfOtherProcesses(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := another(t, w)
		heard(t, other)
		for _, c := range changes(w) {
			before := heard(t, w.Store)
			require.NoError(t, other.Write(w.As(w.A, principal.Owner), c.do), c.name)
			require.Eventually(t, func() bool { v, _ := w.Store.Authority(); return v > before }, patience, time.Millisecond, c.name)
		}
	})
}

// Store.Propagation after a change, either the change is known or cached values are invalid, however busy the machine is.
func TestPropagation(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := another(t, w)
		for range 5 {
			before := heard(t, w.Store)
			require.NoError(t, other.Write(w.As(w.A, principal.Owner), named(changes(w), "a key is revoked")))
			<-time.After(store.Propagation)
			v, ok := w.Store.Authority()
			require.True(t, v > before || !ok)
		}
	})
}

// Writes that do not concern authority invalidate no caches.
func TestAuthorityIgnoresTheRest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := another(t, w)
		ctx := w.As(w.A, principal.Owner)
		before := heard(t, w.Store)
		require.NoError(t, other.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.Service.Create().SetName("S").SetSlug("s").Exec(ctx); err != nil {
				return err
			}
			if err := tx.APIKey.Update().SetLastUsedAt(time.Now()).Exec(ctx); err != nil {
				return err
			}
			return tx.User.Update().SetLastSeenAt(time.Now()).Exec(ctx)
		}))
		require.NoError(t, other.Write(ctx, named(changes(w), "a key is revoked"))) // heard after the writes above, if those were announced
		require.Eventually(t, func() bool { v, _ := w.Store.Authority(); return v > before }, patience, time.Millisecond)
		after := heard(t, w.Store)
		// Each change is counted once on SQLite. On PostgreSQL one statement that changes two keys sends one notification, too.
		require.Equal(t, before+1, after)
	})
}

func TestAuthorityChangedCountsAtOnce(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	before := heard(t, w.Store)
	w.Store.AuthorityChanged()
	after, _ := w.Store.Authority()
	require.Greater(t, after, before)
}

// While PostgreSQL's listener is down, cached values are invalid. When it is back, the number has grown.
func TestAuthorityWithoutListener(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	other := another(t, w)
	heard(t, w.Store)
	before := heard(t, other)

	conn, err := w.Store.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	exec := func(statement string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	// New connections are refused and existing ones ended: the listener cannot reconnect until the limit is lifted.
	database := conn.Conn().Config().Database
	exec("ALTER DATABASE " + database + " CONNECTION LIMIT 0")
	// Autovacuum workers are in the list, too; they run as superuser, and this role may not end them.
	exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()" +
		" AND backend_type = 'client backend' AND pid <> pg_backend_pid()")
	require.Eventually(t, func() bool { _, ok := other.Authority(); return !ok }, patience, time.Millisecond)
	exec("ALTER DATABASE " + database + " CONNECTION LIMIT -1")
	require.Greater(t, heard(t, other), before)

	before = heard(t, other)
	require.Eventually(t, func() bool {
		return w.Store.Write(w.As(w.A, principal.Owner), named(changes(w), "a role changes")) == nil // the pool must notice the lost connections first
	}, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { v, ok := other.Authority(); return ok && v > before }, patience, time.Millisecond)
}

// Once PostgreSQL is back after a restart, no call gets a connection that the restart has ended.
func TestNoCallPaysForLostConnections(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	other := another(t, w)
	heard(t, other)
	reads := func() {
		var all errgroup.Group
		for range 8 { // so many connections at once
			all.Go(func() error {
				_, err := other.Reader().Service.Query().Count(system())
				return err
			})
		}
		require.NoError(t, all.Wait())
	}
	reads()
	before := heard(t, other)
	_, err := w.Store.Pool().Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"+
		" AND backend_type = 'client backend' AND pid <> pg_backend_pid()")
	require.NoError(t, err)
	require.Eventually(t, func() bool { v, ok := other.Authority(); return ok && v > before }, patience, time.Millisecond)
	reads()
}

// Without migrations there is nothing to watch: Authority returns false, and the store keeps running.
func TestAuthorityBeforeTheFirstMigration(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{DataDir: t.TempDir()})
	require.Equal(t, dialect.SQLite, s.Dialect())
	_, ok := s.Authority()
	require.False(t, ok)
	_, err := s.Migrate(t.Context())
	require.NoError(t, err)
	heard(t, s)
	_, err = s.Reader().Service.Query().Count(system())
	require.False(t, ent.IsNotFound(err))
	require.NoError(t, err)
}

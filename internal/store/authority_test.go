package store_test

import (
	"context"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
)

// heard waits until the store hears of changes, and returns where it stands.
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

// changes are made one after the other: what is deleted can no longer be updated.
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

// What another process commits is known here.
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

// After store.Propagation a change is known, or what was cached does not count: however busy the machine is.
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

// What is no matter of authority does not make everyone forget what they know.
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
		require.NoError(t, other.Write(ctx, named(changes(w), "a key is revoked"))) // heard after the others, if they were heard
		require.Eventually(t, func() bool { v, _ := w.Store.Authority(); return v > before }, patience, time.Millisecond)
		after := heard(t, w.Store)
		// One notification is one step on SQLite; PostgreSQL sends one, too, for both keys of the one statement.
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

// While PostgreSQL's listener is down nothing that was cached counts; when it is back, what was cached before is old.
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
	// Nobody gets in, and everyone else is thrown out: the listener cannot come back until it may.
	database := conn.Conn().Config().Database
	exec("ALTER DATABASE " + database + " CONNECTION LIMIT 0")
	// Autovacuum's workers stand in the list, too; they are a superuser's, whom this role may not end.
	exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()" +
		" AND backend_type = 'client backend' AND pid <> pg_backend_pid()")
	require.Eventually(t, func() bool { _, ok := other.Authority(); return !ok }, patience, time.Millisecond)
	exec("ALTER DATABASE " + database + " CONNECTION LIMIT -1")
	require.Greater(t, heard(t, other), before)

	before = heard(t, other)
	require.Eventually(t, func() bool {
		return w.Store.Write(w.As(w.A, principal.Owner), named(changes(w), "a role changes")) == nil // its pool finds out about lost connections first
	}, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { v, ok := other.Authority(); return ok && v > before }, patience, time.Millisecond)
}

// A database that is not migrated yet has no authority to hear of; the store says so and does not die of it.
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

package store_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// rawExec runs a statement on the database without the store.
func rawExec(t *testing.T, s *store.Store, statement string) {
	t.Helper()
	if s.Dialect() == dialect.Postgres {
		_, err := s.Pool().Exec(t.Context(), statement)
		require.NoError(t, err)
		return
	}
	var db *sql.DB
	db, err := store.OpenSQLiteFile(s.Path())
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestMigrateFreshThenNothing(t *testing.T) {
	t.Parallel()
	empty(t, func(t *testing.T, o store.Options) {
		s := open(t, o)
		require.ErrorIs(t, s.CheckVersion(t.Context()), store.ErrOutdated)
		names, err := s.Migrate(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(names), 2)
		require.NoError(t, s.CheckVersion(t.Context()))
		require.NoError(t, s.Write(system(), setting("kept")))

		names, err = s.Migrate(t.Context())
		require.NoError(t, err)
		require.Empty(t, names)
		require.Equal(t, []string{"kept"}, settings(t, s))
	})
}

// Of processes that start together, one migrates, and all find the database ready.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	empty(t, func(t *testing.T, o store.Options) {
		const processes = 3
		var wg sync.WaitGroup
		names, errs := make([][]string, processes), make([]error, processes)
		for i := range processes {
			s := open(t, o)
			wg.Go(func() { names[i], errs[i] = s.Migrate(context.Background()) })
		}
		wg.Wait()
		applied := 0
		for i := range processes {
			require.NoError(t, errs[i])
			if len(names[i]) > 0 {
				applied++
			}
		}
		require.Equal(t, 1, applied)
		require.NoError(t, open(t, o).CheckVersion(t.Context()))
	})
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	empty(t, func(t *testing.T, o store.Options) {
		s := open(t, o)
		_, err := s.Migrate(t.Context())
		require.NoError(t, err)
		rawExec(t, s, "INSERT INTO schema_migrations VALUES ('99990101000000', '99990101000000_future', 'x', 'x')")
		_, err = s.Migrate(t.Context())
		require.ErrorIs(t, err, store.ErrNewer)
		require.ErrorContains(t, err, "newer than this binary")
		require.ErrorIs(t, s.CheckVersion(t.Context()), store.ErrNewer)
	})
}

func TestChangedMigrationIsRefused(t *testing.T) {
	t.Parallel()
	empty(t, func(t *testing.T, o store.Options) {
		s := open(t, o)
		names, err := s.Migrate(t.Context())
		require.NoError(t, err)
		rawExec(t, s, "UPDATE schema_migrations SET checksum = 'other' WHERE name = '"+names[0]+"'")
		_, err = s.Migrate(t.Context())
		require.ErrorContains(t, err, names[0]+" was changed after it had been applied")
		require.ErrorContains(t, s.CheckVersion(t.Context()), "was changed")
	})
}

// A migration that fails leaves nothing behind.
func TestFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	empty(t, func(t *testing.T, o store.Options) {
		s := open(t, o)
		rawExec(t, s, "CREATE TABLE workflows (id text)") // makes the first migration fail
		_, err := s.Migrate(t.Context())
		require.ErrorContains(t, err, "initial")
		rawExec(t, s, "DROP TABLE workflows")
		_, err = s.Migrate(t.Context())
		require.NoError(t, err, "something of the failed attempt stayed")
	})
}

// On a PostgreSQL database that nodes use, a migration holds one table at a time, waits for none of them long, and goes on where
// it was broken off.
func TestMigrationOfAServedDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{DatabaseURL: testkit.PostgresURL(t), MaxConns: 4})
	_, err := s.Migrate(t.Context())
	require.NoError(t, err)
	// As if the migration that builds five indexes had ended after the second.
	const name, version = "20261126073200_sort_by_change", "20261126073200"
	rawExec(t, s, "DROP INDEX execution_company_id_updated_at_id, incident_company_id_updated_at_id, task_company_id_updated_at_id")
	rawExec(t, s, `CREATE TABLE schema_migrations_begun (version TEXT PRIMARY KEY, checksum TEXT NOT NULL, statements INT NOT NULL);
			INSERT INTO schema_migrations_begun SELECT version, checksum, 2 FROM schema_migrations WHERE version = '`+version+`';
			DELETE FROM schema_migrations WHERE version = '`+version+`'`)
	require.ErrorIs(t, s.CheckVersion(t.Context()), store.ErrOutdated)

	// A node holds the last table, and wants the one before it while the migration waits.
	node, err := s.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer node.Rollback(t.Context()) //nolint:errcheck // it was committed
	_, err = node.Exec(t.Context(), "LOCK TABLE tasks IN ROW EXCLUSIVE MODE")
	require.NoError(t, err)
	var names []string
	done := make(chan error, 1)
	go func() {
		var err error
		names, err = s.Migrate(context.Background())
		done <- err
	}()
	waits := func() (waits bool) {
		err := s.Pool().QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'tasks'::regclass AND NOT granted)").Scan(&waits)
		assert.NoError(t, err)
		return waits
	}
	require.Eventually(t, waits, patience, time.Millisecond)
	_, err = node.Exec(t.Context(), "LOCK TABLE incidents IN ROW EXCLUSIVE MODE")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !waits() }, patience, time.Millisecond, "the migration gives way")
	require.Empty(t, done, "the migration has ended")
	require.NoError(t, node.Commit(t.Context()))
	require.NoError(t, <-done)
	require.Equal(t, []string{name}, names)
	require.NoError(t, s.CheckVersion(t.Context()))
	var built, begun int
	require.NoError(t, s.Pool().QueryRow(t.Context(), "SELECT count(*) FROM pg_indexes WHERE indexname LIKE '%_company_id_updated_at_id' AND tablename IN ('executions', 'incidents', 'tasks')").Scan(&built))
	require.NoError(t, s.Pool().QueryRow(t.Context(), "SELECT count(*) FROM schema_migrations_begun").Scan(&begun))
	require.Equal(t, 3, built)
	require.Zero(t, begun)
}

func TestDatabaseURLIsChecked(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"mysql://x", "atrium.db", "postgres://user:hunter2@[::1/x"} {
		_, err := store.Open(t.Context(), store.Options{DatabaseURL: url})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2", "the password is not repeated")
	}
}

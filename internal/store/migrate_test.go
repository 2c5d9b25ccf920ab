package store_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/internal/store"
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

func TestDatabaseURLIsChecked(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"mysql://x", "atrium.db", "postgres://user:hunter2@[::1/x"} {
		_, err := store.Open(t.Context(), store.Options{DatabaseURL: url})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2", "the password is not repeated")
	}
}

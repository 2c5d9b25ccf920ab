package store_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// While another process writes to the SQLite file for long, such as an import, writes are unavailable, all that wait together. They
// work again afterwards, and reads always do.
func TestAnotherProcessWrites(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	other, err := store.OpenSQLiteFile(w.Store.Path())
	require.NoError(t, err)
	defer other.Close() //nolint:errcheck // the test is over
	tx, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	s, err := store.Open(t.Context(), store.Options{DataDir: filepath.Dir(w.Store.Path()), LockTime: 100 * time.Millisecond})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var callers sync.WaitGroup
	errs := make([]error, 100) // one after the other, they would wait for longer than the test has
	for i := range errs {
		callers.Go(func() { errs[i] = s.Write(system(), setting("never")) })
	}
	callers.Wait()
	for _, err := range errs {
		require.True(t, store.IsUnavailable(err), "%v", err)
	}
	require.Empty(t, settings(t, s))
	require.NoError(t, tx.Rollback())
	require.NoError(t, s.Write(system(), setting("then")))
}

// A snapshot of PostgreSQL waits for a migration that has locked a table, for longer than a migration itself waits for a lock.
func TestSnapshotWaitsForALock(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	tx, err := w.Store.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE settings IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	time.AfterFunc(500*time.Millisecond, func() { _ = tx.Rollback(t.Context()) })
	require.NoError(t, another(t, w).Snapshot(t.Context(), func(rows store.Rows) error {
		found, err := rows(t.Context(), "SELECT id FROM settings WHERE id = ?", "none")
		if err != nil {
			return err
		}
		defer found.Close() //nolint:errcheck // read to its end
		found.Next()
		return found.Err()
	}))
}

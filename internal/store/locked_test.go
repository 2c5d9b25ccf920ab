package store_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/store"
	"atrium/internal/testkit"
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

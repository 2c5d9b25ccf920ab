package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

var errFails = errors.New("the function fails")

// system returns a context with the system principal.
func system() context.Context { return principal.System(context.Background(), "test") }

// setting returns a function that inserts a setting.
func setting(id string) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		return tx.Setting.Create().SetID(id).SetValue("v").Exec(ctx)
	}
}

// settings returns the ids of the settings that tests inserted.
func settings(t *testing.T, s *store.Store) []string {
	t.Helper()
	ids, err := s.Reader().Setting.Query().Order(ent.Asc("id")).IDs(system())
	require.NoError(t, err)
	var out []string
	for _, id := range ids {
		if id != "authority" {
			out = append(out, id)
		}
	}
	return out
}

// another opens the world's database a second time, as another process would.
func another(t *testing.T, w *testkit.World) *store.Store {
	t.Helper()
	o := store.Options{DataDir: filepath.Dir(w.Store.Path())}
	if w.Store.Dialect() == dialect.Postgres {
		o = store.Options{DatabaseURL: w.Store.Pool().Config().ConnString(), MaxConns: 4}
	}
	s, err := store.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// empty runs fn with an unmigrated database, on SQLite and on PostgreSQL.
func empty(t *testing.T, fn func(t *testing.T, o store.Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, store.Options{DataDir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, store.Options{DatabaseURL: testkit.PostgresURL(t), MaxConns: 4})
	})
}

func open(t *testing.T, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// held is a write that blocks inside its function until it is released.
type held struct {
	release func()
	done    chan error
}

// hold blocks the store's writer.
func hold(t *testing.T, s *store.Store) *held {
	t.Helper()
	entered, gate := make(chan struct{}), make(chan struct{})
	h := &held{release: sync.OnceFunc(func() { close(gate) }), done: make(chan error, 1)}
	go func() {
		h.done <- s.Write(system(), func(context.Context, *store.Tx) error {
			close(entered)
			<-gate
			return nil
		})
	}()
	<-entered
	t.Cleanup(h.release)
	return h
}

package decisionlog_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op/decisionlog"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A decision that has left the queue is written even when the server stops while it waits for the database.
func TestStopWhileWriting(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	owner := w.As(w.A, principal.Owner)
	who, ok := principal.From(owner)
	require.True(t, ok)
	s := decisionlog.NewSampler(w.Store, w.Engine.Log, 1)
	s.Offer(func() decisionlog.Entry {
		return decisionlog.Entry{Who: who, Verb: "read", Action: "read", Resource: "Service", Allowed: true, Kind: "role", By: "owner", At: time.Now()}
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	require.NoError(t, w.Store.Write(owner, func(context.Context, *store.Tx) error { // SQLite has one writer
		go func() { ended <- s.Run(ctx) }()
		require.Eventually(t, func() bool { return s.Queued() == 0 }, time.Minute, time.Millisecond)
		stop()
		return nil
	}))
	require.NoError(t, <-ended)
	require.Equal(t, 1, w.Store.Reader().AccessDecision.Query().CountX(owner))
}

package store_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A connection whose caller left is given to nobody else: what pgx read meanwhile may keep the error of that caller's deadline.
func TestNobodyGetsAConnectionThatWasLeft(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	pool := w.Store.Pool()
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	left := conn.Conn().PgConn().PID()
	handler, ok := conn.Conn().PgConn().CustomData()[store.Leaving].(ctxwatch.Handler)
	require.True(t, ok)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	handler.HandleCancel(ended)
	handler.HandleUnwatchAfterCancel()
	require.NoError(t, conn.Conn().Ping(t.Context()), "it looks healthy")
	conn.Release()

	var all []*pgxpool.Conn
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, left, conn.Conn().PgConn().PID())
		all = append(all, conn)
	}
	for _, conn := range all {
		conn.Release()
	}
}

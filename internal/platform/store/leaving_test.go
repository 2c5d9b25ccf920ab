package store_test

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// stalling is a connection whose writes take longer than the 15 ms after which pgx reads in the background. The answer is there before they
// end, so that this read waits for the answer to the next caller.
type stalling struct{ net.Conn }

func (s stalling) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	time.Sleep(30 * time.Millisecond)
	return n, err
}

// Callers who leave while a connection stalls fail nobody else. Without the pool's check, a few in a hundred of the others' calls end with
// "i/o timeout".
func TestCallersWhoLeaveFailNobodyElse(t *testing.T) {
	t.Parallel()
	cfg, err := pgxpool.ParseConfig(testkit.PostgresURL(t))
	require.NoError(t, err)
	cfg.MaxConns = 8
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return stalling{conn}, err
	}
	store.DropLeft(cfg)
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	defer pool.Close()

	var left, failed atomic.Int64
	var all sync.WaitGroup
	until := time.Now().Add(4 * time.Second)
	for caller := range 16 {
		all.Go(func() {
			for time.Now().Before(until) {
				ctx, cancel := t.Context(), func() {}
				if caller%2 == 0 {
					ctx, cancel = context.WithTimeout(ctx, 15*time.Millisecond+rand.N(25*time.Millisecond))
				}
				var n int
				err := pool.QueryRow(ctx, "SELECT $1::int", caller).Scan(&n)
				switch {
				case ctx.Err() != nil:
					left.Add(1)
				case err != nil:
					failed.Add(1)
					t.Errorf("a caller who stayed: %v", err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	require.Positive(t, left.Load())
	require.Zero(t, failed.Load())
}

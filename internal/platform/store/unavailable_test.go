package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// IsUnavailable distinguishes an unreachable database from one that refuses a statement.
func TestLost(t *testing.T) {
	t.Parallel()
	for code, lost := range map[string]bool{"57P01": true, "57P03": true, "53100": true, "08006": true, "58030": true, "23505": false, "40001": false, "57014": false} {
		require.Equal(t, lost, store.IsUnavailable(fmt.Errorf("commit: %w", &pgconn.PgError{Code: code})), code)
	}
	require.True(t, store.IsUnavailable(fmt.Errorf("read: %w", &net.OpError{Op: "read", Err: syscall.ECONNRESET})))
	require.True(t, store.IsUnavailable(fmt.Errorf("receive: %w", io.ErrUnexpectedEOF)))
	require.False(t, store.IsUnavailable(errors.New("a mistake of ours")))
	require.False(t, store.IsUnavailable(store.ErrBusy))
	require.False(t, store.IsUnavailable(nil))
}

// An error caused by the caller's own context is not IsUnavailable.
func TestLeavingIsNotLosing(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), testkit.PostgresURL(t))
	require.NoError(t, err)
	defer conn.Close(context.Background()) //nolint:errcheck // the test is over
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = conn.Exec(ctx, "SELECT 1")
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, store.IsUnavailable(err))
}

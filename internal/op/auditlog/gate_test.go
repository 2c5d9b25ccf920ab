package auditlog

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who finds no place waits no longer than their call, and takes none from others.
func TestGate(t *testing.T) {
	g := make(gate, 1)
	leave, err := g.enter(t.Context())
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.enter(gone)
	require.ErrorIs(t, err, context.Canceled)
	leave()
	leave, err = g.enter(t.Context())
	require.NoError(t, err)
	leave()
}

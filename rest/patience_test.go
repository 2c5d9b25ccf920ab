package rest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that sends or takes at least 8 KiB a second is waited for, with half a minute to spare; a slower one is not.
func TestPatience(t *testing.T) {
	t.Parallel()
	require.Equal(t, 30*time.Second, patience(0))
	require.Equal(t, 31*time.Second, patience(8<<10))
	require.Equal(t, 30*time.Second+1280*time.Second, patience(10<<20), "10 MiB")
}

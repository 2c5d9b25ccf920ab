package testkit

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rounds returns how often a test repeats what chance decides: few times, or as often as ATRIUM_SOAK_ROUNDS says (make soak).
func Rounds(tb testing.TB, few int) int {
	tb.Helper()
	text := os.Getenv("ATRIUM_SOAK_ROUNDS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	require.NoError(tb, err)
	return n
}

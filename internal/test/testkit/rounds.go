package testkit

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rounds returns how often a randomised test repeats: few times, or the value of ATRIUM_SOAK_ROUNDS if set (make soak).
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

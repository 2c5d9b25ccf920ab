package id_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/id"
)

// An id sorts after the bound of an earlier time and before that of a later time.
func TestFrom(t *testing.T) {
	t.Parallel()
	before := time.Now()
	made := id.New("req")
	after := time.Now()
	require.Less(t, id.From("req", before), made)
	require.Greater(t, id.From("req", after.Add(time.Millisecond)), made)
	require.Less(t, id.From("req", before.Add(-time.Hour)), id.From("req", before))
	require.Len(t, id.From("req", before), len(made))
	require.Less(t, id.From("req", time.Time{}), made, "a moment before all others")
}

package op_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
)

func TestRefs(t *testing.T) {
	t.Parallel()
	var refs op.Refs
	require.NoError(t, refs.Err())
	id := "x"
	refs.Check("teamId", &id, "team", func(string) (bool, error) { return false, nil })
	refs.Check("userId", nil, "user", func(string) (bool, error) { return false, errBroken })
	require.ErrorContains(t, refs.Err(), "validation_error")
	refs.Check("userId", &id, "user", func(string) (bool, error) { return false, errBroken })
	require.ErrorIs(t, refs.Err(), errBroken)
}

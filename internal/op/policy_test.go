package op_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// A call about which nothing can be decided is refused. While the database is away its caller hears that, and tries again: "you may
// not" would be final.
func TestUndecided(t *testing.T) {
	t.Parallel()
	require.Equal(t, apperr.Forbidden, gate.Public(op.Undecided(errors.New("a policy that cannot be evaluated"))).Code)
	require.Equal(t, apperr.Unavailable, gate.Public(op.Undecided(fmt.Errorf("read the policies: %w", io.ErrUnexpectedEOF))).Code)
}

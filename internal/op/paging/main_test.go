package paging_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/platform/apperr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

func refused(t *testing.T, err error, code apperr.Code) *apperr.Error {
	t.Helper()
	e, ok := errors.AsType[*apperr.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, e.Code)
	return e
}

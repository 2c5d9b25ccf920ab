package gate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
)

// A company's large bodies wait for one another, and not for small ones nor for another company's. A place is free once its call is over.
func TestLargeBodiesWaitForOneAnother(t *testing.T) {
	var held []func()
	take := func(company string, n int) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		leave, err := gate.TakePlace(ctx, company, n)
		if err == nil {
			held = append(held, leave)
		}
		return err
	}
	for take("co_a", 1<<20) == nil {
		require.Less(t, len(held), 1024, "a company has places without end")
	}
	require.NotEmpty(t, held)
	require.Equal(t, apperr.Unavailable, apperr.CodeOf(take("co_a", 32<<10)))
	require.NoError(t, take("co_a", 1<<10))
	require.NoError(t, take("co_b", 1<<20))
	for _, leave := range held {
		leave()
		leave()
	}
	require.NoError(t, take("co_a", 1<<20))
	held[len(held)-1]()
}

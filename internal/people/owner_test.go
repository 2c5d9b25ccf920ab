package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/principal"
	"atrium/internal/testkit"
)

// Who may not change owners is told so before a stale If-Match is: the role decides first.
func TestOwnersRightComesBeforeIfMatch(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		in := people.UpdateUserInput{ByID: op.ByID{ID: w.A.Owner.ID}, Role: op.SetTo("member")}
		stale := &op.Call{IfMatch: func(any) bool { return false }}
		_, _, err := op.Run(w.As(w.A, principal.Admin), w.Engine, people.UpdateUser, in, stale)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
		_, _, err = op.Run(w.As(w.A, principal.Owner), w.Engine, people.UpdateUser, in, stale)
		require.Equal(t, apperr.PreconditionFailed, apperr.CodeOf(err))
		_, _, err = op.Run(w.As(w.A, principal.Owner), w.Engine, people.UpdateUser, in, nil)
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "the last owner keeps the role")
	})
}

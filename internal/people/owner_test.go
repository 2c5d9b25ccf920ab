package people_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
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
		testkit.Refused(t, w, w.As(w.A, principal.Owner), people.UpdateUser, in, apperr.Conflict, "the last owner keeps the role")
	})
}

// Giving and taking the roles that grant most takes a signed-in person with all scopes and a recent proof: neither a key nor a
// narrowed token does it, whoever is behind it. Other roles take the scope alone.
func TestRolesThatGrantMostTakeAPerson(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		as := func(change func(*principal.Principal)) context.Context {
			p, _ := principal.From(w.As(w.A, principal.Owner))
			who := *p
			change(&who)
			return principal.With(t.Context(), &who)
		}
		change := func(ctx context.Context, id, role string) error {
			_, _, err := op.Run(ctx, w.Engine, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: id}, Role: op.SetTo(role)}, nil)
			return err
		}
		member, admin := w.A.Users[principal.Member].ID, w.A.Users[principal.Admin].ID
		for name, ctx := range map[string]context.Context{
			"a key": as(func(p *principal.Principal) { p.Method = principal.MethodAPIKey }),
			"a narrowed token": as(func(p *principal.Principal) {
				p.Method, p.Scopes = principal.MethodBearer, principal.ScopeOf("users:write")
			}),
			"a session of this morning": as(func(p *principal.Principal) { p.AuthenticatedAt = w.Clock.Now().Add(-time.Hour) }),
		} {
			for _, role := range []string{"admin", "owner"} {
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(change(ctx, member, role)), "%s makes somebody %s", name, role)
			}
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(change(ctx, admin, "member")), "%s takes a role", name)
			require.NoError(t, change(ctx, member, "agent"), name)
			require.NoError(t, change(ctx, member, "member"), name)
			require.NoError(t, change(ctx, admin, "admin"), "%s changes nothing", name)
		}
		require.NoError(t, change(w.As(w.A, principal.Admin), member, "admin"))
		require.NoError(t, change(w.As(w.A, principal.Admin), member, "member"))
	})
}

// Admins do not call owners otherwise; owners do, and admins may change whatever grants nothing.
func TestAdminsDoNotRenameOwners(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		rename := people.UpdateUserInput{ByID: op.ByID{ID: w.A.Owner.ID}, Name: op.SetTo("Nobody")}
		testkit.Refused(t, w, w.As(w.A, principal.Admin), people.UpdateUser, rename, apperr.Forbidden)
		testkit.Run(t, w, w.As(w.A, principal.Owner), people.UpdateUser, rename)
		testkit.Run(t, w, w.As(w.A, principal.Admin), people.UpdateUser,
			people.UpdateUserInput{ByID: op.ByID{ID: w.A.Owner.ID}, Attributes: op.SetTo(map[string]string{"a": "b"})})
	})
}

package people_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/grant"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// open makes a session and a grant of the user, as signing in does.
func (w *world) open(u *ent.User, name string) {
	w.t.Helper()
	w.system(func(ctx context.Context, tx *store.Tx) {
		now := w.Clock.Now()
		tx.Session.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetTokenHash([]byte(name)).SetMethods([]string{"pwd"}).
			SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(now.Add(time.Hour)).ExecX(ctx)
		tx.Grant.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetClientID("cli_1").SetSignInID("sgn_1").SetScopes([]string{}).
			SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetExpiresAt(now.Add(time.Hour)).ExecX(ctx)
	})
}

// left counts a user's sessions and grants that stand.
func (w *world) left(u *ent.User) (sessions, grants int) {
	w.t.Helper()
	ctx := principal.System(w.t.Context(), "test")
	sessions, err := w.Store.Reader().Session.Query().Where(session.UserID(u.ID), session.EndedAtIsNil()).Count(ctx)
	require.NoError(w.t, err)
	grants, err = w.Store.Reader().Grant.Query().Where(grant.UserID(u.ID), grant.RevokedAtIsNil()).Count(ctx)
	require.NoError(w.t, err)
	return sessions, grants
}

func TestDeactivationSignsOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, s := range []struct {
			u    *ent.User
			name string
		}{{w.agent, "laptop"}, {w.agent, "phone"}, {w.member, "other"}, {w.otherOwner, "elsewhere"}} {
			w.open(s.u, s.name)
		}
		is := func(u *ent.User, want int) {
			t.Helper()
			sessions, grants := w.left(u)
			require.Equal(t, want, sessions)
			require.Equal(t, want, grants)
		}
		out := must(w.asAdmin, w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.agent.ID)})
		require.NotNil(t, out.User.SignedOutAt)
		is(w.agent, 0)
		is(w.member, 1)
		is(w.otherOwner, 1)
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("user.deactivated")).Only(w.asOwner)
		require.NoError(t, err)
		require.Contains(t, string(entry.Changes), "signedOutAt")
		require.Regexp(t, `"sessions": ?\{"to": ?0, ?"from": ?2\}|"sessions": ?\{"from": ?2, ?"to": ?0\}`, string(entry.Changes))

		again := must(w.asAdmin, w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.agent.ID)})
		require.WithinDuration(t, *out.User.SignedOutAt, *again.User.SignedOutAt, 0, "the second time changes nothing")
		back := must(w.asAdmin, w, people.ReactivateUser, byID(w.agent.ID))
		require.Equal(t, user.StatusActive, back.Status)
		require.NotNil(t, back.SignedOutAt, "what came before stays over")
		is(w.agent, 0)
	})
}

// Owners are made and unmade by an owner who has just signed in.
func TestChangesOfOwnersTakeARecentProof(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		second := w.another("second@acme.test")
		w.Clock.SetOffset(op.FreshFor + time.Minute) // since asOwner signed in
		stale := func(e *apperr.Error) { t.Helper(); require.Equal(t, op.ReasonStale, e.Reason) }
		role := func(id, role string) people.UpdateUserInput {
			return people.UpdateUserInput{ByID: byID(id), Role: op.SetTo(role)}
		}
		stale(refused(w.asOwner, w, apperr.Forbidden, people.UpdateUser, role(w.admin.ID, "owner")))
		stale(refused(w.asOwner, w, apperr.Forbidden, people.UpdateUser, role(second.ID, "admin")))
		stale(refused(w.asOwner, w, apperr.Forbidden, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(second.ID)}))
		stale(refused(w.asOwner, w, apperr.Forbidden, people.InviteUser, people.InviteUserInput{Email: "n@acme.test", Role: new("owner")}))
		stale(refused(w.asOwner, w, apperr.Forbidden, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Root", Role: new("owner")}))
		require.Equal(t, []string{"denied", "denied"}, w.audited("user.updated"))

		must(w.asOwner, w, people.UpdateUser, role(w.member.ID, "agent"))
		must(w.asOwner, w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.member.ID)})
		must(w.AsUser(w.owner), w, people.UpdateUser, role(second.ID, "admin"))
	})
}

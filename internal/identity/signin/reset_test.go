package signin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/user"
	"atrium/internal/identity/signin"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// reset resets the user's factors and returns the refusal's code; empty when there was none.
func (s *site) reset(ctx context.Context, id string) apperr.Code {
	_, _, err := op.Run(ctx, s.Engine, signin.ResetMFA, op.ByID{ID: id}, nil)
	if err != nil {
		return apperr.CodeOf(err)
	}
	return ""
}

// An admin lets somebody in again who has lost the second factor: the password is enough then, and enrolment follows
// where the company requires it.
func TestResetMFA(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.enrolled(s.agent())
		b := s.browser()
		require.Equal(t, "Confirm that it is you", b.get(s.web()).signInAs(s.agent()).title())
		s.requireMFA()

		require.Equal(t, apperr.Forbidden, s.reset(s.As(s.A, principal.Agent), s.agent().ID))
		require.Equal(t, apperr.Forbidden, s.reset(s.As(s.A, principal.Member), s.agent().ID))
		p, _ := principal.From(s.As(s.A, principal.Admin))
		stale := *p
		stale.AuthenticatedAt = s.Clock.Now().Add(-time.Hour)
		require.Equal(t, apperr.Forbidden, s.reset(principal.With(t.Context(), &stale), s.agent().ID), "without a recent proof")
		require.Equal(t, apperr.NotFound, s.reset(s.As(s.A, principal.Admin), s.B.Owner.ID))
		out, _, err := op.Run(s.As(s.A, principal.Admin), s.Engine, signin.ResetMFA, op.ByID{ID: s.agent().ID}, nil)
		require.NoError(t, err)
		require.False(t, out.MfaEnabled)
		e := s.entries("user.mfa_reset")
		require.NotEmpty(t, e)
		require.JSONEq(t, `{"mfaEnabled": {"from": true, "to": false}}`, string(e[len(e)-1].Changes))

		require.Equal(t, "Sign in", b.get(s.web()).title())
		require.Equal(t, "Set up a second factor", b.get(s.web()).signInAs(s.agent()).title())
		require.Empty(t, s.reset(s.As(s.A, principal.Admin), s.agent().ID), "once more changes nothing")
	})
}

// An admin does not touch an owner's factors; owners do.
func TestResetMFAOfOwners(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.enrolled(s.A.Owner)
		require.Equal(t, apperr.Forbidden, s.reset(s.As(s.A, principal.Admin), s.A.Owner.ID))
		require.Empty(t, s.reset(s.As(s.A, principal.Owner), s.A.Owner.ID))
	})
}

// What guards other companies, too, is not for the admins of one: only the operator resets it.
func TestResetMFAOfSeveralCompanies(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.enrolled(s.agent())
		there := s.join(user.StatusActive)
		operator := principal.With(context.Background(), principal.Operator(s.A.Company.ID, "test"))
		for _, status := range []user.Status{user.StatusActive, user.StatusDeactivated} {
			s.setStatus(there.ID, status)
			require.Equal(t, apperr.Conflict, s.reset(s.As(s.A, principal.Owner), s.agent().ID))
		}
		n, err := s.Store.Reader().Factor.Query().Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Empty(t, s.reset(operator, s.agent().ID))
	})
}

// Who merely invited somebody, or has parted with them, has no say in how they sign in; nor does an invitation keep those from
// helping them whose member they are.
func TestResetMFAOfInvited(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.enrolled(s.agent())
		there := s.join(user.StatusInvited)
		for _, status := range []user.Status{user.StatusInvited, user.StatusDeactivated} {
			s.setStatus(there.ID, status)
			require.Equal(t, apperr.Conflict, s.reset(s.As(s.B, principal.Owner), there.ID), status)
		}
		require.Equal(t, []string{signin.FactorAdded}, s.told.all())
		n, err := s.Store.Reader().Factor.Query().Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, n)

		s.Engine.Mailer = s.told
		s.change(func(ctx context.Context, tx *store.Tx) error { // whatever the row says
			return tx.User.UpdateOneID(s.agent().ID).SetMfaEnabled(false).Exec(ctx)
		})
		require.Empty(t, s.reset(s.As(s.A, principal.Owner), s.agent().ID))
		require.Equal(t, []string{signin.FactorAdded, signin.FactorsReset}, s.told.all())
		n, err = s.Store.Reader().Factor.Query().Count(s.system())
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

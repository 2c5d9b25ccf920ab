package account_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// onPlan puts company A on a plan, with invitations of its own unless that is 0.
func (s *site) onPlan(plan company.Plan, own int) {
	s.t.Helper()
	require.NoError(s.t, s.Store.Write(s.system(), func(ctx context.Context, tx *store.Tx) error {
		u := tx.Company.UpdateOneID(s.A.Company.ID).SetPlan(plan).ClearInvitationsPerDay()
		if own > 0 {
			u.SetInvitationsPerDay(own)
		}
		return u.Exec(ctx)
	}))
}

// A company mails as many invitations within 24 hours as its plan lets it: those that are sent again count, and deactivating
// somebody gives none back. What people ask for themselves does not count, nor what another company mails.
func TestInvitationsOfADay(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.onPlan(company.PlanFree, 0)
		admin := s.As(s.A, principal.Admin)
		invite := func(i int) error {
			_, _, err := op.Run(admin, s.Engine, people.InviteUser, people.InviteUserInput{Email: fmt.Sprintf("p%d@x.test", i)}, nil)
			return err
		}
		first := s.invite("p0@x.test")
		s.later(time.Hour)
		s.forgot("p0@x.test") // the invitation again, and no matter of the company's
		testkit.Run(t, s.World, admin, people.ResendInvitation, op.ByID{ID: first.ID})
		for i := 1; i < 19; i++ {
			require.NoError(t, invite(i), i)
		}
		testkit.Run(t, s.World, admin, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: first.ID}})
		refused := func(err error) {
			t.Helper()
			require.Equal(t, apperr.RateLimited, apperr.CodeOf(err), "%v", err)
			require.Positive(t, apperr.From(err).RetryAfter)
		}
		refused(invite(100))
		require.Zero(t, s.Store.Reader().User.Query().Where(user.Email("p100@x.test")).CountX(s.system()))
		last := s.Store.Reader().User.Query().Where(user.Email("p18@x.test")).OnlyX(s.As(s.A, principal.Owner))
		_, _, err := op.Run(admin, s.Engine, people.ResendInvitation, op.ByID{ID: last.ID}, nil)
		refused(err)
		_, _, err = op.Run(s.As(s.B, principal.Admin), s.Engine, people.InviteUser, people.InviteUserInput{Email: "p@b.test"}, nil)
		require.NoError(t, err)

		s.onPlan(company.PlanStarter, 0)
		require.NoError(t, invite(101))
		s.onPlan(company.PlanEnterprise, 21)
		refused(invite(102))
		s.later(23*time.Hour + time.Minute) // the first one's day is over
		require.NoError(t, invite(103))
		refused(invite(104))
		s.later(time.Hour)
		require.NoError(t, invite(105))
	})
}

// Nothing that a company or a person is called can be followed in a mail.
func TestInvitationsCarryNoForeignLinks(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		require.NoError(t, s.Store.Write(s.system(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(s.A.Company.ID).SetName("Win at https://evil.example/now\r\nBcc: eve@evil.example").Exec(ctx)
		}))
		testkit.Run(t, s.World, s.As(s.A, principal.Admin), people.InviteUser, people.InviteUserInput{
			Email: newcomer, Name: new("<b>Visit</b> www.evil.example or call +1 555 123 4567"),
		})
		m := s.mails(newcomer)[0]
		require.Equal(t, "You are invited to Win at https: evil example/now Bcc: eve evil example", m.Get("Subject"))
		require.Empty(t, m.Get("Bcc"))
		require.NotContains(t, m.text, "evil.example")
		require.NotContains(t, m.text, "4567")
		require.NotContains(t, m.text, "<b>")
	})
}

// Whoever asks for a password has a link that works, however many strangers have asked for one before.
func TestResetWaitsForNobody(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		for range 5 {
			s.forgot(u.Email)
		}
		require.Len(t, s.links(u.Email), 5)
		for range 3 {
			s.forgot(u.Email)
		}
		require.Len(t, s.links(u.Email), 5)
		s.later(25 * time.Minute) // those that strangers asked for end soon
		s.forgot(u.Email)
		require.Len(t, s.links(u.Email), 6)
		s.forgot(u.Email)
		require.Len(t, s.links(u.Email), 6)
		require.Equal(t, 200, s.browser().get(s.lastLink(u.Email)).StatusCode)
	})
}

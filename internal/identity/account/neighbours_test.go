package account_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entaccount "atrium/ent/account"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// invitedBy has a company invite an address.
func (s *site) invitedBy(c *testkit.Tenant, email string) *ent.User {
	s.t.Helper()
	return testkit.Run(s.t, s.World, s.As(c, principal.Admin), people.InviteUser, people.InviteUserInput{Email: email})
}

// tokenOf is what a mailed link carries.
func tokenOf(link string) string {
	_, token, _ := strings.Cut(link, "token=")
	return token
}

// readdress changes a user's address through the pages.
func (s *site) readdress(b *browser, email string) *page {
	s.t.Helper()
	b.get("/account/email").submit("email", email)
	return b.get(s.lastLink(email)).submit("token")
}

// Whoever merely invites somebody, or has parted with them, hears nothing of their account: neither of passwords nor of the
// new address.
func TestAccountEventsStayWithCompanies(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		invited := s.invitedBy(s.B, u.Email)
		parted := s.AddUser(t, s.B, "parted@b.test", principal.Member)
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(parted.ID).SetAccountID(u.AccountID).SetStatus(user.StatusDeactivated).Exec(ctx)
		})
		b := s.signedIn(u, old)
		require.Equal(t, "Your password is changed", b.get("/account/password").submit("current", old, "password", fresh).title())
		b.get("/account/password").submit("current", "wrong", "password", fresh)
		require.Equal(t, "Your e-mail address is changed", s.readdress(b, "new@new.test").title())
		s.forgot("new@new.test")
		s.browser().get(s.lastLink("new@new.test")).submit("password", old+"!")

		for _, action := range []string{"user.password_changed", "user.email_changed", "user.password_reset", "session.created"} {
			require.Empty(t, s.entries(s.B.Company.ID, action), action)
			require.NotEmpty(t, s.entries(s.A.Company.ID, action), action)
		}
		require.Equal(t, u.Email, s.user(invited).Email)
		require.Equal(t, "parted@b.test", s.user(parted).Email)
		require.Equal(t, "new@new.test", s.user(u).Email)

		_, _, err := op.Run(s.As(s.B, principal.Admin), s.Engine, people.ReactivateUser, op.ByID{ID: parted.ID}, nil)
		require.NoError(t, err)
		require.Equal(t, "new@new.test", s.user(parted).Email, "who is active again shows the account as it is")
	})
}

// An invitation belongs to the address that it was mailed to. It stays behind when the account takes another address, and
// goes over to the account that takes the address.
func TestInvitationsStayWithTheirAddress(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		was := s.invitedBy(s.B, u.Email)
		wasLink := s.lastLink(u.Email)
		will := s.invitedBy(s.B, "new@new.test")
		willLink := s.lastLink("new@new.test")
		b := s.signedIn(u, old)
		require.Equal(t, "Your e-mail address is changed", s.readdress(b, "new@new.test").title(), "nobody has proven the address")
		require.Equal(t, u.AccountID, s.user(will).AccountID)
		require.NotEqual(t, u.AccountID, s.user(was).AccountID)
		require.Equal(t, u.Email, s.account(s.user(was)).Email)
		n, err := s.Store.Reader().Account.Query().Where(entaccount.Email("new@new.test")).Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, n)

		page := s.browser().get(wasLink)
		require.NotContains(t, page.html, "new@new.test", "the mailbox of the old address is told nothing of the new one")
		require.Equal(t, "Welcome to Acme", page.submit("name", "Other", "password", fresh).title())
		require.True(t, s.opens(s.user(was), fresh))
		require.True(t, s.opens(u, old))

		accept := b.get(willLink)
		require.Contains(t, accept.html, "is there already")
		require.Equal(t, "Welcome to Acme", b.get("/account/invitation?token="+tokenOf(willLink)).submit("token").title())
		require.EqualValues(t, user.StatusActive, s.user(will).Status)
	})
}

// A company that has invited the new address of one of its own people as somebody else does not keep the person from taking it.
func TestOwnCompanysInvitationIsNotInTheWay(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		s.invitedBy(s.A, "new@new.test")
		link := s.lastLink("new@new.test")
		b := s.signedIn(u, old)
		require.Equal(t, "Your e-mail address is changed", s.readdress(b, "new@new.test").title())
		require.Equal(t, "new@new.test", s.account(u).Email)
		require.Equal(t, u.Email, s.user(u).Email)
		requireDead(t, b.get("/account/invitation?token="+tokenOf(link)).submit("token"))
	})
}

// Somebody who was invited and never came waits for the invitation again after having been deactivated and reactivated.
func TestReactivatingWhoNeverCame(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		invited := s.invitedBy(s.B, s.member().Email)
		admin := s.As(s.B, principal.Admin)
		testkit.Run(t, s.World, admin, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: invited.ID}})
		again := testkit.Run(t, s.World, admin, people.ReactivateUser, op.ByID{ID: invited.ID})
		require.EqualValues(t, user.StatusInvited, again.Status)
		testkit.Refused(t, s.World, admin, people.ReactivateUser, op.ByID{ID: invited.ID}, apperr.Conflict)
	})
}

// An account that invitations alone have made gives the operator's new owner a password, like no account.
func TestCompanyForWhoWasInvited(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.invitedBy(s.B, "owner@new.test")
		made, err := company.Create(t.Context(), s.Store, company.CreateInput{Name: "New", Plan: "free", OwnerEmail: "owner@new.test", Hasher: testkit.Hasher})
		require.NoError(t, err)
		require.NotEmpty(t, made.Password)
		require.True(t, s.opens(made.Owner, made.Password))
		again, err := company.Create(t.Context(), s.Store, company.CreateInput{Name: "Newer", Plan: "free", OwnerEmail: "owner@new.test", Hasher: testkit.Hasher})
		require.NoError(t, err)
		require.Empty(t, again.Password)
		require.True(t, s.opens(made.Owner, made.Password))
	})
}

package account_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/user"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// The author of an imported file can have put anybody's address and a password of their own into it. So an account that an import
// brought joins no company and opens none, until its person has used a link that was mailed to the address.
func TestUnprovenAccount(t *testing.T) {
	eachOpen(t, func(t *testing.T, s *site) {
		guest := s.B.Users[principal.Agent]
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.Account.UpdateOneID(guest.AccountID).SetUnprovenSince(s.Clock.Now()).Exec(ctx)
		})
		_, err := company.Create(s.system(), s.Store, company.CreateInput{Name: "Navy", Plan: "free", OwnerEmail: guest.Email})
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), "%v", err)
		s.wantCompany("Navy", guest.Email)
		p := s.browser().get(s.lastLink(guest.Email)).submit("name", "Grace")
		require.Equal(t, http.StatusConflict, p.StatusCode)
		require.Contains(t, p.html, "Its owner asks for a new password first")
		require.Empty(t, s.opened("Navy"))

		require.Equal(t, http.StatusOK, s.forgot(guest.Email).StatusCode)
		require.Equal(t, "Your new password is set", s.browser().get(s.lastLink(guest.Email)).submit("password", fresh).title())
		require.Nil(t, s.account(guest).UnprovenSince)
		require.Equal(t, "Navy is ready", p.submit("name", "Grace").title())
	})
}

// The mailed invitation proves the address as well.
func TestUnprovenAccountOpensItsMail(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		guest := s.B.Users[principal.Agent]
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.Account.UpdateOneID(guest.AccountID).SetUnprovenSince(s.Clock.Now()).Exec(ctx)
		})
		u := s.invite(guest.Email)
		require.Equal(t, "Welcome to Acme", s.signedIn(guest, old).get("/account"+s.lastLink(guest.Email)).submit("token").title())
		require.Equal(t, user.StatusActive, s.user(u).Status)
		require.Nil(t, s.account(guest).UnprovenSince)
	})
}

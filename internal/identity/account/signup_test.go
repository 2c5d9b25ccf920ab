package account_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entaccount "atrium/ent/account"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/identity/account"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// eachOpen is each where anybody may open a company.
func eachOpen(t *testing.T, fn func(t *testing.T, s *site)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, serve(t, w, func(o *account.Options) { o.SignUp = true })) })
}

// opened returns the live companies of the name.
func (s *site) opened(name string) []*ent.Company {
	s.t.Helper()
	rows, err := s.Store.Reader().Company.Query().Where(company.Name(name)).All(s.system())
	require.NoError(s.t, err)
	return rows
}

func (s *site) wantCompany(name, email string) *page {
	s.t.Helper()
	return s.browser().get("/signup").submit("company", name, "email", email)
}

// A stranger names a company, proves the mailbox and owns the company.
func TestSignUp(t *testing.T) {
	eachOpen(t, func(t *testing.T, s *site) {
		require.Contains(t, s.wantCompany(" ", "nobody").faults(), "company's name")
		require.Equal(t, http.StatusOK, s.wantCompany("Navy", newcomer).StatusCode)
		link := s.lastLink(newcomer)
		require.True(t, strings.HasPrefix(link, "/signup/confirm?token="), link)
		require.NotContains(t, s.mails(newcomer)[0].text, "Navy", "strangers put no words of theirs into our mails")
		require.Empty(t, s.opened("Navy"))

		p := s.browser().get(link)
		require.Equal(t, "Create Navy", p.title())
		require.Equal(t, "no-referrer", p.Header.Get("Referrer-Policy"))
		require.Contains(t, p.submit("name", "Grace", "password", "short").faults(), "at least 8")
		require.Contains(t, p.submit("name", "", "password", fresh).faults(), "Enter your name")
		require.Equal(t, "Navy is ready", p.submit("name", "Grace Hopper", "password", fresh).title())

		opened := s.opened("Navy")
		require.Len(t, opened, 1)
		require.Equal(t, company.PlanFree, opened[0].Plan)
		owner, err := s.Store.Reader().User.Query().Where(user.CompanyID(opened[0].ID)).Only(s.system())
		require.NoError(t, err)
		require.Equal(t, []string{newcomer, "Grace Hopper", "owner", "active"}, []string{owner.Email, owner.Name, string(owner.Role), string(owner.Status)})
		entries := s.entries(opened[0].ID, "company.created")
		require.Len(t, entries, 1)
		require.Equal(t, []string{owner.ID, "127.0.0.1", "rid_test"}, []string{entries[0].ActorID, entries[0].IP, entries[0].RequestID})
		s.signedIn(owner, fresh)
		requireDead(t, s.browser().get(link))
		requireDead(t, p.submit("name", "Eve", "password", fresh))
		require.Len(t, s.opened("Navy"), 1)
	})
}

// Somebody who has an account keeps its password, and the first answer does not tell that there is one.
func TestSignUpOfAnAccount(t *testing.T) {
	eachOpen(t, func(t *testing.T, s *site) {
		u := s.B.Users[principal.Member]
		require.Equal(t, s.wantCompany("Twin", "nobody@x.test").html, s.wantCompany("Twin", u.Email).html)
		require.Len(t, s.mails("nobody@x.test"), 1, "both are mailed the same")
		p := s.browser().get(s.lastLink(u.Email))
		require.Zero(t, p.Find("input[type=password]").Length())
		require.Equal(t, "Twin is ready", p.submit("name", "Mia", "password", fresh).title())
		require.True(t, s.opens(u, old))
		n, err := s.Store.Reader().User.Query().Where(user.AccountID(u.AccountID), user.RoleEQ(user.RoleOwner), user.LiveUserIDIsNil()).Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, "Your account", s.signedIn(u, old).get("/account").title())
	})
}

func TestSignUpAtOnce(t *testing.T) {
	eachOpen(t, func(t *testing.T, s *site) {
		s.wantCompany("Navy", newcomer)
		require.Equal(t, 1, s.browser().get(s.lastLink(newcomer)).atOnce(4, "name", "Grace", "password", fresh))
		require.Len(t, s.opened("Navy"), 1)
		n, err := s.Store.Reader().Account.Query().Where(entaccount.Email(newcomer)).Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func TestSignUpExpires(t *testing.T) {
	eachOpen(t, func(t *testing.T, s *site) {
		s.wantCompany("Navy", newcomer)
		p := s.browser().get(s.lastLink(newcomer))
		require.Equal(t, http.StatusOK, p.StatusCode)
		s.later(24*time.Hour + time.Minute)
		requireDead(t, p.submit("name", "Grace", "password", fresh))
		require.Empty(t, s.opened("Navy"))
		for range 7 {
			require.Equal(t, http.StatusOK, s.wantCompany("Navy", newcomer).StatusCode)
		}
		require.Len(t, s.links(newcomer), 6)
	})
}

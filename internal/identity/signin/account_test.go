package signin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/factor"
	"atrium/internal/identity/signin"
)

// At /account/mfa people see their factors, name them, add and remove them.
func TestFactors(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).submit("code", a.now()).left().Get("code"))
		p := b.get("/account/mfa")
		require.Equal(t, []string{"Authenticator app"}, texts(p, ".factor strong"))
		require.Contains(t, p.Find("main").Text(), "You have 10 unused codes left")

		p = b.get(p.Find("a[href*=rename]").AttrOr("href", ""))
		p = p.submit("name", "  My   telephone ")
		require.Equal(t, []string{"My telephone"}, texts(p, ".factor strong"))
		p = b.get(p.Find("a[href*=rename]").AttrOr("href", "")).submit("name", strings.Repeat("x", 101))
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)

		p = b.get("/account/mfa?add=totp")
		s.later(time.Minute)
		p = p.submit("code", s.read(p).now())
		require.Equal(t, []string{"My telephone", "Authenticator app"}, texts(p, ".factor strong"), "no further codes")
		for range 2 {
			p = p.submit("factor", mustFactor(t, s))
		}
		require.Equal(t, "Add a second factor", p.title())
		n, err := s.Store.Reader().RecoveryCode.Query().Count(s.system())
		require.NoError(t, err)
		require.Zero(t, n)
		u, err := s.Store.Reader().User.Get(s.system(), s.agent().ID)
		require.NoError(t, err)
		require.False(t, u.MfaEnabled)
		require.Equal(t, []string{"factor_added", "factor_added", "factor_removed", "factor_removed"}, s.told.all())
		require.Len(t, s.audited("factor.deleted"), 2)
		require.Equal(t, []string{"pwd"}, s.browser().get(s.web()).signInAs(s.agent()).claims().AMR)
	})
}

// mustFactor returns the id of some factor.
func mustFactor(t *testing.T, s *site) string {
	t.Helper()
	f, err := s.Store.Reader().Factor.Query().Order(factor.ByCreatedAt()).First(s.system())
	require.NoError(t, err)
	return f.ID
}

// The last factor stays where a company requires one.
func TestLastFactorStays(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		s.requireMFA()
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).submit("code", a.now()).left().Get("code"))
		p := b.get("/account/mfa").submit("factor", mustFactor(t, s))
		require.Equal(t, http.StatusConflict, p.StatusCode)
		require.Contains(t, p.alert(), "requires a second factor")
		require.Equal(t, []string{"Authenticator app"}, texts(p, ".factor strong"))
	})
}

// New recovery codes make the old ones worthless.
func TestRenewCodes(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, old := s.enrolled(s.agent())
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).submit("code", a.now()).left().Get("code"))
		p := b.get("/account/mfa")
		_, fields := p.form("csrf")
		p = b.post("/account/mfa/codes", fields)
		fresh := texts(p, "[data-recovery-code]")
		require.Len(t, fresh, 10)
		require.NotContains(t, fresh, old[0])
		require.Equal(t, "Second factor", p.goOn().title())
		require.Contains(t, s.told.all(), signin.CodesRenewed)
		p = s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, http.StatusUnprocessableEntity, p.submit("code", old[0]).StatusCode)
		require.NotEmpty(t, p.submit("code", fresh[0]).left().Get("code"))
		require.Contains(t, b.get("/account/mfa").Find("main").Text(), "You have 9 unused codes left")
	})
}

// Factors are looked after with a recent proof only: an open browser is not enough.
func TestFactorsTakeFreshProof(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		require.Equal(t, "Sign in", s.browser().get("/account/mfa").title())
		a, _ := s.enrolled(s.agent())
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).submit("code", a.now()).left().Get("code"))
		p := b.get("/account/mfa")
		id := mustFactor(t, s)
		s.later(16 * time.Minute)
		again := b.get("/account/mfa")
		require.Equal(t, "Sign in", again.title())
		require.Contains(t, again.Find(".intro").Text(), "confirm that it is you")
		s.later(15 * time.Minute)
		require.Equal(t, "Sign in", p.submit("factor", id).title(), "nor is a page that was opened in time")
		n, err := s.Store.Reader().Factor.Query().Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NotEmpty(t, b.get(s.web()).left().Get("code"), "applications go on")
		require.Equal(t, "Second factor", again.signInAs(s.agent()).submit("code", a.now()).title())
	})
}

// Nobody reaches another one's factors.
func TestFactorsOfOthers(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.enrolled(s.agent())
		theirs := mustFactor(t, s)
		a, _ := s.enrolled(s.A.Users["member"])
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.A.Users["member"]).submit("code", a.now()).left().Get("code"))
		p := b.get("/account/mfa")
		for _, form := range []string{"remove", "rename"} {
			_, fields := p.form("factor")
			fields.Set("factor", theirs)
			fields.Set("name", "mine")
			require.Equal(t, "Second factor", b.post("/account/mfa/"+form, fields).title())
		}
		f, err := s.Store.Reader().Factor.Get(s.system(), theirs)
		require.NoError(t, err)
		require.Equal(t, "Authenticator app", f.Name)
	})
}

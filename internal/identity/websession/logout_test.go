package websession_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/grant"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/websession"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Signing out ends the session, the sign-in and everything from it, and deletes the cookie.
func TestLogout(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for name, own := range map[string]func(*http.Request){
			"by script":           header("X-Requested-With", "fetch"),
			"by the form":         header("Origin", h.base),
			"by a modern browser": header("Sec-Fetch-Site", "same-origin"),
		} {
			b := h.browser()
			value := b.signIn()
			row := h.row(value)
			r := b.send(http.MethodPost, "/logout", own)
			require.Equal(t, http.StatusSeeOther, r.StatusCode, name)
			require.Equal(t, h.base+"/", r.to)
			require.Empty(t, b.cookie(authn.SessionCookie), name)
			require.Nil(t, h.who(value), name)
			require.NotNil(t, h.row(value).EndedAt)
			signIn, err := h.Store.Reader().SignIn.Get(system(), row.SignInID)
			require.NoError(t, err)
			require.NotNil(t, signIn.EndedAt, "the provider would let the browser in again")
			g, err := h.Store.Reader().Grant.Query().Where(grant.ID(row.GrantID)).Only(system())
			require.NoError(t, err)
			require.NotNil(t, g.RevokedAt)
			require.Equal(t, http.StatusSeeOther, b.send(http.MethodPost, "/logout", own).StatusCode, "a second time")
		}
		require.Equal(t, []string{"allowed", "allowed", "allowed"}, h.audited("session.ended"))
	})
}

// CSRF on logout: neither another site nor a link can sign anybody out.
func TestLogoutByAnotherSite(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.browser()
		value := b.signIn()
		for name, headers := range map[string]http.Header{
			"nothing shows the origin": {},
			"another site's form":      {"Origin": {"https://evil.test"}},
			"a sandboxed form":         {"Origin": {"null"}},
			"another port":             {"Origin": {h.base + "0"}},
			"a sibling":                {"Sec-Fetch-Site": {"same-site"}},
			"another site":             {"Sec-Fetch-Site": {"cross-site"}, "X-Requested-With": {"x"}},
			"both at once":             {"Origin": {h.base, "https://evil.test"}, "X-Requested-With": {"x"}},
		} {
			r := b.send(http.MethodPost, "/logout", func(r *http.Request) { r.Header = headers.Clone() })
			require.Equal(t, http.StatusForbidden, r.StatusCode, name)
			require.NotNil(t, h.who(value), name)
		}
		r := b.send(http.MethodGet, "/logout")
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Contains(t, r.body, `<form method="post" action="/logout">`)
		require.Contains(t, r.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.Equal(t, "same-origin", r.Header.Get("Referrer-Policy"), "with none browsers would hide the form's origin")
		require.NotNil(t, h.who(value))
	})
}

func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base    string
		headers http.Header
		want    bool
	}{
		"no browser":              {"https://a.test", http.Header{}, true},
		"own":                     {"https://a.test", http.Header{"Origin": {"https://a.test"}, "Sec-Fetch-Site": {"same-origin"}}, true},
		"own, typed in":           {"https://a.test", http.Header{"Sec-Fetch-Site": {"none"}}, true},
		"own, at a port":          {"https://a.test:8443", http.Header{"Origin": {"https://a.test:8443"}}, true},
		"another host":            {"https://a.test", http.Header{"Origin": {"https://b.test"}}, false},
		"another port":            {"https://a.test", http.Header{"Origin": {"https://a.test:8443"}}, false},
		"another scheme":          {"https://a.test", http.Header{"Origin": {"http://a.test"}}, false},
		"a host that begins so":   {"https://a.test", http.Header{"Origin": {"https://a.test.evil.test"}}, false},
		"opaque":                  {"https://a.test", http.Header{"Origin": {"null"}}, false},
		"empty":                   {"https://a.test", http.Header{"Origin": {""}}, false},
		"two origins":             {"https://a.test", http.Header{"Origin": {"https://a.test", "https://a.test"}}, false},
		"cross-site":              {"https://a.test", http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
		"same-site":               {"https://a.test", http.Header{"Sec-Fetch-Site": {"same-site"}}, false},
		"cross-site, origin lies": {"https://a.test", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://a.test"}}, false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://a.test/graphql", nil)
		r.Header = c.headers
		err := websession.CheckOrigin(r, c.base)
		require.Equal(t, c.want, err == nil, name)
		if err != nil {
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), name)
		}
	}
}

// A sign-out in one browser does not affect other browsers of the person.
func TestLogoutEndsOneBrowser(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		laptop, phone := h.browser(), h.browser()
		one, two := laptop.signIn(), phone.signIn()
		laptop.send(http.MethodPost, "/logout", header("X-Requested-With", "x"))
		require.Nil(t, h.who(one))
		require.Equal(t, h.A.Users[principal.Agent].ID, h.who(two).ID)
	})
}

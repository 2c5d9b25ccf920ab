package websession_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// After the sign-in, the browser has a cookie that only it and the server see, and the database has the hash.
func TestSignIn(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.browser()
		r := b.follow("/login?returnTo="+url.QueryEscape("/services?status=active#top"), "")
		require.Equal(t, http.StatusSeeOther, r.StatusCode, r.body)
		require.Equal(t, h.base+"/services?status=active#top", r.to)
		var set *http.Cookie
		for _, c := range r.Cookies() {
			if c.Name == "__Host-atrium_session" {
				set = c
			}
		}
		require.NotNil(t, set)
		require.True(t, set.HttpOnly)
		require.True(t, set.Secure)
		require.Equal(t, http.SameSiteLaxMode, set.SameSite)
		require.Equal(t, "/", set.Path)
		require.Empty(t, set.Domain)
		require.Regexp(t, `^[A-Za-z0-9_-]{43}$`, set.Value)
		require.Empty(t, b.cookie("__Host-atrium_login"), "what was begun is used up")
		require.Equal(t, "no-store", r.Header.Get("Cache-Control"))

		agent := h.A.Users[principal.Agent]
		p := h.who(set.Value)
		require.NotNil(t, p)
		require.Equal(t, agent.ID, p.ID)
		require.Equal(t, agent.CompanyID, p.CompanyID)
		row := h.row(set.Value)
		require.Equal(t, []string{"pwd", "otp", "mfa"}, row.Methods)
		require.NotEmpty(t, row.SignInID)
		require.NotEmpty(t, row.GrantID)
		require.Equal(t, "127.0.0.1", row.IP)
		require.Contains(t, row.UserAgent, "Go-http-client")
		require.WithinDuration(t, h.Clock.Now().Add(time.Hour), row.ExpiresAt, time.Minute)
		require.NotContains(t, string(row.TokenHash), set.Value)
		require.Equal(t, []string{"allowed"}, h.audited("session.opened"))
	})
}

// The company's session lifetime applies, up to two days.
func TestSessionLifetime(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for minutes, want := range map[int]time.Duration{30: 30 * time.Minute, 10_000: 48 * time.Hour} {
			h.write(func(ctx context.Context, tx *store.Tx) error {
				return tx.Company.UpdateOneID(h.A.Company.ID).SetSessionLifetimeMinutes(minutes).Exec(ctx)
			})
			row := h.row(h.browser().signIn())
			require.WithinDuration(t, row.CreatedAt.Add(want), row.ExpiresAt, time.Second)
		}
	})
}

// A cookie value never survives a sign-in, neither one planted by an attacker nor the person's previous one.
func TestSessionFixation(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		attacker := h.browser()
		known := attacker.signIn()
		h.letIn(h.A.Owner)
		victim := h.browser()
		victim.give(authn.SessionCookie, known)
		first := victim.signIn()
		require.NotEqual(t, known, first)
		require.Nil(t, h.who(known), "the session that was foisted on the browser is over")
		require.Equal(t, h.A.Owner.ID, h.who(first).ID)

		second := victim.signIn()
		require.NotEqual(t, first, second)
		require.Nil(t, h.who(first))
		require.NotNil(t, h.who(second))

		chosen := strings.Repeat("A", 43)
		victim.give(authn.SessionCookie, chosen)
		require.NotEqual(t, chosen, victim.signIn())
		require.Nil(t, h.who(chosen))
	})
}

// A person who signs in again while working in the sandbox stays there. Another person starts in the live company.
func TestSandboxOutlivesANewProof(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.browser()
		value := b.signIn()
		h.write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Session.UpdateOneID(h.row(value).ID).SetSandbox(true).Exec(ctx)
		})
		require.True(t, h.who(b.signIn()).Sandbox)
		h.letIn(h.A.Owner)
		require.False(t, h.who(b.signIn()).Sandbox)
	})
}

// returnTo can only lead to this host.
func TestOpenRedirect(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		to := func(returnTo string) string {
			r := h.browser().follow("/login?"+url.Values{"returnTo": {returnTo}}.Encode(), "")
			require.Equal(t, http.StatusSeeOther, r.StatusCode, r.body)
			return r.to
		}
		for _, good := range []string{"/", "/a/b?c=d&e=/f#g", "/a//b", "/%2Fevil.test", "/.//evil.test", "/@evil.test", "/a:b", "/ä"} {
			require.True(t, strings.HasPrefix(to(good), h.base+"/"), good)
			u, err := url.Parse(to(good))
			require.NoError(t, err)
			require.Equal(t, strings.TrimPrefix(h.base, "https://"), u.Host, good)
		}
		for _, bad := range []string{
			"", "https://evil.test/", "//evil.test", "///evil.test", "/\\evil.test", "\\\\evil.test", "\\/evil.test", "/\t/evil.test", "\t//evil.test",
			"/\n/evil.test", "/\r\nSet-Cookie: a=b", " //evil.test", "javascript:alert(1)", "data:text/html,x", "evil.test", "./a", "?a", "#a", "@evil.test",
			".evil.test", ":443", "/a\\..\\b", "/a\x00", "/\xff", "/" + strings.Repeat("a", 1000), "/login", "/login?returnTo=/", "/login/callback?code=x", "/logout",
			"https:/evil.test", "https:evil.test", "//evil.test@" + strings.TrimPrefix(h.base, "https://"),
		} {
			require.Equal(t, h.base+"/", to(bad), "%q", bad)
		}
	})
}

// The authorization request contains everything that binds the answer: state, nonce and PKCE.
func TestWhatTheProviderIsAsked(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.browser()
		ask := func(query string) url.Values {
			r := b.send(http.MethodGet, "/login"+query)
			require.Equal(t, http.StatusSeeOther, r.StatusCode)
			u, err := url.Parse(r.to)
			require.NoError(t, err)
			require.Equal(t, h.base+"/oauth2/authorize", "https://"+u.Host+u.Path)
			return u.Query()
		}
		q, other := ask(""), ask("")
		require.Equal(t, "atrium-web", q.Get("client_id"))
		require.Equal(t, h.base+"/login/callback", q.Get("redirect_uri"))
		require.Equal(t, "S256", q.Get("code_challenge_method"))
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			require.GreaterOrEqual(t, len(q.Get(name)), 26, name)
			require.NotEqual(t, q.Get(name), other.Get(name), name)
		}
		require.Equal(t, "login", ask("?prompt=login").Get("prompt"))
		require.Equal(t, "select_account", ask("?prompt=select_account").Get("prompt"))
		for _, prompt := range []string{"none", "consent", "login none", "x"} {
			require.Empty(t, ask("?prompt="+url.QueryEscape(prompt)).Get("prompt"), prompt)
		}
		sealed := b.cookie("__Host-atrium_login")
		require.NotContains(t, sealed, q.Get("state"))
		require.Equal(t, http.StatusMethodNotAllowed, b.send(http.MethodPost, "/login").StatusCode)
	})
}

// Several tabs can sign in at once. Beyond the limit, the oldest sign-ins are dropped.
func TestSeveralTabs(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.browser()
		long := "/" + strings.Repeat("x", 990)
		var answers []string
		for _, path := range []string{"/a", "/b", "/c", "/d", "/e"} {
			answers = append(answers, b.answer("/login?returnTo="+path))
		}
		require.Equal(t, http.StatusBadRequest, b.send(http.MethodGet, answers[0]).StatusCode, "the fifth took its place")
		for i, path := range []string{"/b", "/c", "/d", "/e"} {
			r := b.send(http.MethodGet, answers[i+1])
			require.Equal(t, h.base+path, r.to, r.body)
		}
		for range 5 {
			b.answer("/login?returnTo=" + long)
			require.LessOrEqual(t, len("__Host-atrium_login")+len(b.cookie("__Host-atrium_login")), 4000, "browsers keep no larger cookie")
		}
		require.Equal(t, h.base+long, b.follow("/login?returnTo="+long, "").to)
	})
}

// A person who is deactivated, removed or signed out everywhere during the sign-in gets no session.
func TestStandingChangesWhileSigningIn(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		agent := h.A.Users[principal.Agent]
		set := func(fn func(*ent.UserUpdateOne)) {
			h.write(func(ctx context.Context, tx *store.Tx) error {
				u := tx.User.UpdateOneID(agent.ID)
				fn(u)
				return u.Exec(ctx)
			})
		}
		before := h.sessions()
		b := h.browser()
		back := b.answer("/login")
		set(func(u *ent.UserUpdateOne) { u.SetSignedOutAt(h.Clock.Now().Add(time.Second)) })
		h.turnedAway(b, back, "the provider takes back a code from before a sign-out")
		set(func(u *ent.UserUpdateOne) { u.ClearSignedOutAt() })

		back = b.answer("/login")
		set(func(u *ent.UserUpdateOne) { u.SetStatus("deactivated") })
		h.turnedAway(b, back)
		require.Equal(t, before, h.sessions())
	})
}

// When the provider refuses or does not answer, the person gets an error page.
func TestProviderThatRefuses(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.letIn(nil)
		b := h.browser()
		r := b.follow("/login", "")
		require.Equal(t, http.StatusForbidden, r.StatusCode)
		require.Contains(t, r.body, "You are not signed in")
		require.Contains(t, r.body, `href="/login"`)
		require.NotContains(t, r.body, "access_denied")
		require.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Empty(t, b.cookie(authn.SessionCookie))
	})
}

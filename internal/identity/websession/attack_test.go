package websession_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/authn"
	"atrium/internal/platform/principal"
)

// with returns a URL with one parameter changed; an empty value removes the parameter.
func with(t *testing.T, uri, name, value string) string {
	t.Helper()
	u, err := url.Parse(uri)
	require.NoError(t, err)
	q := u.Query()
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// turnedAway requires that an answer creates no session and sets no session cookie.
func (h *house) turnedAway(b *browser, uri string, why ...any) {
	h.t.Helper()
	before := h.sessions()
	r := b.send(http.MethodGet, uri)
	require.Equal(h.t, http.StatusBadRequest, r.StatusCode, why...)
	require.Empty(h.t, b.cookie(authn.SessionCookie), why...)
	require.Equal(h.t, before, h.sessions(), why...)
	require.Contains(h.t, r.body, `href="/login"`, "it leads to a new attempt")
}

// Login CSRF: an attacker cannot sign a victim's browser in as the attacker by sending it the attacker's own answer.
func TestAnswerOfAnotherBrowser(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		attackers := h.browser().answer("/login")
		victim := h.browser()
		h.turnedAway(victim, attackers, "a browser that began nothing")
		own := victim.answer("/login")
		h.turnedAway(victim, attackers, "a browser that began something else")
		require.Equal(t, http.StatusSeeOther, victim.send(http.MethodGet, own).StatusCode, "its own sign-in is not spoilt by that")
		require.NotNil(t, h.who(victim.cookie(authn.SessionCookie)))
	})
}

// An answer is valid once, and for ten minutes.
func TestAnswerIsUsedUp(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.browser()
		back := b.answer("/login")
		flow := b.cookie("__Host-atrium_login")
		require.Equal(t, http.StatusSeeOther, b.send(http.MethodGet, back).StatusCode)
		value := b.cookie(authn.SessionCookie)
		require.Equal(t, http.StatusBadRequest, b.send(http.MethodGet, back).StatusCode)
		require.NotNil(t, h.who(value))

		replayed := h.browser()
		replayed.give("__Host-atrium_login", flow) // an attacker with the cookie sends the code a second time
		h.turnedAway(replayed, back)

		late := h.browser()
		back = late.answer("/login")
		h.Clock.SetOffset(11 * time.Minute)
		h.turnedAway(late, back)
	})
}

// Code injection: the code of another sign-in is worthless, because PKCE and nonce bind a code to its sign-in.
func TestInjectedCode(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.letIn(h.A.Owner)
		owners, err := url.Parse(h.browser().answer("/login"))
		require.NoError(t, err)
		h.letIn(h.A.Users[principal.Member])
		attacker := h.browser()
		own := attacker.answer("/login")
		h.turnedAway(attacker, with(t, own, "code", owners.Query().Get("code")))
	})
}

// Mix-up attacks, and answers that are invalid in other ways.
func TestSpoiltAnswers(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for name, spoil := range map[string]func(string) string{
			"another provider's":    func(u string) string { return with(t, u, "iss", "https://evil.test") },
			"of no provider":        func(u string) string { return with(t, u, "iss", "") },
			"of two providers":      func(u string) string { return u + "&iss=" + url.QueryEscape("https://evil.test") },
			"without a state":       func(u string) string { return with(t, u, "state", "") },
			"with another state":    func(u string) string { return with(t, u, "state", "x") },
			"with two states":       func(u string) string { return u + "&state=x" },
			"without a code":        func(u string) string { return with(t, u, "code", "") },
			"with another code":     func(u string) string { return with(t, u, "code", "x") },
			"with two codes":        func(u string) string { return u + "&code=x" },
			"that cannot be parsed": func(u string) string { return u + "&x=%zz" },
		} {
			b := h.browser()
			h.turnedAway(b, spoil(b.answer("/login")), name)
		}
		b := h.browser()
		require.Equal(t, http.StatusMethodNotAllowed, b.send(http.MethodPost, b.answer("/login")).StatusCode)
	})
}

// Cookie tossing: a cookie that occurs twice, or that was not made here, is ignored.
func TestTossedCookies(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		attacker := h.browser()
		attackers := attacker.answer("/login")
		foisted := attacker.cookie("__Host-atrium_login")
		toss := func(name, value string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Add("Cookie", name+"="+value) }
		}
		victim := h.browser()
		victim.answer("/login")
		before := h.sessions()
		r := victim.send(http.MethodGet, attackers, toss("__Host-atrium_login", foisted))
		require.Equal(t, http.StatusBadRequest, r.StatusCode, "beside the victim's own")
		for _, name := range []string{"atrium_login", "__Secure-atrium_login", "__host-atrium_login"} {
			r := h.browser().send(http.MethodGet, attackers, toss(name, foisted))
			require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
		}
		sealed, err := h.Engine.Sealer.Seal([]byte(`[{"s":"x","n":"y","v":"z","r":"/","i":"`+h.base+`","b":9999999999}]`), []byte("something else"))
		require.NoError(t, err)
		for _, forged := range []string{
			base64.RawURLEncoding.EncodeToString([]byte(`[{"s":"x"}]`)), base64.RawURLEncoding.EncodeToString(sealed), "x", foisted[:len(foisted)-4] + "AAAA",
		} {
			r := h.browser().send(http.MethodGet, h.base+"/login/callback?state=x&code=y&iss="+url.QueryEscape(h.base), toss("__Host-atrium_login", forged))
			require.Equal(t, http.StatusBadRequest, r.StatusCode)
		}
		require.Equal(t, before, h.sessions())

		// With a second session cookie beside the genuine one, the browser's logout ends neither session.
		value := victim.signIn()
		stolen := attacker.signIn()
		victim.send(http.MethodPost, "/logout", header("X-Requested-With", "x"), toss(authn.SessionCookie, stolen))
		require.NotNil(t, h.who(value))
		require.NotNil(t, h.who(stolen))
	})
}

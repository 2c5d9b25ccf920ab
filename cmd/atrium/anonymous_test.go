package main_test

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// from returns a client that calls from a given local address and follows no redirects.
func (p place) from(address string) *http.Client {
	p.t.Helper()
	c := p.client()
	tr, ok := c.Transport.(*http.Transport)
	require.True(p.t, ok)
	tr.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Anonymous calls to the identity provider are limited by address: calls that write rows, calls with wrong secrets, codes or
// tokens, and pages.
func TestAnonymousCallsAreBounded(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve()
	first := p.firstRun()
	confidential := p.application(first.Company.ID, "https://app.example/cb", "--confidential")
	id, ok := confidential["clientId"].(string)
	require.True(t, ok)
	authorize := "/oauth2/authorize?" + url.Values{
		"client_id": {first.OAuthClient.ClientID}, "redirect_uri": {"http://127.0.0.1/callback"}, "response_type": {"code"}, "scope": {"openid"},
		"code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"},
	}.Encode()
	wrong := url.Values{"client_id": {id}, "client_secret": {"wrong"}}
	token := url.Values{"grant_type": {"authorization_code"}, "code": {"none"}, "client_id": {first.OAuthClient.ClientID},
		"redirect_uri": {"http://127.0.0.1/callback"}, "code_verifier": {strings.Repeat("v", 43)}}
	form := func(more url.Values) url.Values { return merged(wrong, more) }
	for at, kind := range []struct {
		name  string
		most  int // number of calls before the limit
		calls []strange
	}{
		{"authorization requests", 600, []strange{{path: authorize, before: 302}}},
		{"web sign-in", 600, []strange{{path: "/login", before: 303}, {path: "/login/callback?code=x&state=y", before: 400}, {path: "/logout", before: 200}, {path: "/oauth2/end-session", before: 200}}},
		{"pages", 1800, []strange{
			{path: "/signin", before: 410}, {path: "/forgot", before: 200}, {path: "/reset?token=none", before: 410}, {path: "/invitation?token=none", before: 410},
		}},
		{"programs", 1200, []strange{
			{path: "/oauth2/token", form: token, before: 400},
			{path: "/oauth2/token", form: form(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}), before: 401},
			{path: "/oauth2/introspect", form: form(url.Values{"token": {"x"}}), before: 401},
			{path: "/oauth2/revoke", form: form(url.Values{"token": {"x"}}), before: 401},
			{path: "/oauth2/userinfo", token: "no.such.token", before: 401},
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			flood, other := p.from("127.3.0."+strconv.Itoa(1+at)), p.from("127.4.0.1")
			passed := 0
			for ; passed <= 2*kind.most; passed++ {
				c := kind.calls[passed%len(kind.calls)]
				a := c.send(t, n, flood)
				if a.status == 429 {
					break
				}
				require.Equal(t, c.before, a.status, "%s: %s", c.path, a.body)
			}
			require.GreaterOrEqual(t, passed, kind.most)
			require.LessOrEqual(t, passed, kind.most+1)
			for _, c := range kind.calls {
				a := c.send(t, n, flood)
				require.Equal(t, 429, a.status, c.path)
				require.NotEmpty(t, a.header.Get("Retry-After"))
				if kind.name == "programs" {
					require.Contains(t, a.body, "temporarily_unavailable")
				} else {
					require.Contains(t, a.body, "One moment, please")
					require.Contains(t, a.header.Get("Content-Security-Policy"), "frame-ancestors")
				}
				require.Equal(t, c.before, c.send(t, n, other).status, "others are served")
			}
		})
	}
}

// strange is an anonymous call. With a form it is a POST.
type strange struct {
	path, token string
	form        url.Values
	before      int // status before the limit is reached
}

func (c strange) send(t *testing.T, n *node, by *http.Client) answer {
	t.Helper()
	method, kind := http.MethodGet, []string{}
	if c.form != nil {
		method, kind = http.MethodPost, []string{"Content-Type", "application/x-www-form-urlencoded"}
	}
	a, err := send(by, method, n.base+c.path, c.token, c.form.Encode(), kind...)
	require.NoError(t, err)
	return a
}

func merged(a, b url.Values) url.Values {
	out := url.Values{}
	for _, v := range []url.Values{a, b} {
		for name, values := range v {
			out[name] = values
		}
	}
	return out
}

package main_test

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// from returns a client that calls from an address of this machine and follows no redirect.
func (p place) from(address string) *http.Client {
	p.t.Helper()
	c := p.client()
	tr, ok := c.Transport.(*http.Transport)
	require.True(p.t, ok)
	tr.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// What strangers do at the identity provider is bounded by address: what writes rows, what is looked up for wrong secrets,
// codes and tokens, and the pages.
func TestStrangersAreBounded(t *testing.T) {
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
	for at, c := range []struct {
		name, method, path, secret string
		form                       url.Values
		before, most               int // status until then, calls that pass
	}{
		{"authorize", "GET", authorize, "", nil, 302, 120},
		{"web sign-in", "GET", "/login", "", nil, 303, 120},
		{"callback", "GET", "/login/callback?code=x&state=y", "", nil, 400, 120},
		{"end of session", "GET", "/oauth2/end-session", "", nil, 200, 120},
		{"sign-in page", "GET", "/signin", "", nil, 410, 600},
		{"forgotten password", "GET", "/forgot", "", nil, 200, 600},
		{"invitation", "GET", "/invitation?token=none", "", nil, 410, 600},
		{"wrong code", "POST", "/oauth2/token", "", token, 400, 300},
		{"wrong secret", "POST", "/oauth2/token", "", merged(wrong, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}), 401, 300},
		{"introspection", "POST", "/oauth2/introspect", "", merged(wrong, url.Values{"token": {"x"}}), 401, 300},
		{"revocation", "POST", "/oauth2/revoke", "", merged(wrong, url.Values{"token": {"x"}}), 401, 300},
		{"userinfo", "GET", "/oauth2/userinfo", "no.such.token", nil, 401, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			flood, other := p.from("127.3.0."+string(rune('1'+at%9))+string(rune('0'+at/9))), p.from("127.4.0.1")
			call := func(client *http.Client) answer {
				kind := []string{}
				if c.form != nil {
					kind = []string{"Content-Type", "application/x-www-form-urlencoded"}
				}
				a, err := send(client, c.method, n.base+c.path, c.secret, c.form.Encode(), kind...)
				require.NoError(t, err)
				return a
			}
			passed, a := 0, call(flood)
			for ; a.status != 429 && passed < 2*c.most; a = call(flood) {
				require.Equal(t, c.before, a.status, a.body)
				passed++
			}
			require.Equal(t, 429, a.status)
			require.GreaterOrEqual(t, passed, c.most)
			require.LessOrEqual(t, passed, c.most+1)
			require.NotEmpty(t, a.header.Get("Retry-After"))
			if c.form == nil && c.secret == "" {
				require.Contains(t, a.body, "One moment, please")
				require.Contains(t, a.header.Get("Content-Security-Policy"), "frame-ancestors")
			} else {
				require.Contains(t, a.body, "temporarily_unavailable")
			}
			require.Equal(t, c.before, call(other).status, "others are served")
		})
	}
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

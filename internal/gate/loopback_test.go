package gate_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/apperr"
	"atrium/internal/test/testkit"
)

// operators is the address of the operators' listener in these tests.
var operators = netip.MustParseAddrPort("127.0.0.1:9443")

// arriving returns a plain call to the operators' listener as net/http would hand it on, changed.
func arriving(at string, change func(*http.Request)) *http.Request {
	ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at)))
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:9443/graphql", nil)
	r.RemoteAddr = "127.0.0.1:40000"
	if change != nil {
		change(r)
	}
	return r
}

// Only a call that stays on the machine, names it and is no other site's passes the operators' door.
func TestLoopback(t *testing.T) {
	t.Parallel()
	g := newGate(testkit.SQLiteWorld(t), nil)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for name, c := range map[string]struct {
		at     string
		change func(*http.Request)
		passes bool
	}{
		"as it should be":                  {passes: true},
		"by name":                          {change: host("localhost:9443"), passes: true},
		"by name in capitals":              {change: host("LOCALHOST:9443"), passes: true},
		"through a tunnel's port":          {change: host("localhost:10000"), passes: true},
		"by IPv6":                          {change: host("[::1]:9443"), passes: true},
		"its own page":                     {change: header("Origin", "http://127.0.0.1:9443"), passes: true},
		"its own page, as browsers say it": {change: header("Sec-Fetch-Site", "same-origin"), passes: true},
		"an address that was typed in":     {change: func(r *http.Request) { r.Method = "GET"; r.Header.Set("Sec-Fetch-Site", "none") }, passes: true},
		"another name (DNS rebinding)":     {change: host("rebound.test:9443")},
		"a name that begins like one":      {change: host("localhost.evil.test:9443")},
		"a number that begins like one":    {change: host("127.0.0.1.evil.test")},
		"no name":                          {change: host("")},
		"the machine's other address":      {change: host("10.0.0.5:9443")},
		"everywhere":                       {change: host("0.0.0.0:9443")},
		"another origin":                   {change: header("Origin", "https://evil.test")},
		"another port's page":              {change: header("Origin", "http://127.0.0.1:3000")},
		"a page without origin":            {change: header("Origin", "null")},
		"another site, as browsers say it": {change: header("Sec-Fetch-Site", "cross-site")},
		"another port, as browsers say it": {change: header("Sec-Fetch-Site", "same-site")},
		"another machine":                  {change: func(r *http.Request) { r.RemoteAddr = "10.0.0.9:40000" }},
		"nobody knows where from":          {change: func(r *http.Request) { r.RemoteAddr = "@" }},
		"at another listener":              {at: "127.0.0.1:8443"},
		"at another address":               {at: "10.0.0.5:9443"},
		"at a listener without an address": {change: func(r *http.Request) {
			*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.UnixAddr{Name: "@", Net: "unix"}))
		}},
	} {
		if c.at == "" {
			c.at = operators.String()
		}
		reached := false
		w := httptest.NewRecorder()
		g.Loopback(operators, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })).ServeHTTP(w, arriving(c.at, c.change))
		require.Equal(t, c.passes, reached, name)
		require.NotEmpty(t, w.Header().Get("X-Request-Id"), name)
		if !c.passes {
			require.Equal(t, http.StatusForbidden, w.Code, name)
			require.Contains(t, w.Body.String(), string(apperr.Forbidden), name)
		}
	}
}

// A listener that is not on loopback has no such door, whatever the call says.
func TestLoopbackOnlyOnLoopback(t *testing.T) {
	t.Parallel()
	g := newGate(testkit.SQLiteWorld(t), nil)
	for _, at := range []string{"0.0.0.0:9443", "10.0.0.5:9443", "[::]:9443"} {
		w := httptest.NewRecorder()
		g.Loopback(netip.MustParseAddrPort(at), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("it was processed")
		})).ServeHTTP(w, arriving(at, nil))
		require.Equal(t, http.StatusForbidden, w.Code)
	}
}

// A cookie is no credential there, not even where the door behind takes them; a key is.
func TestLoopbackTakesCookiesOff(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	g := newGate(w, nil)
	door := g.Loopback(operators, g.Guard(gate.Cookies, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Empty(t, r.Header["Cookie"])
		w.WriteHeader(http.StatusNoContent)
	}), func(w http.ResponseWriter, r *http.Request, err error) { gate.Fail(g.Log, w, r, err) }))
	send := func(change func(*http.Request)) int {
		rec := httptest.NewRecorder()
		r := arriving(operators.String(), change)
		before := r.Header.Clone()
		door.ServeHTTP(rec, r)
		require.Equal(t, before, r.Header, "what came in is not changed")
		return rec.Code
	}
	cookie := func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: authn.SessionCookie, Value: "x"})
		r.Header.Set("X-Requested-With", "test")
	}
	require.Equal(t, http.StatusUnauthorized, send(cookie))
	require.Equal(t, http.StatusNoContent, send(func(r *http.Request) {
		cookie(r)
		r.Header.Set("X-Api-Key", w.A.LiveKey)
	}))
}

// The public front takes nothing that came without TLS, from the operators' address neither.
func TestFrontIsNoLoopback(t *testing.T) {
	t.Parallel()
	g := newGate(testkit.SQLiteWorld(t), nil)
	w := httptest.NewRecorder()
	r := arriving(operators.String(), nil)
	g.Front(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was processed") })).ServeHTTP(w, r)
	require.Contains(t, w.Body.String(), string(apperr.HTTPSRequired))
	r.TLS = &tls.ConnectionState{}
	passed := false
	g.Front(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })).ServeHTTP(httptest.NewRecorder(), r)
	require.True(t, passed)
}

package provider

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var registeredURIs = []string{"https://app.test/cb", "https://app.test/cb?x=%41", "http://127.0.0.1/cb", "http://[::1]:8080/cb?n=1", "http://127.0.0.1"}

// Redirect URIs are texts: what differs in one byte is another one. Only the port of a loopback address is free.
func TestRedirectAllowed(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"https://app.test/cb", "https://app.test/cb?x=%41", "http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb",
		"http://[::1]/cb?n=1", "http://[::1]:8080/cb?n=1", "http://[::1]:9/cb?n=1", "http://127.0.0.1:8080",
	} {
		require.True(t, redirectAllowed(registeredURIs, uri), uri)
	}
	for _, uri := range []string{
		"",
		"https://app.test", "https://app.test/", "https://app.test/cb/", "https://app.test/cb?", "https://app.test/cb#", "https://app.test/CB",
		"https://APP.test/cb", "HTTPS://app.test/cb", "https://app.test/./cb", "https://app.test/%63b", "https://app.test//cb",
		"https://app.test/cb?x=A", "https://app.test:443/cb", "https://app.test./cb", "https://app.test@evil.test/cb",
		"https://user@app.test/cb", "https://app.test\\@evil.test/cb", "https://evil.test/https://app.test/cb", " https://app.test/cb", "https://app.test/cb\n",
		"http://127.0.0.1:0/cb", "http://127.0.0.1:65536/cb", "http://127.0.0.1:/cb", "http://127.0.0.1:+80/cb", "http://127.0.0.1:80 /cb",
		"http://127.0.0.1:80@evil.test/cb", "http://127.0.0.1@evil.test/cb", "http://127.0.0.1.evil.test/cb", "http://127.0.0.1:80.evil.test/cb",
		"http://127.0.0.1:80/cb/../x", "http://127.0.0.1:80/cb?x", "http://127.0.0.1:80/cb#x", "http://127.0.0.1:80/CB", "http://127.0.0.1:80\\@evil.test/cb",
		"https://127.0.0.1:80/cb", "HTTP://127.0.0.1:80/cb", "http://127.1/cb", "http://0x7f000001/cb", "http://127.0.0.2/cb", "http://localhost/cb", "http://localhost:80/cb",
		"http://[::1]:9/cb", "http://[::ffff:127.0.0.1]/cb", "http://[0:0:0:0:0:0:0:1]/cb?n=1", "http://[::1%25lo]/cb?n=1", "http://127.0.0.1:9/cb?n=1",
		"http://127.0.0.1:８０/cb",
	} {
		require.False(t, redirectAllowed(registeredURIs, uri), uri)
	}
}

// Whatever is allowed leads a browser to a host that was registered.
func FuzzRedirectAllowed(f *testing.F) {
	for _, uri := range append(registeredURIs, "http://127.0.0.1:80@evil.test/cb", "http://[::1]:1/cb?n=1", "http://127.0.0.1:99999/cb", "http://127.0.0.1:\u0661/cb") {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if !redirectAllowed(registeredURIs, uri) {
			return
		}
		u, err := url.Parse(uri)
		require.NoError(t, err)
		require.Nil(t, u.User)
		require.Empty(t, u.Fragment)
		switch u.Scheme {
		case "https":
			require.Contains(t, registeredURIs, uri)
		case "http":
			require.Contains(t, []string{"127.0.0.1", "::1"}, u.Hostname())
			port := ""
			if u.Port() != "" {
				port = ":" + u.Port()
			}
			bare := strings.Replace(uri, u.Host, strings.TrimSuffix(u.Host, port), 1)
			require.True(t, redirectAllowed(registeredURIs, bare), "only the port differs")
		default:
			t.Fatalf("%q has another scheme", uri)
		}
	})
}

func TestOriginOf(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://App.test/cb?x": "https://app.test", "https://app.test:443/": "https://app.test", "https://app.test:8443/": "https://app.test:8443",
		"http://127.0.0.1:80/cb": "http://127.0.0.1", "http://[::1]:9/cb": "http://[::1]:9", "": "", "/cb": "", "mailto:a@b.test": "",
	} {
		require.Equal(t, want, originOf(uri), uri)
	}
}

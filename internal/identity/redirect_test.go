package identity

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var registeredURIs = []string{
	"https://app.test/cb", "https://app.test/cb?x=%41", "http://127.0.0.1/cb", "http://[::1]:8080/cb?n=1", "http://127.0.0.1", "http://localhost:5173/l",
	"com.example.app:/cb",
}

// What may be registered is what can match, and leads to nobody but the application.
func TestValidRedirect(t *testing.T) {
	t.Parallel()
	for _, uri := range append(registeredURIs, "https://app.test", "https://app.test:8443/cb?x=1&y=[2]", "http://localhost", "http://localhost/cb?x=1",
		"com.example.app://cb", "app.example-1:/", "https://xn--lan-9la.test/cb", "https://[2001:db8::1]/cb",
	) {
		require.True(t, validRedirect(uri), uri)
	}
	for _, uri := range []string{
		"", "/cb", "//app.test/cb", "https:", "https://", "https:/cb", "http://app.test/cb", "ftp://127.0.0.1/", "HTTP://localhost/cb",
		"https://*.app.test/cb", "https://app.test/*", "https://app.test/cb?next=*", "http://localhost:*/cb", "com.example.*:/cb", "com.example.app:/*",
		"https://app.test/#x", "https://app.test/#", "com.example.app:/cb#", "https://u:p@app.test/", "https://u@app.test/", "http://localhost@evil.test/",
		"http://u@localhost/", "com.example.app://u@cb/", "https://app.test/ x", "https://app.test\\@evil.test", "https://app.test/\n", "https://app.test:port/",
		"http://localhost.evil.test/", "http://127.0.0.1.evil.test/", "http://127.0.0.2/cb", "http://[::2]/", "http://localhost:0/", "http://localhost:65536/",
		"javascript:alert(1)", "javascript:/alert(1)", "data:text/html,x", "myapp:/cb", "myapp://cb", "com.example.app:cb", ".app:/cb", "com..app:/cb", "1.app:/cb",
		"com.example.app/cb", "https://app.test/" + strings.Repeat("x", 2000),
	} {
		require.False(t, validRedirect(uri), uri)
	}
}

func TestFormAction(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://App.test/cb?x": "https://app.test", "http://localhost:5173/": "http://localhost:5173", "com.example.app:/cb": "com.example.app:",
		"com.example.app://cb": "com.example.app:", "http://[::1]:99/cb": "http:", "https://x.test;script-src/": "https:",
		"app://cb": "", "javascript:alert(1)": "", "https://x.test; script-src *": "", "": "",
	} {
		require.Equal(t, want, FormAction(uri), uri)
	}
}

// Redirect URIs are texts: what differs in one byte is another one. Only the port of a loopback address is free.
func TestRedirectAllowed(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"https://app.test/cb", "https://app.test/cb?x=%41", "http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb",
		"http://[::1]/cb?n=1", "http://[::1]:8080/cb?n=1", "http://[::1]:9/cb?n=1", "http://127.0.0.1:8080", "http://localhost/l", "http://localhost:9/l", "com.example.app:/cb",
	} {
		require.True(t, RedirectAllowed(registeredURIs, uri), uri)
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
		"http://127.0.0.1:８０/cb", "http://localhost.evil.test/l", "http://localhost:9@evil.test/l", "http://LOCALHOST/l", "https://localhost/l", "http://127.0.0.1/l",
		"com.example.app:/cb/", "com.example.app:cb", "com.example.app://cb", "COM.example.app:/cb", "com.example.app2:/cb",
	} {
		require.False(t, RedirectAllowed(registeredURIs, uri), uri)
	}
}

// Whatever is allowed leads a browser to a host that was registered.
func FuzzRedirectAllowed(f *testing.F) {
	for _, uri := range append(registeredURIs, "http://127.0.0.1:80@evil.test/cb", "http://[::1]:1/cb?n=1", "http://127.0.0.1:99999/cb", "http://127.0.0.1:\u0661/cb") {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if !RedirectAllowed(registeredURIs, uri) {
			return
		}
		u, err := url.Parse(uri)
		require.NoError(t, err)
		require.Nil(t, u.User)
		require.Empty(t, u.Fragment)
		switch u.Scheme {
		case "https", "com.example.app":
			require.Contains(t, registeredURIs, uri)
		case "http":
			require.Contains(t, []string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
			port := ""
			if u.Port() != "" {
				port = ":" + u.Port()
			}
			bare := strings.Replace(uri, u.Host, strings.TrimSuffix(u.Host, port), 1)
			require.True(t, RedirectAllowed(registeredURIs, bare), "only the port differs")
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
		"com.example.app://cb": "",
	} {
		require.Equal(t, want, OriginOf(uri), uri)
	}
}

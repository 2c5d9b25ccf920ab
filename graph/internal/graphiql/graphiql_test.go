package graphiql

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w
}

// The files in dist were built from the sources beside it; go generate builds them anew.
func TestBundleIsOfItsSources(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for _, name := range []string{"build.mjs", "package-lock.json", "package.json", "page.css", "page.jsx"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		sum.Write([]byte(name + "\n"))
		sum.Write(b)
	}
	stamp, err := os.ReadFile("dist/sources.sha256")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(stamp)), hex.EncodeToString(sum.Sum(nil)), "run: go generate ./graph/internal/graphiql")
}

// The page loads only its own assets, cannot be framed, and is not cached.
func TestPage(t *testing.T) {
	t.Parallel()
	page := get(t, http.MethodGet, Path)
	require.Equal(t, http.StatusOK, page.Code)
	body, policy := page.Body.String(), page.Header().Get("Content-Security-Policy")
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if m[1] != "data:," {
			require.Equal(t, http.StatusOK, get(t, http.MethodGet, m[1]).Code, m[1])
		}
	}
	require.NotRegexp(t, `<script[^>]*>[^<]`, body, "an inline script")
	require.Contains(t, policy, "default-src 'none'")
	require.Contains(t, policy, "script-src 'self';")
	require.Contains(t, policy, "frame-ancestors 'none'")
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, policy, "http")
	nonce := regexp.MustCompile(`nonce="([A-Z2-7]{26})"`).FindStringSubmatch(body)
	require.NotNil(t, nonce)
	require.Contains(t, policy, "'nonce-"+nonce[1]+"'")
	require.NotContains(t, get(t, http.MethodGet, Path).Body.String(), nonce[1], "it is of one answer")
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"Content-Type": "text/html; charset=utf-8",
	} {
		require.Equal(t, want, page.Header().Get(name))
	}
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/graphiq", Path + "/", Path + "x", Path + "/page.html", Path + "/sources.sha256", Path + "/../graphiql.js", Path + "/dist/graphiql.js"} {
		require.Equal(t, http.StatusNotFound, get(t, http.MethodGet, path).Code, path)
	}
	w := get(t, http.MethodPost, Path)
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
}

// The bundle is complete: it names no address that a browser would load from, and includes the licences.
func TestBundle(t *testing.T) {
	t.Parallel()
	css := get(t, http.MethodGet, Path+"/graphiql.css").Body.String()
	require.NotRegexp(t, `url\(["']?(https?:)?//`, css)
	require.NotContains(t, css, "@import")
	licences := get(t, http.MethodGet, Path+"/licences.txt").Body.String()
	for _, name := range []string{"graphiql 4", "react 19", "codemirror 5", "graphql-sse 2"} {
		require.Contains(t, licences, name)
	}
	require.Less(t, len(get(t, http.MethodGet, Path+"/graphiql.js").Body.String()), 1_500_000, "say why it has grown")
}

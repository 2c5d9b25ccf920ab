//go:build !noconsole

package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func built(t *testing.T) *Console {
	t.Helper()
	c, err := New(Options{BaseURL: "https://api.test", AuthURL: "https://auth.test", Version: `1"<`})
	require.NoError(t, err)
	return c
}

func (c *Console) get(t *testing.T, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	c.ServeHTTP(w, r)
	return w
}

// dist was built from the current sources in web. If this fails, run go generate.
func TestBundleIsOfItsSources(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard")
	cmd.Dir = "web"
	out, err := cmd.Output()
	require.NoError(t, err)
	names := strings.Fields(string(out))
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range slices.Compact(names) {
		b, err := os.ReadFile(path.Join("web", name))
		require.NoError(t, err)
		sum.Write([]byte(name + "\n"))
		sum.Write(b)
	}
	stamp, err := os.ReadFile("dist/sources.sha256")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(stamp)), hex.EncodeToString(sum.Sum(nil)), "run: go generate ./internal/gate/console")
}

func TestIndex(t *testing.T) {
	t.Parallel()
	c := built(t)
	page := c.get(t, http.MethodGet, "/app/requests/req_1")
	require.Equal(t, http.StatusOK, page.Code)
	body, policy := page.Body.String(), page.Header().Get("Content-Security-Policy")
	require.NotRegexp(t, `<script[^>]*>[^<]`, body, "an inline script")
	require.NotContains(t, body, "<style")
	require.Contains(t, body, `content="{&#34;authUrl&#34;:&#34;https://auth.test&#34;`)
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if m[1] != "data:," {
			require.Equal(t, http.StatusOK, c.get(t, http.MethodGet, m[1]).Code, m[1])
		}
	}
	for _, directive := range []string{
		"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	} {
		require.Contains(t, policy, directive)
	}
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, policy, "http")
	nonce := regexp.MustCompile(`nonce="([A-Z2-7]{26})"`).FindStringSubmatch(body)
	require.NotNil(t, nonce)
	require.Contains(t, policy, "style-src 'self' 'nonce-"+nonce[1]+"'")
	require.NotContains(t, c.get(t, http.MethodGet, "/app").Body.String(), nonce[1], "it is of one answer")
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Content-Type": "text/html; charset=utf-8",
	} {
		require.Equal(t, want, page.Header().Get(name))
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	c := built(t)
	home := c.get(t, http.MethodGet, "/")
	require.Equal(t, http.StatusSeeOther, home.Code)
	require.Equal(t, "/app", home.Header().Get("Location"))
	require.Equal(t, http.StatusNotFound, c.get(t, http.MethodGet, "/app/assets/none-12345678.js").Code)
	require.Equal(t, http.StatusOK, c.get(t, http.MethodHead, "/app/anything").Code)
	post := c.get(t, http.MethodPost, "/app")
	require.Equal(t, http.StatusMethodNotAllowed, post.Code)
	require.Equal(t, "GET, HEAD", post.Header().Get("Allow"))
	require.Contains(t, c.get(t, http.MethodGet, "/app/licences.txt").Body.String(), "react-dom 19")
	for _, private := range []string{"documents.json", "sources.sha256", "index.html"} { // these paths return the index, not the files
		require.Equal(t, "text/html; charset=utf-8", c.get(t, http.MethodGet, "/app/"+private).Header().Get("Content-Type"))
	}
}

// Assets are cached for a year, compressed for clients that accept gzip, and have a hash of at least eight characters in their
// names.
func TestAssets(t *testing.T) {
	t.Parallel()
	c := built(t)
	require.NotEmpty(t, c.assets)
	for name, a := range c.assets {
		require.Regexp(t, `^assets/[\w.]+-[\w-]{8,}\.(js|css)$`, name)
		require.NotRegexp(t, `(?:from|import\()["']https?:|url\(["']?(?:https?:)?//`, string(a.content), name)
		plain := c.get(t, http.MethodGet, "/app/"+name)
		require.Equal(t, "public, max-age=31536000, immutable", plain.Header().Get("Cache-Control"))
		require.Equal(t, a.content, plain.Body.Bytes())
		if a.compressed == nil {
			continue
		}
		small := c.get(t, http.MethodGet, "/app/"+name, "Accept-Encoding", "gzip, br")
		require.Equal(t, "gzip", small.Header().Get("Content-Encoding"))
		r, err := gzip.NewReader(small.Body)
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.True(t, bytes.Equal(a.content, b), name)
		again := c.get(t, http.MethodGet, "/app/"+name, "Accept-Encoding", "gzip", "If-None-Match", small.Header().Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.Code)
		require.NotEqual(t, plain.Header().Get("ETag"), small.Header().Get("ETag"))
	}
}

// What must load before the inbox shows its rows stays small: 175 KB of scripts and 15 KB of styles, compressed.
func TestBudgets(t *testing.T) {
	t.Parallel()
	c := built(t)
	index, err := fs.ReadFile(c.files, "index.html")
	require.NoError(t, err)
	scripts, styles := 0, 0
	for name, a := range c.assets {
		size := len(a.compressed)
		first := bytes.Contains(index, []byte(name))
		if !first {
			require.LessOrEqual(t, size, 110<<10, "%s: loaded later", name)
		}
		switch {
		case strings.HasSuffix(name, ".css"):
			styles += size
		case first, strings.HasPrefix(name, "assets/requests-"), strings.HasPrefix(name, "assets/inbox-"):
			scripts += size
		}
	}
	t.Logf("scripts before the inbox: %d bytes; styles: %d", scripts, styles)
	require.Positive(t, scripts)
	require.LessOrEqual(t, scripts, 175<<10)
	require.LessOrEqual(t, styles, 15<<10)
}

// The pages' GraphQL documents are valid against the committed schema.
func TestDocuments(t *testing.T) {
	t.Parallel()
	sdl, err := os.ReadFile("../../../graph/schema.graphql")
	require.NoError(t, err)
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(sdl)})
	require.NoError(t, err)
	manifest, err := built(t).Documents()
	require.NoError(t, err)
	var documents map[string]string
	require.NoError(t, json.Unmarshal(manifest, &documents))
	require.NotEmpty(t, documents)
	for hash, text := range documents {
		sum := sha256.Sum256([]byte(text))
		require.Equal(t, hash, hex.EncodeToString(sum[:]))
		_, errs := gqlparser.LoadQueryWithRules(schema, text, rules.NewDefaultRules())
		require.Empty(t, errs, text)
	}
}

package main_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clients is a folder with the client programs of testdata and their libraries. The libraries come from npm, so the tests do not
// rely on code of ours on both ends.
var clients = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(program), "clients")
	if err := os.CopyFS(dir, os.DirFS("testdata/clients")); err != nil {
		return "", fmt.Errorf("copy the clients: %w", err)
	}
	libraries, err := installed(dir)
	if err != nil {
		return "", fmt.Errorf("install the clients' libraries: %w", err)
	}
	return dir, os.Symlink(libraries, filepath.Join(dir, "node_modules"))
})

// installed returns the folder with the libraries that the lock file in dir names. They stay in .bin beside the linter, because to
// unpack them takes 13 seconds of the processor's time: installed once for each lock file.
func installed(dir string) (string, error) {
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return "", err
	}
	kept, err := filepath.Abs(fmt.Sprintf("../../.bin/clients-%.6x", sha256.Sum256(lock)))
	if err != nil {
		return "", err
	}
	libraries := filepath.Join(kept, "node_modules")
	if _, err := os.Stat(libraries); err == nil {
		return libraries, nil
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(kept), "clients-") // beside it, so that it can be renamed once it is whole
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh) //nolint:errcheck // scratch
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(fresh, name), b, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.Rename(fresh, kept); err != nil {
		if _, other := os.Stat(libraries); other != nil { // else another run was first
			return "", err
		}
	}
	return libraries, nil
}

// clientCommand returns the command that runs one of testdata/clients. The script trusts the file of CAs, reads input from the variable
// ATRIUM_TEST, and finds a browser in CHROMIUM.
func clientCommand(ctx context.Context, t testing.TB, cas, name string, input any) *exec.Cmd {
	t.Helper()
	dir, err := clients()
	require.NoError(t, err)
	b, err := json.Marshal(input)
	require.NoError(t, err)
	chromium, err := exec.LookPath("chromium-headless-shell")
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, "node", name)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium, "NODE_EXTRA_CA_CERTS="+cas, "ATRIUM_TEST="+string(b))
	return cmd
}

// script runs one of testdata/clients, which trusts the server's CA, and returns its output.
func (n *node) script(name string, input any) string {
	n.t.Helper()
	return n.scriptTrusting(filepath.Join(n.data, "ca.pem"), name, input)
}

// scriptTrusting is script with a file of CAs.
func (n *node) scriptTrusting(cas, name string, input any) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 25*time.Minute) // a tour of all pages takes five minutes alone, and longer beside other tests
	defer cancel()
	cmd := clientCommand(ctx, n.t, cas, name, input)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(n.t, cmd.Run(), "%s:\n%s\nserver:\n%s", name, &out, n.err)
	return out.String()
}

// talking is a script of testdata/clients that runs beside the test and reports its progress in lines on stdout.
type talking struct {
	t    testing.TB
	name string
	cmd  *exec.Cmd
	said *output
}

// talk starts a script. It is stopped at the end of the test, or after ten minutes.
func (p place) talk(name string, input any) *talking {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Minute)
	p.t.Cleanup(cancel)
	s := &talking{p.t, name, clientCommand(ctx, p.t, filepath.Join(p.data, "ca.pem"), name, input), newOutput()}
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	require.NoError(p.t, s.cmd.Start())
	return s
}

// await waits until the script has printed a line.
func (s *talking) await(line string) {
	s.t.Helper()
	late := time.After(patience)
	for {
		found, more := s.said.line(line)
		if found != "" {
			return
		}
		select {
		case <-more:
		case <-late:
			require.FailNow(s.t, s.name+" does not say "+line, "%s", s.said)
		}
	}
}

// end waits until the script exits with 0, and returns its output.
func (s *talking) end() string {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Wait(), "%s", s.said)
	return s.said.String()
}

// application registers an OAuth client on the command line, and returns it in the scripts' format.
func (p place) application(company, redirectURI string, args ...string) map[string]any {
	p.t.Helper()
	made := p.object(append([]string{"client", "create", "--company", company, "--name", "App", "--redirect-uri", redirectURI}, args...)...)
	client, ok := made["oauthClient"].(map[string]any)
	require.True(p.t, ok)
	return map[string]any{"clientId": client["clientId"], "clientSecret": made["clientSecret"], "redirectUri": redirectURI}
}

// Two standard client libraries run every flow of the provider: PKCE, userinfo, rotation and reuse of refresh tokens, replay of
// codes, revocation, introspection, signing out, and what must be refused.
func TestStockOAuthClients(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		public := p.application(first.Company.ID, "http://127.0.0.1/callback", "--post-logout-redirect-uri", "http://127.0.0.1:7777/bye")
		public["redirectUri"], public["postLogoutRedirectUri"] = "http://127.0.0.1:7777/callback", "http://127.0.0.1:7777/bye"
		input := map[string]any{
			"issuer": n.base, "api": n.base, "email": first.Owner.Email, "password": first.Owner.Password, "publicClient": public,
			"confidentialClient": p.application(first.Company.ID, "https://app.example/cb", "--confidential"),
		}
		require.Contains(t, n.script("openid-client.mjs", input), "openid-client: ok")
		require.Contains(t, n.script("oauth4webapi.mjs", input), "oauth4webapi: ok")
	})
}

// graphQL runs an operation with a credential. It must succeed. Returns data.
func (n *node) graphQL(credential, query string, variables map[string]any) map[string]any {
	n.t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	require.NoError(n.t, err)
	a := n.call(n.client(), 200, "POST", "/graphql", credential, string(body))
	out := decode(n.t, a.body)
	require.NotContains(n.t, out, "errors", a.body)
	data, ok := out["data"].(map[string]any)
	require.True(n.t, ok, a.body)
	return data
}

// A person uses Chromium. When the company requires a second factor, it must be set up first, also without JavaScript. Each code
// works only once. A passkey alone signs in. No page violates its own content security policy.
func TestBrowser(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve("--listen", "localhost:0") // passkeys need a host name, not an IP address
	first := p.firstRun()
	owner, ok := p.object("token", "create", "--company", first.Company.ID, "--user", first.Owner.Email)["accessToken"].(string)
	require.True(t, ok)
	n.graphQL(owner, `mutation { updateCompany(input: {mfaRequired: true}) { company { id } } }`, nil)
	require.Contains(t, n.script("browser.mjs", map[string]any{
		"issuer": n.base, "api": n.base, "email": first.Owner.Email, "password": first.Owner.Password,
		"publicClient": p.application(first.Company.ID, "http://127.0.0.1/callback"),
	}), "browser: ok")
}

// A web application of another origin signs people in and calls both APIs from their browsers.
func TestBrowserApplication(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		require.Contains(t, n.script("spa.mjs", map[string]any{
			"issuer": n.base, "api": n.base, "email": first.Owner.Email, "password": first.Owner.Password, "key": first.LiveKey,
			"publicClient": p.application(first.Company.ID, "http://localhost/callback"),
		}), "spa: ok")
	})
}

// The recipe of rest/guides/sign-in.md works as printed, except for the ports of the server and the recipe.
func TestReadmeRecipe(t *testing.T) {
	t.Parallel()
	n := onSQLite(t).serve()
	first := n.firstRun()
	page, err := os.ReadFile("../../rest/guides/sign-in.md")
	require.NoError(t, err)
	code := jsBlock(t, string(page), "import * as oauth")
	_, port, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	for from, to := range map[string]string{"https://127.0.0.1:8443": n.base, "9999": port} {
		require.Contains(t, code, from)
		code = strings.ReplaceAll(code, from, to)
	}
	dir, err := clients()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token.mjs"), []byte(code), 0o600))
	require.Contains(t, n.script("readme.mjs", map[string]any{
		"api": n.base, "email": first.Owner.Email, "password": first.Owner.Password, "clientId": first.OAuthClient.ClientID,
	}), "readme: ok")
}

// A standard GraphQL client works with the GraphQL API.
func TestStockGraphQLClient(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		require.Contains(t, n.script("urql.mjs", map[string]any{"api": n.base, "token": p.token(first.Company.ID, first.Owner.Email)}), "urql: ok")
	})
}

// When only trusted documents are allowed, a session can run those of the manifest and no others. An invalid manifest prevents
// the start.
func TestTrustedDocumentsOnly(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	require.NoError(t, os.WriteFile(manifest, []byte(`{"00": "{ viewer { id } }"}`), 0o600))
	n := p.launch("--graphql-trusted-only", manifest)
	require.NotZero(t, n.wait())
	require.Contains(t, n.err.String(), "--graphql-trusted-only")
	sum := sha256.Sum256([]byte(`{ viewer { id } }`))
	require.NoError(t, os.WriteFile(manifest, []byte(fmt.Sprintf(`{"%x": "{ viewer { id } }"}`, sum)), 0o600))
	n = p.serve("--graphql-trusted-only", manifest)
	first := p.firstRun()
	n.graphQL(p.token(first.Company.ID, first.Owner.Email), `{ viewer { name } }`, nil) // tokens of integrations may run any document
}

// jsBlock returns the page's JavaScript block that begins with a text.
func jsBlock(t *testing.T, page, begins string) string {
	t.Helper()
	_, code, found := strings.Cut(page, "```js\n"+begins)
	require.True(t, found)
	code, _, found = strings.Cut(code, "```")
	require.True(t, found)
	return begins + code
}

// The standard TypeScript client of MCP works on a request as rest/guides/mcp.md shows.
func TestReadmeMCP(t *testing.T) {
	t.Parallel()
	n := onSQLite(t).serve()
	page, err := os.ReadFile("../../rest/guides/mcp.md")
	require.NoError(t, err)
	code := strings.NewReplacer("https://127.0.0.1:8443", n.base, "Bearer KEY", "Bearer "+n.firstRun().LiveKey).
		Replace(jsBlock(t, string(page), "import { Client }"))
	dir, err := clients()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mcp.mjs"), []byte(code), 0o600))
	require.Contains(t, n.script("mcp.mjs", nil), "IN_PROGRESS")
}

// The protocol's own conformance suite calls /mcp, for every protocol revision that has requirements in the suite.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	n := onSQLite(t).serve()
	first := n.firstRun()
	n.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000", "--per-day", "1000000")
	require.Contains(t, n.script("conformance.mjs", map[string]any{"api": n.base, "key": first.LiveKey}), "conformance: ok")
}

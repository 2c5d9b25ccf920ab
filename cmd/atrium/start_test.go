package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstStart(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		raw, err := os.ReadFile(filepath.Join(p.data, "first-run.json"))
		require.NoError(t, err)
		requireFirstRun(t, decode(t, string(raw)))
		require.Equal(t, n.base, first.BaseURL)
		require.Equal(t, n.base, first.AuthURL)
		require.Equal(t, filepath.Join(p.data, "ca.pem"), first.CAFile)
		for _, private := range []string{"first-run.json", "master.key", "ca.key", "tls.key"} {
			requireMode(t, filepath.Join(p.data, private), 0o600)
		}
		if p.url == "" {
			requireMode(t, filepath.Join(p.data, "atrium.db"), 0o600)
		}
		requireMode(t, p.data, os.ModeDir|0o700)

		c := p.client()
		n.call(c, 200, "GET", "/v1/requests?pageSize=1", first.LiveKey, "") // ca.pem verifies the server's certificate
		n.call(c, 200, "GET", "/v1/requests", first.TestKey, "")
		runCurl(t, n)
		requireAdmin(t, c, n)
		requireNoSecrets(t, p, n)
		requests := countRows(t, p, "requests")
		require.Zero(t, n.stop(), "%s", n.err)
		requireNoSecrets(t, p, n)

		again := p.serve()
		now := p.firstRun()
		require.Equal(t, again.base, now.BaseURL)
		require.Equal(t, first.LiveKey, now.LiveKey)
		require.Equal(t, requests, countRows(t, p, "requests"))
		require.Equal(t, 2, countRows(t, p, "companies"))
		runCurl(t, again)
		again.kill()
		requireHealthy(t, p)
	})
}

func requireMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode(), path)
}

// runCurl runs the last curl line on stdout in a shell.
func runCurl(t *testing.T, n *node) {
	t.Helper()
	line, _ := n.out.line("curl")
	require.NotContains(n.t, n.out.String(), n.firstRun().LiveKey, "what is no terminal keeps what it is told")
	require.NotEmpty(t, line, "%s", n.out)
	// A shell function adds options to curl that print the status; the line itself is unchanged.
	out, err := exec.Command("bash", "-c", `curl() { command curl -sS -w '\n%{http_code}' "$@"; }; `+line).CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, out)
	require.True(t, strings.HasSuffix(string(out), "\n201"), "%s", out)
}

// requireAdmin checks the endpoints of the admin listener.
func requireAdmin(t *testing.T, c *http.Client, n *node) {
	t.Helper()
	for path, want := range map[string]string{
		"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ready"}`, "/metrics": "atrium_http_request_duration_seconds_count{",
	} {
		a, err := send(c, "GET", n.admin+path, "", "")
		require.NoError(t, err)
		require.Equal(t, 200, a.status)
		require.Contains(t, a.body, want)
	}
	a, err := send(c, "POST", n.admin+"/dev/clock", "", `{"advance":"1h"}`)
	require.NoError(t, err)
	require.Equal(t, 404, a.status, "the development clock is there without its flag")
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		n.call(c, 404, "GET", path, "", "")
	}
}

// requireNoSecrets asserts that the server printed no key.
func requireNoSecrets(t *testing.T, p place, n *node) {
	t.Helper()
	first := p.firstRun()
	out, errs := n.out.String(), n.err.String()
	require.NotContains(t, errs, "key_live_")
	require.NotRegexp(t, `key_(live|test)_[A-Za-z0-9]`, out) // stdout is not a terminal, so the line reads the key from the file
	for _, secret := range []string{first.Owner.Password, first.TestKey, "PRIVATE KEY", "ATRIUM_DATABASE_URL"} {
		require.NotContains(t, out+errs, secret)
	}
	master, err := os.ReadFile(filepath.Join(p.data, "master.key"))
	require.NoError(t, err)
	require.NotContains(t, out+errs, string(master[:40]))
	if p.url != "" {
		require.NotContains(t, out+errs, p.url)
	}
}

// requireHealthy asserts that doctor finds no problem.
func requireHealthy(t *testing.T, p place) {
	t.Helper()
	out := p.ok("doctor")
	require.NotContains(t, out, "BAD")
}

func TestNoDemo(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve("ATRIUM_NO_DEMO=true")
	require.NoFileExists(t, filepath.Join(p.data, "first-run.json"))
	require.NotContains(t, n.out.String(), "curl")
	require.Zero(t, countRows(t, p, "companies"))
	require.Zero(t, n.stop())
	runCurl(t, p.serve()) // the database is still empty, so a start without --no-demo creates the demo
}

// A folder's name may contain characters that are special to a shell.
func TestCurlLineIsQuoted(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	p.data = filepath.Join(p.data, `it's "a" $HOME`)
	runCurl(t, p.serve())
}

// With another database, the keys in the folder's first-run file are not printed.
func TestFirstRunOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	require.Zero(t, p.serve().stop())
	require.NoError(t, os.Remove(filepath.Join(p.data, "atrium.db")))
	n := p.serve("--no-demo")
	require.NotContains(t, n.out.String(), "curl")
}

// shareMasterKey gives a node the master key of another one as soon as that has created it: all nodes on a database need the same
// key.
func shareMasterKey(t *testing.T, from, to place) {
	t.Helper()
	var key []byte
	require.Eventually(t, func() bool {
		var err error
		key, err = os.ReadFile(filepath.Join(from.data, "master.key"))
		return err == nil && len(key) > 0
	}, patience, 1e6)
	require.NoError(t, os.MkdirAll(to.data, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(to.data, "master.key"), key, 0o600))
}

// Two nodes that start at the same time on an empty database create one demo company.
func TestTwoNodesOneDemo(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	q := p
	q.data = filepath.Join(t.TempDir(), "other")
	a := p.launch()
	shareMasterKey(t, p, q)
	b := q.launch()
	a.awaitReady()
	b.awaitReady()
	require.Equal(t, 2, countRows(t, p, "companies"))   // the demo company and its sandbox
	require.Equal(t, 3+24, countRows(t, p, "requests")) // three pending requests, and the closed ones that its agent learned from
	maker, other := a, b
	if line, _ := a.out.line("curl"); line == "" {
		maker, other = b, a
	}
	runCurl(t, maker)
	line, _ := other.out.line("curl")
	require.Empty(t, line)
	require.NoFileExists(t, filepath.Join(other.data, "first-run.json"))
}

// After a first start that was killed at any point, the next start works in the same folder.
func TestKilledFirstStart(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		for _, moment := range []string{"master.key", "tls.crt", "first-run.json"} {
			n := p.launch()
			require.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Join(p.data, moment))
				return err == nil
			}, patience, 1e6, "%s", n.err)
			n.kill()
		}
		runCurl(t, p.serve())
		require.Equal(t, 2, countRows(t, p, "companies"))
		require.Equal(t, 4+24, countRows(t, p, "requests"))
	})
}

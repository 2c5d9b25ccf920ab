package main_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/seal"
)

// ports are flags that choose free ports.
var ports = []string{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}

// refusesToServe asserts that the server exits with 1 before it is ready, and prints the reason.
func refusesToServe(t *testing.T, p place, words []string, args ...string) {
	t.Helper()
	n := p.launch(args...)
	require.Equal(t, 1, n.wait(), "%s\n%s", n.out, n.err)
	for _, word := range words {
		require.Contains(t, n.err.String(), word)
	}
	require.NotContains(t, n.out.String(), "ready ")
	require.NotContains(t, n.err.String(), "goroutine ")
}

func TestNewerDatabase(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p.ok("migrate")
		require.Equal(t, "the database is at this version\n", p.ok("migrate"))
		change(t, p, "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ('99990101000000', '99990101000000_future', 'x', '9999-01-01')")
		refusesToServe(t, p, []string{"newer than this binary"})
		p.refused([]string{"newer than this binary"}, "migrate")
		p.refused([]string{"newer than this binary"}, "company", "create", "--name", "x", "--plan", "free", "--owner-email", "a@example.org")
		r := p.run("doctor")
		require.Equal(t, 1, r.code)
		require.Contains(t, r.stdout, "BAD  database is at this version")
		require.Contains(t, r.stdout, "newer than this binary")
	})
}

func TestMasterKeyIsMissing(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		n.call(p.client(), 201, "POST", "/v1/secrets", first.LiveKey, `{"allowedHosts":["*"],"name":"TOKEN","value":"hunter2"}`)
		p.ok("token", "create", "--company", first.Company.ID, "--user", first.Owner.Email) // creates a signing key
		require.Zero(t, n.stop())
		path := filepath.Join(p.data, "master.key")
		key, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.Remove(path))
		refusesToServe(t, p, []string{path, "missing", "put it there"})
		require.NoFileExists(t, path)
		r := p.run("doctor")
		require.Equal(t, 1, r.code)
		require.Contains(t, r.stdout, "BAD  master key is there")

		other := onSQLite(t)
		require.Zero(t, other.serve().stop())
		wrong := filepath.Join(other.data, "master.key")
		refusesToServe(t, p, []string{"not the one"}, "--master-key-file", wrong)
		r = p.run("doctor", "--master-key-file", wrong)
		require.Equal(t, 1, r.code)
		require.Contains(t, r.stdout, "BAD  master key opens what was sealed")

		// The key may be in the environment, for commands and the server.
		value := base64.StdEncoding.EncodeToString(key)
		n = p.serve("ATRIUM_MASTER_KEY=" + value)
		p.ok("ATRIUM_MASTER_KEY="+value, "token", "create", "--company", first.Company.ID, "--user", first.Owner.Email)
		require.NotContains(t, n.out.String()+n.err.String(), value)
		require.NoFileExists(t, path)
	})
}

// A second node that lacks the key says so before it makes one of its own, even when nothing was sealed since the first start.
func TestSecondNodeWithoutTheKey(t *testing.T) {
	t.Parallel()
	first := onPostgres(t)
	require.Zero(t, first.serve("--no-demo").stop())
	second := first
	second.data = t.TempDir()
	path := filepath.Join(second.data, "master.key")
	refusesToServe(t, second, []string{path, "missing", "put it there"})
	require.NoFileExists(t, path)
	require.NoError(t, seal.CreateFile(path))
	refusesToServe(t, second, []string{"not the one"})
	key, err := os.ReadFile(filepath.Join(first.data, "master.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, key, 0o600))
	require.Zero(t, second.serve().stop())
}

// Commands that are given a wrong folder or an empty database create nothing there.
func TestCommandsMakeNoInstallation(t *testing.T) {
	company := "--company=co_01k00000000000000000000000"
	commands := [][]string{
		{"key", "create", "--name", "x", "--scopes", "services:read", company},
		{"key", "rotate", "--id", "key_01k00000000000000000000000", company},
		{"key", "revoke", "--id", "key_01k00000000000000000000000", company},
		{"user", "invite", "--email", "z@demo.example", "--role", "owner", company},
		{"client", "create", "--name", "x", "--redirect-uri", "https://app.example/cb", company},
		{"token", "create", "--user", "owner@demo.example", company},
		{"credit", "issue", "--amount", "5", "--reason", "promotion", "--description", "x", company},
		{"company", "limits", "--per-minute", "5", company},
	}
	each(t, func(t *testing.T, p place) {
		nothing := []string{"no database in " + p.data, "--data"}
		if p.url != "" {
			nothing = []string{"atrium migrate"}
		}
		for _, args := range commands {
			p.refused(nothing, args...)
		}
		require.NoDirExists(t, p.data)
		p.ok("migrate")
		require.NoError(t, os.MkdirAll(p.data, 0o700))
		for _, args := range commands {
			p.refused([]string{"master key", p.data, "missing"}, args...)
		}
		require.NoFileExists(t, filepath.Join(p.data, "master.key"))
	})
}

// The JSON output that operators' scripts read.
func TestJSONForOperators(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	findings := func(want int) map[string]any {
		t.Helper()
		r := p.run("doctor", "--json")
		require.Equal(t, want, r.code, "%s", r.stdout)
		found := decode(t, r.stdout)
		require.Equal(t, want == 0, found["ok"])
		require.Len(t, found, 2)
		byName := map[string]any{}
		for _, c := range found["checks"].([]any) {
			check := c.(map[string]any)
			requireShape(t, map[string]any{"name": "", "ok": true, "message": nil}, check)
			require.Equal(t, check["ok"], check["message"] == "", "%v", check)
			byName[check["name"].(string)] = check["message"]
		}
		return byName
	}
	require.Contains(t, findings(1)["database answers"], "no database")
	applied := p.object("migrate")["applied"].([]any)
	require.NotEmpty(t, applied)
	require.Equal(t, map[string]any{"applied": []any{}}, p.object("migrate"))
	require.Contains(t, findings(1)["master key is there and private"], "missing")
	require.Zero(t, p.serve("--no-demo").stop())
	require.Equal(t, "", findings(0)["database is at this version"])
	v := p.object("version")
	require.Len(t, v, 4)
	require.NotEmpty(t, v["version"])
	require.Contains(t, v, "commit")
	require.Regexp(t, `^go1\.`, v["go"])
	require.Regexp(t, `^\w+/\w+$`, v["platform"])
}

// One of several nodes does not start without a store of files that the others reach, too.
func TestSeveralNodesNeedOneStoreOfFiles(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	for _, args := range [][]string{{"--role", "api"}, {"--role", "worker"}, {"--redis-url", "redis://127.0.0.1:1"}} {
		refusesToServe(t, p, []string{"several nodes need --files-dir", "--files-url"}, args...)
	}
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve("--no-demo")
	other := onSQLite(t)
	taken := strings.TrimPrefix(n.base, "https://")
	refusesToServe(t, other, []string{taken, "address already in use"}, "--listen", taken)
	taken = strings.TrimPrefix(n.admin, "http://")
	refusesToServe(t, other, []string{"admin listener", taken, "address already in use"}, "--admin-listen", taken)
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	bad := func(what string, args ...string) {
		t.Helper()
		r := p.run(append([]string{"doctor"}, args...)...)
		require.Equal(t, 1, r.code, "%s", r.stdout)
		require.Regexp(t, "(?m)^BAD  "+what, r.stdout)
		require.Regexp(t, "atrium: [0-9]+ checks failed", r.stderr)
	}
	bad("data folder.*no such file")
	require.NoDirExists(t, p.data, "doctor changes nothing")
	require.NoError(t, os.Mkdir(p.data, 0o700))
	bad("database answers: there is no database in")
	require.NoFileExists(t, filepath.Join(p.data, "atrium.db"))
	bad("database answers", "--database-url", "postgres://atrium@127.0.0.1:1/none?connect_timeout=2")
	p.ok("migrate")
	bad("master key is there.*missing")
	require.Zero(t, p.serve().stop())
	requireHealthy(t, p)

	key := filepath.Join(p.data, "master.key")
	require.NoError(t, os.Chmod(key, 0o644))
	bad("master key is there.*chmod 600")
	require.NoError(t, os.Chmod(key, 0o600))
	cert := filepath.Join(p.data, "tls.crt")
	pem, err := os.ReadFile(cert)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cert, pem[:len(pem)/2], 0o600))
	bad("local certificate")
	require.NoError(t, os.WriteFile(cert, pem, 0o600))
	file := p
	file.data = filepath.Join(p.data, "atrium.db") // a file used as a folder fails even for root
	r := file.run("doctor")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stdout, "BAD  data folder")
	requireHealthy(t, p)
}

func TestFlags(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	for _, c := range []struct {
		args, words []string
	}{
		{[]string{"serve", "--role", "king"}, []string{"--role", "all"}},
		{[]string{"ATRIUM_ROLE=king", "serve"}, []string{"role", "king"}},
		{[]string{"serve", "--lisen", ":1"}, []string{"--lisen"}},
		{[]string{"serve", "--tls-cert", "x"}, []string{"--tls-key"}},
		{append([]string{"serve", "--tls-cert", "x", "--tls-key", "y"}, ports...), []string{"x"}},
		{append([]string{"serve", "--base-url", "http://example.org"}, ports...), []string{"--base-url", "https"}},
		{append([]string{"serve", "--files-dir", "files", "--redis-url", "ftp://x"}, ports...), []string{"Redis"}},
		{append([]string{"serve", "--redis-url", "redis://x"}, ports...), []string{"--files-dir"}},
		{append([]string{"serve", "--role", "api"}, ports...), []string{"--files-dir", "--files-url"}},
		{append([]string{"serve", "--files-dir", "files", "--files-url", "s3://files"}, ports...), []string{"--files-dir", "--files-url"}},
		{append([]string{"serve", "--files-url", "https://files"}, ports...), []string{"--files-url", "s3://BUCKET"}},
		{append([]string{"serve", "--files-url", "s3://files?key=x"}, ports...), []string{"--files-url", "key"}},
		{append([]string{"serve", "--files-url", "s3://files?endpoint=http%3A%2F%2F127.0.0.1%3A1"}, ports...), []string{"--files-url", "files"}},
		{[]string{"serve", "--webhook-retries", "30s,soon"}, []string{"--webhook-retries"}},
		{[]string{"serve", "--egress-allow", "10.0.0.0"}, []string{"--egress-allow"}},
		{[]string{"serve", "--database-url", "mysql://x"}, []string{"postgres://"}},
		{[]string{"serve", "--log-level", "loud"}, []string{"--log-level"}},
		{[]string{"fly"}, []string{"fly"}},
		{[]string{"key"}, []string{"create"}},
		{nil, []string{"--help"}},
	} {
		r := p.run(c.args...)
		require.Equal(t, 1, r.code, "%v", c.args)
		require.True(t, strings.HasPrefix(r.stderr, "atrium: "), "%v: %s", c.args, r.stderr)
		for _, word := range c.words {
			require.Contains(t, r.stderr, word, "%v", c.args)
		}
		require.NotContains(t, r.stdout, "ready")
	}
	r := p.run("serve", "--database-url", "postgres://atrium:sesame@127.0.0.1:1/none?connect_timeout=2")
	require.Equal(t, 1, r.code)
	require.NotContains(t, r.stderr, "sesame")
}

// Every flag of every command has one environment variable, named after it.
func TestEveryFlagHasItsVariable(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	flag := regexp.MustCompile(`(?m)^ +(?:-., +)?--([a-z-]+)`)
	for _, command := range []string{
		"serve", "migrate", "doctor", "company create", "company limits", "key create", "key rotate", "key revoke",
		"user invite", "client create", "token create", "credit issue",
	} {
		help := p.ok(append(strings.Fields(command), "--help")...)
		flags := flag.FindAllStringSubmatchIndex(help, -1)
		require.NotEmpty(t, flags)
		for i, at := range flags {
			name, end := help[at[2]:at[3]], len(help)
			if name == "help" {
				continue
			}
			if i+1 < len(flags) {
				end = flags[i+1][0]
			}
			variable := "ATRIUM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
			require.Contains(t, help[at[0]:end], "($"+variable+")", "%s --%s", command, name)
			require.NotEqual(t, "ATRIUM_MASTER_KEY", variable)
		}
	}
	require.Contains(t, p.ok("--help"), "ATRIUM_DATABASE_URL")
	require.Contains(t, strings.Join(strings.Fields(p.ok("serve", "--help")), " "), "$ATRIUM_MASTER_KEY may hold the key itself")
	require.Regexp(t, `^atrium \S+ \(.*go1\.\d+.*\)\n$`, p.ok("version"))
}

package authz_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/platform/principal"
)

const frozen = `package atrium.operator

# Nobody of the region changes what belongs to production, or sees what is confidential.
deny contains "freeze" if {
	input.action == "update"
	input.resource.tags.env == "prod"
	input.principal.attributes.region == "eu"
}

deny contains "confidential" if {
	input.action == "read"
	input.resource_type == "Service"
	input.resource.tags.class in {"secret", "confidential"}
	not input.principal.role == "owner"
}
`

func module(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// The operator's modules restrict what companies allow, in decisions and in lists.
func TestOperatorsPolicies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	module(t, dir, "freeze.rego", frozen)
	module(t, dir, "freeze_test.rego", "package x\n\nthis is not read")
	e, err := authz.New(t.Context(), authz.Options{PolicyDir: dir})
	require.NoError(t, err)
	require.NotEqual(t, engine(t).Bundle(), e.Bundle())
	all, err := e.Compile(t.Context(), authz.Policy{ID: "pol_1", Effect: authz.Allow, Action: "*", Resource: "*", Condition: []byte("{}")})
	require.NoError(t, err)
	set := authz.NewSet([]*authz.Compiled{all})
	caller := &authz.Caller{
		Principal:  &principal.Principal{Type: principal.TypeUser, ID: "usr_1", Role: principal.Admin, Scopes: principal.AllScopes, Method: principal.MethodSession},
		Attributes: map[string]string{"region": "eu"}, Time: time.Now(),
	}
	decide := func(action string, tags map[string]string) authz.By {
		row, ok := authz.RowOf(&ent.Service{ID: "svc_1", Tags: tags}, nil)
		require.True(t, ok)
		d, err := e.DecideRow(t.Context(), set, caller, authz.Question{Verb: "service." + action, Action: action, Resource: "Service"}, row)
		require.NoError(t, err)
		require.Equal(t, d.By.Kind == "policy", d.Allow)
		return d.By
	}
	require.Equal(t, authz.By{Kind: "operator", ID: "freeze"}, decide("update", map[string]string{"env": "prod"}))
	require.Equal(t, "pol_1", decide("update", map[string]string{"env": "dev"}).ID)
	require.Equal(t, "confidential", decide("read", map[string]string{"class": "secret"}).ID)
	require.Equal(t, "pol_1", decide("read", map[string]string{"env": "prod"}).ID)

	query := func(entity string) string {
		where := e.Rows(set, caller).Narrow(entity)
		if where == nil {
			return ""
		}
		s := sql.Dialect(dialect.SQLite).Select("id").From(sql.Table("t"))
		where(s)
		q, args := s.Query()
		require.Contains(t, args, "confidential")
		return q
	}
	require.Contains(t, query("Service"), "NOT COALESCE")
	require.Empty(t, query("Request"), "it is about services alone")
}

// A folder that does not compile, or that cannot become a filter of lists, is an error at the start. Later it changes nothing.
func TestBrokenOperatorsPolicies(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no Rego":                 "package atrium.operator\n\ndeny contains",
		"an unused variable":      "package atrium.operator\n\ndeny contains \"x\" if {\n\ty := 1\n\tinput.action == \"read\"\n}\n",
		"another package":         "package atrium.authz\n\nverdict := {\"allow\": true}\n",
		"the network":             "package atrium.operator\n\ndeny contains \"x\" if http.send({\"method\": \"get\", \"url\": \"https://x.test\"}).status_code == 200\n",
		"two attributes":          "package atrium.operator\n\ndeny contains \"x\" if input.resource.name == input.resource.slug\n",
		"an expression":           "package atrium.operator\n\ndeny contains \"x\" if regex.match(`^a.?b$`, input.resource.name)\n",
		"an attribute by a value": "package atrium.operator\n\ndeny contains \"x\" if input.resource.tags[input.principal.id] == \"x\"\n",
		"a type that never fits":  "package atrium.operator\n\ndeny contains \"x\" if input.resource.version < \"a\"\n",
	} {
		dir := t.TempDir()
		module(t, dir, "a.rego", text)
		_, err := authz.New(t.Context(), authz.Options{PolicyDir: dir})
		require.Error(t, err, name)
	}
	_, err := authz.New(t.Context(), authz.Options{PolicyDir: filepath.Join(t.TempDir(), "none")})
	require.Error(t, err)

	dir := t.TempDir()
	module(t, dir, "a.rego", frozen)
	e, err := authz.New(t.Context(), authz.Options{PolicyDir: dir})
	require.NoError(t, err)
	good := e.Bundle()
	module(t, dir, "a.rego", "package atrium.operator\n\ndeny contains")
	_, err = e.Reload(t.Context())
	require.Error(t, err)
	require.Equal(t, good, e.Bundle())
}

// A changed folder is read again while the server runs.
func TestOperatorsPoliciesAreWatched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, err := authz.New(t.Context(), authz.Options{PolicyDir: dir})
	require.NoError(t, err)
	before := e.Bundle()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Watch(ctx, slog.New(slog.DiscardHandler)) }()
	module(t, dir, "a.rego", frozen)
	require.Eventually(t, func() bool { return e.Bundle() != before }, 20*time.Second, 20*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

package policies_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/policies"
)

func modules(t *testing.T) map[string]*ast.Module {
	t.Helper()
	out := map[string]*ast.Module{}
	for _, name := range []string{"atrium.rego", "atrium_test.rego", "access.rego", "access_test.rego"} {
		b, err := policies.Files.ReadFile(name)
		require.NoError(t, err)
		m, err := ast.ParseModule(name, string(b))
		require.NoError(t, err)
		formatted, err := format.Source(name, b)
		require.NoError(t, err)
		require.Equal(t, string(formatted), string(b), "%s is not formatted as opa fmt does", name)
		out[name] = m
	}
	return out
}

func data(t *testing.T) map[string]any {
	t.Helper()
	b, err := policies.Files.ReadFile("data.json")
	require.NoError(t, err)
	var d map[string]any
	require.NoError(t, json.Unmarshal(b, &d))
	return d
}

// The policies' own tests, as `opa test --coverage` runs them: every one passes and every rule is reached.
func TestRego(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store := inmem.NewFromObject(data(t))
	txn, err := store.NewTransaction(ctx)
	require.NoError(t, err)
	defer store.Abort(ctx, txn)
	mods := modules(t)
	coverage := cover.New()
	ch, err := tester.NewRunner().SetStore(store).SetModules(mods).SetCoverageQueryTracer(coverage).RunTests(ctx, txn)
	require.NoError(t, err)
	n := 0
	for r := range ch {
		n++
		require.True(t, r.Pass(), "%s: %v", r.Name, r.Error)
	}
	require.Positive(t, n)
	report := coverage.Report(mods)
	for _, name := range []string{"atrium.rego", "access.rego"} {
		require.InDelta(t, 100, report.Files[name].Coverage, 0.001, "not covered: %v", report.Files[name].NotCovered)
	}
}

func TestScopesAreThePrincipals(t *testing.T) {
	t.Parallel()
	var want []any
	for _, s := range principal.ScopeNames {
		want = append(want, s)
	}
	require.Equal(t, want, data(t)["scopes"])
}

package principal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/platform/principal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNobodyIsRefused(t *testing.T) {
	t.Parallel()
	_, ok := principal.From(t.Context())
	require.False(t, ok)
	_, ok = principal.From(principal.With(t.Context(), nil))
	require.False(t, ok, "a nil principal is nobody")
}

func TestOnlySystemCrossesCompanies(t *testing.T) {
	t.Parallel()
	p, ok := principal.From(principal.System(t.Context(), "a reason"))
	require.True(t, ok)
	reason, bypass := p.Bypass()
	require.True(t, bypass)
	require.Equal(t, "a reason", reason)
	require.Empty(t, p.CompanyID)

	p, ok = principal.From(principal.System(t.Context(), ""))
	require.True(t, ok)
	_, bypass = p.Bypass()
	require.False(t, bypass, "without a reason there is no way around the guards")

	for _, p := range []*principal.Principal{{}, {Type: principal.TypeSystem, ID: "system"}, principal.Operator("co_1", "key create")} {
		_, bypass := p.Bypass()
		require.False(t, bypass)
	}
}

func TestOperatorHoldsTheOperatorsRole(t *testing.T) {
	t.Parallel()
	p := principal.Operator("co_1", "key create")
	require.Equal(t, principal.OperatorRole, p.Role, "owners may not issue credits, tokens or limits; the operator may")
	require.Equal(t, "co_1", p.CompanyID)
	require.Equal(t, principal.Actor{Type: "operator", ID: "operator", Name: "key create"}, p.Actor())
}

func TestActorIsTheKey(t *testing.T) {
	t.Parallel()
	p := principal.Principal{Type: principal.TypeUser, ID: "usr_1", Name: "Ada"}
	require.Equal(t, principal.Actor{Type: "user", ID: "usr_1", Name: "Ada"}, p.Actor())
	p.KeyID, p.KeyName = "key_1", "CI"
	require.Equal(t, principal.Actor{Type: "api_key", ID: "key_1", Name: "CI"}, p.Actor())
}

func TestScopes(t *testing.T) {
	t.Parallel()
	require.Len(t, principal.ScopeNames, 16)
	all, err := principal.ParseScopes(principal.ScopeNames)
	require.NoError(t, err)
	require.Equal(t, principal.AllScopes, all)
	require.Equal(t, principal.ScopeNames, all.Names())

	seen := map[principal.Scopes]bool{}
	for _, name := range principal.ScopeNames {
		one := principal.ScopeOf(name)
		require.False(t, seen[one], name)
		seen[one] = true
		require.True(t, all.Has(one))
		require.False(t, (all &^ one).Has(one))
		require.Equal(t, []string{name}, one.Names())
	}

	_, err = principal.ParseScopes([]string{"services:read", "Services:read"})
	require.ErrorContains(t, err, `"Services:read"`)
	require.Zero(t, principal.ScopeOf("openid"))
	require.False(t, all.Has(principal.ScopeOf("openid")), "nobody holds a scope that does not exist")
	require.Empty(t, principal.Scopes(0).Names())
}

func TestContextCarriesTheLast(t *testing.T) {
	t.Parallel()
	a, b := &principal.Principal{ID: "a"}, &principal.Principal{ID: "b"}
	ctx := principal.With(context.WithoutCancel(principal.With(t.Context(), a)), b)
	p, ok := principal.From(ctx)
	require.True(t, ok)
	require.Same(t, b, p)
}

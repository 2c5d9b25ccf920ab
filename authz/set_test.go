package authz_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// setOf compiles policies: "Deny read Service {…}", named pol_a, pol_b and so on.
func setOf(t *testing.T, e *authz.Engine, policies ...string) *authz.Set {
	t.Helper()
	var list []*authz.Compiled
	for i, p := range policies {
		part := strings.SplitN(p, " ", 4)
		c, err := e.Compile(t.Context(), authz.Policy{
			ID: "pol_" + string(rune('a'+i)), Effect: part[0], Action: part[1], Resource: part[2], Condition: []byte(part[3]),
		})
		require.NoError(t, err, p)
		list = append(list, c)
	}
	return authz.NewSet(list)
}

// How policies combine with each other, and with scopes and roles.
func TestPoliciesTogether(t *testing.T) {
	t.Parallel()
	e := engine(t)
	read := authz.Question{Verb: "service.read", Scope: "services:read", Action: "read", Resource: "Service"}
	row, ok := authz.RowOf(&ent.Service{ID: "svc_1", Name: "Billing", Tags: map[string]string{"env": "prod"}}, nil)
	require.True(t, ok)
	for name, tc := range map[string]struct {
		role     principal.Role
		q        authz.Question
		policies []string
		want     authz.Decision
	}{
		"no policy, no permission": {principal.Member, read, nil,
			authz.Decision{By: authz.By{Kind: "policy"}, Rows: authz.RowsNone}},
		"a policy permits": {principal.Member, read, []string{`Allow * * {}`},
			authz.Decision{Allow: true, By: authz.By{Kind: "policy", ID: "pol_a"}, Rows: authz.RowsAll}},
		"a denial beats permissions": {principal.Owner, read, []string{`Allow * * {}`, `Deny read Service {"resource.tags.env": "prod"}`},
			authz.Decision{By: authz.By{Kind: "policy", ID: "pol_b"}, Rows: authz.RowsNone}},
		"a denial that does not hold": {principal.Member, read, []string{`Allow * * {}`, `Deny read Service {"resource.tags.env": "dev"}`},
			authz.Decision{Allow: true, By: authz.By{Kind: "policy", ID: "pol_a"}, Rows: authz.RowsAll}},
		"the first of several is named": {principal.Member, read, []string{`Allow read Service {"resource.name": "Billing"}`, `Allow * * {}`, `Deny read Service {"resource.name": "x"}`},
			authz.Decision{Allow: true, By: authz.By{Kind: "policy", ID: "pol_a"}, Rows: authz.RowsAll}},
		"all conditions must hold": {principal.Member, read, []string{`Allow read Service {"resource.name": "Billing", "resource.tags.env": "dev"}`},
			authz.Decision{By: authz.By{Kind: "policy"}, Rows: authz.RowsNone}},
		"roles come before policies": {principal.Member, authz.Question{Verb: "service.create", Action: "create", Resource: "Service"}, []string{`Allow * * {}`},
			authz.Decision{By: authz.By{Kind: "role", ID: "member"}, Rows: authz.RowsNone}},
		"owners keep their policies": {principal.Owner, authz.Question{Verb: "accesspolicy.delete", AdminLayer: true, Action: "delete", Resource: "AccessPolicy"}, []string{`Deny * * {}`},
			authz.Decision{Allow: true, By: authz.By{Kind: "role", ID: "owner"}, Rows: authz.RowsAll}},
		"admins do not": {principal.Admin, authz.Question{Verb: "accesspolicy.delete", AdminLayer: true, Action: "delete", Resource: "AccessPolicy"}, []string{`Deny * * {}`},
			authz.Decision{By: authz.By{Kind: "policy", ID: "pol_a"}, Rows: authz.RowsNone}},
		"owners keep nothing else": {principal.Owner, authz.Question{Verb: "secret.delete", Action: "delete", Resource: "Secret"}, []string{`Deny * * {}`},
			authz.Decision{By: authz.By{Kind: "policy", ID: "pol_a"}, Rows: authz.RowsNone}},
		"the installation's operator is of no company": {principal.OperatorRole, read, []string{`Deny * * {}`},
			authz.Decision{Allow: true, By: authz.By{Kind: "role", ID: "operator"}, Rows: authz.RowsAll}},
	} {
		p := &principal.Principal{Type: principal.TypeUser, ID: "usr_1", Role: tc.role, Scopes: principal.AllScopes, Method: principal.MethodSession}
		d, err := e.DecideRow(t.Context(), setOf(t, e, tc.policies...), &authz.Caller{Principal: p, Time: time.Now()}, tc.q, row)
		require.NoError(t, err, name)
		require.Equal(t, tc.want, d, name)
	}
}

// An explanation names each condition that does not hold, in policies of either effect. A condition that became several
// comparisons is named once.
func TestWhatDoesNotHoldIsTold(t *testing.T) {
	t.Parallel()
	e := engine(t)
	set := setOf(t, e, `Allow read Service {"resource.name": "Billing", "resource.tags.env": "dev"}`,
		`Deny * * {"resource.version": 3, "resource.name": {"nin": ["${principal.id}", "Billing", "${principal.role}"]}}`,
		`Deny update Service {"resource.name": "x"}`)
	row, ok := authz.RowOf(&ent.Service{ID: "svc_1", Name: "Billing", Tags: map[string]string{"env": "prod"}}, nil)
	require.True(t, ok)
	p := &principal.Principal{Type: principal.TypeUser, ID: "usr_1", Role: principal.Member, Scopes: principal.AllScopes, Method: principal.MethodSession}
	d, unmet, err := e.Explain(t.Context(), set, &authz.Caller{Principal: p, Time: time.Now()},
		authz.Question{Verb: "service.read", Action: "read", Resource: "Service"}, row)
	require.NoError(t, err)
	require.False(t, d.Allow)
	got := []string{}
	for _, u := range unmet {
		got = append(got, fmt.Sprintf("%s %s %s %v", u.PolicyID, u.Path, u.Op, u.Have))
	}
	require.Equal(t, []string{"pol_a resource.tags.env eq prod", "pol_b resource.name nin Billing", "pol_b resource.version eq <nil>"}, got)
}

// A caller whose context ends does not wait for the decision, and gets an error.
func TestDecisionsEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	e := engine(t)
	set := setOf(t, e, `Allow read Service {"resource.name": "x"}`)
	row, ok := authz.RowOf(&ent.Service{ID: "svc_1", Name: "Billing"}, nil)
	require.True(t, ok)
	p := &principal.Principal{Type: principal.TypeUser, ID: "usr_1", Role: principal.Member, Scopes: principal.AllScopes, Method: principal.MethodSession}
	q := authz.Question{Verb: "service.read", Action: "read", Resource: "Service"}
	_, err := e.Decide(t.Context(), p, q)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := e.DecideRow(ctx, set, &authz.Caller{Principal: p, Time: time.Now()}, q, row)
	require.True(t, errors.Is(err, context.Canceled), "%v", err)
	require.Equal(t, authz.Decision{}, d)
}

// RequireApproval applies only to agents, and only to actions that another policy or role allows.
func TestRequireApproval(t *testing.T) {
	t.Parallel()
	e := engine(t)
	row, ok := authz.RowOf(&ent.Request{ID: "req_1", Priority: "URGENT"}, nil)
	require.True(t, ok)
	update := authz.Question{Verb: "request.update", Scope: "requests:write", Action: "update", Resource: "Request"}
	urgent := `RequireApproval update Request {"resource.priority": "URGENT"}`
	for name, tc := range map[string]struct {
		who      principal.Type
		policies []string
		allow    bool
		approval string
	}{
		"an agent waits":              {principal.TypeAgent, []string{`Allow * * {}`, urgent}, true, "pol_b"},
		"a person does not":           {principal.TypeUser, []string{`Allow * * {}`, urgent}, true, ""},
		"another row":                 {principal.TypeAgent, []string{`Allow * * {}`, `RequireApproval update Request {"resource.priority": "LOW"}`}, true, ""},
		"it allows nothing":           {principal.TypeAgent, []string{urgent}, false, ""},
		"a denial is not approved":    {principal.TypeAgent, []string{`Allow * * {}`, urgent, `Deny update Request {}`}, false, ""},
		"whatever agents change":      {principal.TypeAgent, []string{`Allow * * {}`, `RequireApproval * * {}`}, true, "pol_b"},
		"another action of the agent": {principal.TypeAgent, []string{`Allow * * {}`, `RequireApproval delete Request {}`}, true, ""},
	} {
		who := &authz.Caller{Principal: &principal.Principal{Type: tc.who, Role: principal.Agent, Method: principal.MethodLocal, Scopes: principal.AllScopes}}
		set := setOf(t, e, tc.policies...)
		d, err := e.DecideRow(t.Context(), set, who, update, row)
		require.NoError(t, err)
		require.Equal(t, tc.allow, d.Allow, name)
		require.Equal(t, tc.approval, d.Approval, name)
		require.False(t, tc.approval != "" && e.Unconditional(set, "update", "Request"), "each row is asked about")
		read := update
		read.Verb, read.Scope, read.Action = "request.read", "requests:read", "read"
		d, err = e.DecideRow(t.Context(), set, who, read, row)
		require.NoError(t, err)
		require.Empty(t, d.Approval, "nobody approves reading")
	}

	for field, p := range map[string]authz.Policy{
		"effect":                   {Effect: "Require", Action: "update", Resource: "Request", Condition: []byte(`{}`)},
		"action":                   {Effect: authz.RequireApproval, Action: "read", Resource: "Request", Condition: []byte(`{}`)},
		"condition.principal.type": {Effect: authz.RequireApproval, Action: "update", Resource: "Request", Condition: []byte(`{"principal.type": "user"}`)},
	} {
		_, err := e.Compile(t.Context(), p)
		require.ErrorContains(t, err, "", field)
		require.Equal(t, field, apperr.From(err).Details[0].Field)
	}
}

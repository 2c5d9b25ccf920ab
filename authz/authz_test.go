package authz_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/authz"
	"atrium/internal/platform/principal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func engine(t *testing.T) *authz.Engine {
	t.Helper()
	e, err := authz.New(t.Context(), authz.Options{})
	require.NoError(t, err)
	return e
}

// What each role may do, as in the table of the API contract: all rows, own, assigned, or none.
func TestRolesAndVerbs(t *testing.T) {
	t.Parallel()
	e := engine(t)
	const all, own, assigned, none = authz.RowsAll, authz.RowsOwn, authz.RowsAssigned, authz.RowsNone
	roles := []principal.Role{principal.Member, principal.Agent, principal.Admin, principal.Owner, principal.OperatorRole, "guest", ""}
	for verb, want := range map[string][]authz.Reach{ // in the order of roles
		"service.read":               {all, all, all, all, all, none, none},
		"offering.read":              {all, all, all, all, all, none, none},
		"service.create":             {none, none, all, all, all, none, none},
		"offering.delete":            {none, none, all, all, all, none, none},
		"request.create":             {all, all, all, all, all, none, none},
		"request.read":               {own, all, all, all, all, none, none},
		"request.cancel":             {own, all, all, all, all, none, none},
		"request.reopen":             {own, all, all, all, all, none, none},
		"request.update":             {none, all, all, all, all, none, none},
		"request.accept":             {none, all, all, all, all, none, none},
		"request.complete":           {none, all, all, all, all, none, none},
		"request.delete":             {none, none, all, all, all, none, none},
		"task.read":                  {assigned, all, all, all, all, none, none},
		"task.complete":              {assigned, all, all, all, all, none, none},
		"workflow.read":              {none, all, all, all, all, none, none},
		"workflow.update":            {none, none, all, all, all, none, none},
		"execution.read":             {none, all, all, all, all, none, none},
		"user.read":                  {none, all, all, all, all, none, none},
		"user.invite":                {none, none, all, all, all, none, none},
		"user.update_owner":          {none, none, none, all, all, none, none},
		"team.read":                  {none, all, all, all, all, none, none},
		"team.create":                {none, none, all, all, all, none, none},
		"organization.read":          {none, all, all, all, all, none, none},
		"secret.read":                {none, none, all, all, all, none, none},
		"audit.read":                 {none, none, all, all, all, none, none},
		"billing.read":               {none, none, all, all, all, none, none},
		"billing.change":             {none, none, none, all, all, none, none},
		"billing.cancel":             {none, none, none, all, all, none, none},
		"company.limits":             {none, none, none, none, all, none, none},
		"credit.issue":               {none, none, none, none, all, none, none},
		"invoice.pay":                {none, none, none, none, all, none, none},
		"invoice.void":               {none, none, none, none, all, none, none},
		"invoice.write_off":          {none, none, none, none, all, none, none},
		"invoice.credit":             {none, none, none, none, all, none, none},
		"invoice.draft":              {none, none, none, none, all, none, none},
		"invoice.issue":              {none, none, none, none, all, none, none},
		"payment.begin":              {none, none, none, none, all, none, none},
		"payment.settle":             {none, none, none, none, all, none, none},
		"payment.recheck":            {none, none, none, none, all, none, none},
		"billing.set_payment_method": {none, none, none, none, all, none, none},
		"billing.settle":             {none, none, none, none, all, none, none},
		"token.create":               {none, none, none, none, all, none, none},
		"something.unheardof":        {none, none, all, all, all, none, none},
	} {
		for i, role := range roles {
			p := &principal.Principal{Role: role, Method: principal.MethodSession}
			d, err := e.Decide(t.Context(), p, authz.Question{Verb: verb})
			require.NoError(t, err)
			require.Equal(t, want[i], d.Rows, "%s by %q", verb, role)
			require.Equal(t, want[i] != none, d.Allow, "%s by %q", verb, role)
			require.Equal(t, authz.By{Kind: "role", ID: string(role)}, d.By)
		}
	}
}

// Scopes are checked before the kind of caller, and that before the role.
func TestWhatDecides(t *testing.T) {
	t.Parallel()
	e := engine(t)
	ask := func(role principal.Role, m principal.Method, s principal.Scopes, q authz.Question) authz.Decision {
		d, err := e.Decide(t.Context(), &principal.Principal{Role: role, Method: m, Scopes: s}, q)
		require.NoError(t, err)
		return d
	}
	read := principal.ScopeOf("services:read")
	q := authz.Question{Verb: "service.create", Scope: "services:write"}
	require.Equal(t, authz.By{Kind: "scope", ID: "services:write"}, ask(principal.Member, principal.MethodAPIKey, read, q).By)
	require.Equal(t, authz.By{Kind: "role", ID: "member"}, ask(principal.Member, principal.MethodAPIKey, principal.AllScopes, q).By)
	require.True(t, ask(principal.Owner, principal.MethodAPIKey, principal.ScopeOf("services:write"), q).Allow)
	require.False(t, ask(principal.Owner, principal.MethodSession, principal.AllScopes, authz.Question{Verb: "service.read", Scope: "no:such"}).Allow,
		"a scope that does not exist is nobody's")

	layer := authz.Question{Verb: "apikey.create", AdminLayer: true}
	for _, tc := range []struct {
		method principal.Method
		scopes principal.Scopes
		role   principal.Role
		allow  bool
		by     string
	}{
		{principal.MethodSession, 0, principal.Owner, true, "role"},
		{principal.MethodLocal, principal.AllScopes, principal.OperatorRole, true, "role"},
		{principal.MethodBearer, principal.AllScopes, principal.Admin, true, "role"},
		{principal.MethodBearer, principal.AllScopes &^ read, principal.Owner, false, "method"},
		{principal.MethodAPIKey, principal.AllScopes, principal.Owner, false, "method"},
		{"", principal.AllScopes, principal.Owner, false, "method"},
		{principal.MethodSession, principal.AllScopes, principal.Member, false, "role"},
	} {
		d := ask(tc.role, tc.method, tc.scopes, layer)
		require.Equal(t, tc.allow, d.Allow, "%+v", tc)
		require.Equal(t, tc.by, d.By.Kind, "%+v", tc)
	}
}

// A cached answer equals a fresh one, and is not used for another question.
func TestCachedAnswers(t *testing.T) {
	t.Parallel()
	cached := engine(t)
	var wg sync.WaitGroup
	type asked struct {
		p principal.Principal
		q authz.Question
	}
	var questions []asked
	for _, role := range []principal.Role{principal.Member, principal.Admin} {
		for _, m := range []principal.Method{principal.MethodAPIKey, principal.MethodBearer, principal.MethodSession} {
			for _, s := range []principal.Scopes{0, principal.ScopeOf("services:read"), principal.AllScopes} {
				for _, q := range []authz.Question{{Verb: "service.read", Scope: "services:read"}, {Verb: "service.create", Scope: "services:write"}, {Verb: "service.create", AdminLayer: true}, {Verb: "service.read"}} {
					questions = append(questions, asked{principal.Principal{Role: role, Method: m, Scopes: s}, q})
				}
			}
		}
	}
	errs := make([]error, len(questions)*3)
	for i := range errs {
		a := questions[i%len(questions)]
		wg.Go(func() { _, errs[i] = cached.Decide(context.Background(), &a.p, a.q) })
	}
	wg.Wait()
	fresh := engine(t)
	for i, a := range questions {
		require.NoError(t, errs[i])
		want, err := fresh.Decide(t.Context(), &a.p, a.q)
		require.NoError(t, err)
		got, err := cached.Decide(t.Context(), &a.p, a.q)
		require.NoError(t, err)
		require.Equal(t, want, got, "%+v", a)
	}
}

// However many sets of scopes callers have, few decisions are remembered, and each is the one that all of the caller's scopes give.
func TestFewAnswersAreRemembered(t *testing.T) {
	t.Parallel()
	e := engine(t)
	questions := []authz.Question{{Verb: "service.read", Scope: "services:read"}, {Verb: "agent.update", AdminLayer: true}, {Verb: "agent.update", Scope: "services:read", AdminLayer: true}}
	for set := range principal.AllScopes + 1 {
		if set%97 != 0 && set != principal.AllScopes && set != principal.AllScopes-1 {
			continue
		}
		p := &principal.Principal{Role: principal.Admin, Method: principal.MethodBearer, Scopes: set}
		for _, q := range questions {
			want, err := authz.DecideAnew(t.Context(), e, p, q)
			require.NoError(t, err)
			got, err := e.Decide(t.Context(), p, q)
			require.NoError(t, err)
			require.Equal(t, want, got, "%v %+v", set.Names(), q)
		}
	}
	require.LessOrEqual(t, authz.Remembered(e), 3*len(questions))
}

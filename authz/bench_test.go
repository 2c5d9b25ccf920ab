package authz_test

import (
	"fmt"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/platform/principal"
)

// compiled makes a set of policies on reading services that look at the row, one of them an Allow that holds, and others policies
// on another resource.
func compiled(b *testing.B, e *authz.Engine, matching, others int) *authz.Set {
	b.Helper()
	var list []*authz.Compiled
	add := func(effect, resource, condition string) {
		c, err := e.Compile(b.Context(), authz.Policy{
			ID: fmt.Sprintf("pol_%04d", len(list)), Effect: effect, Action: "read", Resource: resource, Condition: []byte(condition),
		})
		require.NoError(b, err)
		list = append(list, c)
	}
	add(authz.Allow, "Service", `{"resource.status": ["active", "draft"]}`)
	for i := range matching - 1 {
		add(authz.Deny, "Service", fmt.Sprintf(`{"resource.tags.env": "prod-%d"}`, i))
	}
	for i := range others {
		add(authz.Deny, "Secret", fmt.Sprintf(`{"resource.name": "S%d"}`, i))
	}
	return authz.NewSet(list)
}

// The cost of a decision: by scopes and role alone, new and cached, and by policies that look at the row. Policies on another
// resource must cost nothing.
func BenchmarkDecide(b *testing.B) {
	e, err := authz.New(b.Context(), authz.Options{})
	require.NoError(b, err)
	p := &principal.Principal{Type: principal.TypeUser, ID: "usr_1", Role: principal.Member, Scopes: principal.AllScopes, Method: principal.MethodAPIKey}
	q := authz.Question{Verb: "service.read", Scope: "services:read", Action: "read", Resource: "Service"}
	caller := &authz.Caller{Principal: p, TeamIDs: []string{"team_1", "team_2"}, Attributes: map[string]string{"region": "eu"}, Time: time.Now()}
	team := "team_1"
	row, ok := authz.RowOf(&ent.Service{ID: "svc_1", Name: "Billing", Status: "active", OwnerTeamID: &team, Tags: map[string]string{"env": "dev"}}, nil)
	require.True(b, ok)

	b.Run("scopes only, known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := e.Decide(b.Context(), p, q)
			require.NoError(b, err)
		}
	})
	b.Run("scopes only, new", func(b *testing.B) {
		b.ReportAllocs()
		ctx := b.Context()
		for b.Loop() {
			_, err := authz.DecideAnew(ctx, e, p, q)
			require.NoError(b, err)
		}
	})
	for _, n := range []struct{ matching, others int }{{1, 0}, {3, 0}, {3, 997}, {20, 0}, {200, 0}} {
		set := compiled(b, e, n.matching, n.others)
		b.Run(fmt.Sprintf("%d matching of %d policies", n.matching, n.matching+n.others), func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			for b.Loop() {
				d, err := e.DecideRow(ctx, set, caller, q, row)
				require.NoError(b, err)
				require.True(b, d.Allow)
			}
		})
	}
}

// The cost of a list's filter for a caller like an earlier one: the statement, because what partial evaluation leaves is kept.
func BenchmarkFilter(b *testing.B) {
	e, err := authz.New(b.Context(), authz.Options{})
	require.NoError(b, err)
	p := &principal.Principal{Type: principal.TypeUser, ID: "usr_1", Role: principal.Member, Method: principal.MethodAPIKey}
	caller := &authz.Caller{Principal: p, TeamIDs: []string{"team_1", "team_2"}, Time: time.Now()}
	for _, n := range []int{3, 20, 200} {
		set := compiled(b, e, n, 0)
		for _, d := range []string{dialect.SQLite, dialect.Postgres} {
			b.Run(fmt.Sprintf("%d policies, %s", n, d), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					where := e.Rows(set, caller).Narrow("Service")
					s := sql.Dialect(d).Select("id").From(sql.Dialect(d).Table("services"))
					where(s)
					query, _ := s.Query()
					require.NotEmpty(b, query)
				}
			})
		}
	}
}

// The cost of saving a policy.
func BenchmarkCompile(b *testing.B) {
	e, err := authz.New(b.Context(), authz.Options{})
	require.NoError(b, err)
	p := authz.Policy{ID: "pol_1", Effect: authz.Deny, Action: "*", Resource: "*", Condition: []byte(`{"resource.tags.env": "prod", "principal.role": {"in": ["member", "agent"]}, "resource.name": {"glob": "a*"}}`)}
	b.ReportAllocs()
	for b.Loop() {
		_, err := e.Compile(b.Context(), p)
		require.NoError(b, err)
	}
}

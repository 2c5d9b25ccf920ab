package graph_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	entcompany "atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// Operations of an exact cost. A list costs the same whether there are rows or not.
const (
	cost20000 = `a: services(first: 100) { edges { node { offerings(first: 65) { edges { node { id } } } } } } b: services(first: 66) { edges { node { id } } }`
	cost30301 = `services(first: 100) { edges { node { offerings(first: 100) { edges { node { id } } } } } }`
)

// costs checks whether an operation passes; limit is the limit that the refusal names, 0 if it passes.
func costs(t *testing.T, s *apitest.Server, as apitest.Caller, query string, limit int) {
	t.Helper()
	a := send(t, s, as, "{"+query+"}", nil)
	if limit == 0 {
		require.Equal(t, http.StatusOK, a.Status, "%s: %s", as.Name, a.Body)
		return
	}
	require.Equal(t, http.StatusBadRequest, a.Status, "%s: %s", as.Name, a.Body)
	require.Equal(t, "query_too_complex", a.Text("errors.0.extensions.code"))
	require.Contains(t, a.Text("errors.0.message"), fmt.Sprintf("limit is %d.", limit))
}

// On every plan, and in the sandbox, an operation may cost at most 20,000, for every caller.
func TestEveryPlanAllowsTheSameCost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for _, plan := range []entcompany.Plan{
			entcompany.PlanFree, entcompany.PlanPro, entcompany.PlanStarter, entcompany.PlanGrowth, entcompany.PlanBusiness, entcompany.PlanEnterprise,
		} {
			s.Write(t, func(ctx context.Context, tx *store.Tx) error {
				return tx.Company.UpdateOneID(s.World.A.Company.ID).SetPlan(plan).Exec(ctx)
			})
			s.World.Store.AuthorityChanged()
			for _, as := range []apitest.Caller{s.A.Owner, s.A.MemberKey, s.Session(t, s.World.A.Users[principal.Agent])} {
				costs(t, s, as, cost20000, 0)
				costs(t, s, as, cost20000+" __typename", 20_000)
			}
		}
		costs(t, s, s.A.TestKey, cost20000, 0)
		costs(t, s, s.A.TestKey, cost20000+" __typename", 20_000)
	})
}

// ownCost sets a limit for company A, as the operator; null removes it.
func ownCost(t *testing.T, w *testkit.World, value string) {
	t.Helper()
	in := company.LimitsInput{ByID: op.ByID{ID: w.A.Company.ID}}
	require.NoError(t, in.QueryCost.UnmarshalJSON([]byte(value)))
	testkit.Run(t, w, principal.With(t.Context(), principal.Operator(w.A.Company.ID, "company limits")), company.SetLimits, in)
}

// A limit that the operator raises holds for the whole company at once, on other nodes as soon as they are notified, and never in
// the sandbox. Removing it takes effect as fast.
func TestRaisedCost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		other := apitest.Serve(t, s.World.Node(t), door)
		passes := func(want bool) func() bool {
			return func() bool {
				return (send(t, other, s.A.MemberKey, "{"+cost30301+"}", nil).Status == http.StatusOK) == want
			}
		}
		costs(t, s, s.A.MemberKey, cost30301, 20_000)
		require.True(t, passes(false)())

		ownCost(t, s.World, "30301")
		costs(t, s, s.A.MemberKey, cost30301, 0)
		costs(t, s, s.A.Owner, cost30301+" __typename", 30_301)
		costs(t, s, s.A.TestKey, cost30301, 20_000)
		costs(t, s, s.B.Owner, cost30301, 20_000)
		require.Eventually(t, passes(true), store.Propagation+2*time.Second, 10*time.Millisecond)

		ownCost(t, s.World, "null")
		costs(t, s, s.A.MemberKey, cost30301, 20_000)
		require.Eventually(t, passes(false), store.Propagation+2*time.Second, 10*time.Millisecond)
	})
}

// A company can read its limits: those of REST's headers, and the highest cost of an operation.
func TestCompanyLimits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		ownCost(t, s.World, "123456")
		s.Limits(t, s.World.A, 5_000, 600_000)
		for _, c := range []struct {
			as   apitest.Caller
			want string
		}{
			{s.A.Member, `{"perMinute":5000,"perDay":600000,"megabytesPerMinute":400,"megabytesPerDay":100000,"queryCost":123456}`},
			{s.A.TestKey, `{"perMinute":60,"perDay":10000,"megabytesPerMinute":20,"megabytesPerDay":500,"queryCost":20000}`},
		} {
			a := ask(t, s, c.as, `{ viewer { company { limits { perMinute perDay megabytesPerMinute megabytesPerDay queryCost } } } }`, nil)
			require.JSONEq(t, `{"data":{"viewer":{"company":{"limits":`+c.want+`}}}}`, string(a.Body))
			header := a.Header.Get("RateLimit-Policy")
			require.Equal(t, fmt.Sprintf(`"minute";q=%d;w=60, "day";q=%d;w=86400`, a.Int("data.viewer.company.limits.perMinute"), a.Int("data.viewer.company.limits.perDay")), header)
		}
	})
}

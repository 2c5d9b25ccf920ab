package doors

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// REST and GraphQL make, show, rename and end the same reports by mail, each its reader's alone, and refuse the same filters.
func TestReportSubscriptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.Agent
		ask := func(as apitest.Caller, query string, in vars) *apitest.Answer {
			t.Helper()
			return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": query, "variables": in}})
		}
		const create = `mutation($in: CreateReportSubscriptionInput!) { createReportSubscription(input: $in) { reportSubscription { id name query userId nextAt etag } } }`
		const list = `{ reportSubscriptions(orderBy: {field: name}) { totalCount edges { node { id name query nextAt etag } } } }`
		for name, in := range map[string]vars{
			"an unknown value": {"name": "x", "query": "priority=SOON&by=colour"}, "a time": {"name": "x", "query": "from=2026-01-01T00:00:00Z"}, "blanks": {"name": " "},
		} {
			r := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/report-subscriptions", Body: in, WantStatus: 400, WantCode: "validation_error"})
			g := ask(as, create, vars{"in": in})
			require.Equal(t, rowsOf(r, "details"), rowsOf(g, "errors.0.extensions.details"), "%s: %s", name, g.Body)
		}
		in := vars{"name": "Desk", "query": "priority=HIGH,URGENT&by=team"}
		made := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/report-subscriptions", Body: in, WantStatus: 201})
		require.Equal(t, as.UserID, made.Text("data.userId"))
		other := ask(as, create, vars{"in": vars{"name": "Field"}}).Text("data.createReportSubscription.reportSubscription.id")
		require.NotEmpty(t, other)

		rows := s.Do(t, apitest.Scenario{As: as, Path: "/v1/report-subscriptions?sort=name"})
		edges := ask(as, list, nil)
		require.EqualValues(t, 2, edges.Get("data.reportSubscriptions.totalCount"), edges.Body)
		for _, field := range []string{"id", "name", "query", "nextAt"} {
			require.Equal(t, rows.Get("data.0."+field), edges.Get("data.reportSubscriptions.edges.0.node."+field), field)
		}
		for _, neighbour := range []apitest.Caller{s.A.OwnerKey, s.B.OwnerKey} {
			require.Empty(t, s.Do(t, apitest.Scenario{As: neighbour, Path: "/v1/report-subscriptions"}).Get("data"))
			require.Zero(t, ask(neighbour, list, nil).Get("data.reportSubscriptions.totalCount"))
			s.Do(t, apitest.Scenario{As: neighbour, Method: http.MethodDelete, Path: "/v1/report-subscriptions/" + made.ID(), WantStatus: 404})
			require.Equal(t, "not_found", ask(neighbour, `mutation($id: ID!) { deleteReportSubscription(input: {id: $id}) { id } }`, vars{"id": made.ID()}).Text("errors.0.extensions.code"))
		}
		renamed := ask(as, `mutation($in: UpdateReportSubscriptionInput!) { updateReportSubscription(input: $in) { reportSubscription { name } } }`, vars{"in": vars{"id": made.ID(), "name": "The desk", "ifMatch": edges.Text("data.reportSubscriptions.edges.0.node.etag")}})
		require.Equal(t, "The desk", renamed.Text("data.updateReportSubscription.reportSubscription.name"), renamed.Body)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/report-subscriptions/" + made.ID(), Header: http.Header{"If-Match": {made.ETag()}}, Body: vars{"name": "x"}, WantStatus: 412})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/report-subscriptions/" + made.ID(), WantStatus: 204})
		require.False(t, ask(as, `mutation($id: ID!) { deleteReportSubscription(input: {id: $id}) { id } }`, vars{"id": other}).Has("errors"))
		require.Zero(t, ask(as, list, nil).Get("data.reportSubscriptions.totalCount"))
	})
}

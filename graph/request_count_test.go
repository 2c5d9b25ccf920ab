package graph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// The counts and rights by which pages number their tabs and show their buttons.
func TestPagesLearnWhatTheirViewerMayDo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, member := s.Session(t, s.World.A.Owner), s.Session(t, s.World.A.Users[principal.Member])
		service := ask(t, s, owner, `mutation { createService(input: {name: "IT"}) { service { id } } }`, nil).Text("data.createService.service.id")
		offering := ask(t, s, owner, `mutation($id: ID!) { createOffering(input: {serviceId: $id, name: "Laptop"}) { offering { id } } }`,
			vars{"id": service}).Text("data.createOffering.offering.id")
		a := ask(t, s, member, `{ viewer { permissions } services { edges { node { id viewerMay offerings { edges { node { id viewerMay } } } } } } }`, nil)
		require.Contains(t, fmt.Sprint(a.Get("data.viewer.permissions")), "request.create")
		require.NotContains(t, fmt.Sprint(a.Get("data.viewer.permissions")), "request.update")
		require.Equal(t, "[]", fmt.Sprint(a.Get("data.services.edges.0.node.viewerMay")))
		a = ask(t, s, member, `mutation($in: CreateRequestInput!) { createRequest(input: $in) { request { id viewerMay } } }`,
			vars{"in": vars{"serviceId": service, "offeringId": offering, "title": "x"}})
		require.Equal(t, "[request.cancel request.rate request.reopen request.watch]", fmt.Sprint(a.Get("data.createRequest.request.viewerMay")))
		a = ask(t, s, owner, `{ viewer { permissions } }`, nil)
		for _, verb := range []string{"company.update", "company.update_mfa", "user.invite", "user.update_admin", "serviceaccount.create", "savedview.create", "savedview.share"} {
			require.Contains(t, fmt.Sprint(a.Get("data.viewer.permissions")), verb, "rights that depend on an input or a row are rights, too")
		}
		staff := s.Session(t, s.World.A.Users[principal.Agent])
		a = ask(t, s, staff, `{ requests(first: 1) { edges { node { viewerMay } } } requestCounts(filter: {status: [PENDING]}, by: priority) { value count } }`, nil)
		require.Contains(t, fmt.Sprint(a.Get("data.requests.edges.0.node.viewerMay")), "request.accept")
		require.Contains(t, fmt.Sprint(a.Get("data.requestCounts")), "MEDIUM")
		a = ask(t, s, s.Session(t, s.World.B.Owner), `{ requestCounts(by: priority) { value count } }`, nil)
		require.Equal(t, "[]", fmt.Sprint(a.Get("data.requestCounts")))
	})
}

// Only callers who may read runs can read the figures of agents, in person or by a key with the scope.
func TestWhoReadsFiguresOfAgents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const query = `{ agentStats(from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z", by: week) {
			key runs open completed proposed handedOver failed stopped waiting applied rejected stale expired modelCalls inputTokens outputTokens } }`
		for _, as := range []apitest.Caller{s.Session(t, s.World.A.Owner), s.Session(t, s.World.A.Users[principal.Agent]), s.A.AgentKey} {
			require.Equal(t, "[]", fmt.Sprint(ask(t, s, as, query, nil).Get("data.agentStats")), as.Name)
		}
		blind := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{Scopes: []string{"services:read"}})
		for _, as := range []apitest.Caller{s.Session(t, s.World.A.Users[principal.Member]), s.A.MemberKey, blind} {
			require.Equal(t, "forbidden", send(t, s, as, query, nil).Text("errors.0.extensions.code"), as.Name)
		}
	})
}

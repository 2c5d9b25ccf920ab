package graph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/apitest"
	"atrium/internal/principal"
)

// What pages ask to know which tabs to number and which buttons to show.
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
		require.Equal(t, "[request.cancel]", fmt.Sprint(a.Get("data.createRequest.request.viewerMay")))
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

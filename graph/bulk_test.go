package graph_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

const updateRequests = `mutation($in: UpdateRequestsInput!) { updateRequests(input: $in) { results {
	id request { id status etag assignee { id } service { name } } error { code message details { field message } reason decisionId }
} } }`

// Several requests are changed by one mutation, and each has its own outcome.
func TestUpdateRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		one, two, gone := h.filed(t, s, principal.Member, "One"), h.filed(t, s, principal.Member, "Two"), h.filed(t, s, principal.Member, "Gone")
		ask(t, s, s.A.Member, `mutation($id: ID!) { updateRequest(input: {id: $id, status: CANCELLED}) { request { id } } }`, vars{"id": gone.ID})
		in := vars{"ids": []string{one.ID, gone.ID, "req_1", two.ID}, "transition": "accept"}
		a := ask(t, s, s.A.Agent, updateRequests, vars{"in": in})
		require.Equal(t, []any{"IN_PROGRESS", nil, nil, "IN_PROGRESS"}, []any{
			a.Get("data.updateRequests.results.0.request.status"), a.Get("data.updateRequests.results.1.request"),
			a.Get("data.updateRequests.results.2.request"), a.Get("data.updateRequests.results.3.request.status"),
		})
		require.Equal(t, "IT Support", a.Text("data.updateRequests.results.3.request.service.name"))
		alone := send(t, s, s.A.Agent, `mutation($id: ID!) { acceptRequest(input: {id: $id}) { request { id } } }`, vars{"id": gone.ID})
		require.Equal(t, alone.Get("errors.0.message"), a.Get("data.updateRequests.results.1.error.message"), "as the mutation for it alone")
		require.Equal(t, "conflict", a.Text("data.updateRequests.results.1.error.code"))
		require.Equal(t, "not_found", a.Text("data.updateRequests.results.2.error.code"))

		// Each etag is compared; a change may set fields to null.
		seen := a.Text("data.updateRequests.results.0.request.etag")
		in = vars{"ids": []string{one.ID, two.ID}, "etags": []string{seen, seen}, "change": vars{"assigneeId": s.A.Agent.UserID}}
		a = ask(t, s, s.A.Agent, updateRequests, vars{"in": in})
		require.Equal(t, s.A.Agent.UserID, a.Text("data.updateRequests.results.0.request.assignee.id"))
		require.Equal(t, "precondition_failed", a.Text("data.updateRequests.results.1.error.code"))
		a = ask(t, s, s.A.Agent, updateRequests, vars{"in": vars{"ids": []string{one.ID}, "change": vars{"assigneeId": nil, "teamId": "team_1"}}})
		require.Equal(t, "teamId", a.Text("data.updateRequests.results.0.error.details.0.field"))

		// What no row could take is refused as a whole.
		for field, in := range map[string]vars{
			"change.title": {"ids": []string{one.ID}, "change": vars{"title": " "}},
			"reason":       {"ids": []string{one.ID}, "transition": "decline"},
			"ids":          {"ids": []string{one.ID, one.ID}, "transition": "accept"},
			"change":       {"ids": []string{one.ID}},
		} {
			a = send(t, s, s.A.Agent, updateRequests, vars{"in": in})
			require.Equal(t, field, a.Text("errors.0.extensions.details.0.field"), "%s", a.Body)
		}
		require.Equal(t, "forbidden", send(t, s, s.A.Member, updateRequests, vars{"in": vars{"ids": []string{one.ID}, "transition": "accept"}}).Text("errors.0.extensions.code"))
		require.Equal(t, "not_found", ask(t, s, s.B.Owner, updateRequests, vars{"in": vars{"ids": []string{one.ID}, "transition": "cancel"}}).Text("data.updateRequests.results.0.error.code"))
	})
}

// A repeat with the same key answers alike, and has no second effect.
func TestUpdateRequestsOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		ids := []string{h.filed(t, s, principal.Member, "One").ID, h.filed(t, s, principal.Member, "Two").ID}
		call := apitest.Scenario{
			As: s.A.Agent, Method: http.MethodPost, Path: "/graphql", Header: http.Header{"Idempotency-Key": {"b"}},
			Body: vars{"query": updateRequests, "variables": vars{"in": vars{"ids": ids, "transition": "accept"}}},
		}
		first, before := s.Send(t, call), s.Counts(t)
		require.Equal(t, "IN_PROGRESS", first.Text("data.updateRequests.results.1.request.status"))
		again := s.Send(t, call)
		require.JSONEq(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		require.Equal(t, before, s.Counts(t))
	})
}

package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// Staff add watchers and remove them; members do so for themselves alone.
func TestWatchersOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		r := h.filed(t, s, principal.Member, "A laptop")
		v := vars{"id": r.ID, "user": s.A.Owner.UserID}
		a := ask(t, s, s.A.Agent, `mutation($id: ID!, $user: ID!) { watchRequest(input: {id: $id, userId: $user}) { request { watchers { id } } } }`, v)
		require.Equal(t, []any{vars{"id": s.A.Owner.UserID}}, a.Get("data.watchRequest.request.watchers"))
		const remove = `mutation($id: ID!, $user: ID!) { unwatchRequest(input: {id: $id, userId: $user}) { request { watchers { id } } } }`
		require.Equal(t, "forbidden", send(t, s, s.A.Member, remove, v).Text("errors.0.extensions.code"))
		require.Equal(t, "not_found", send(t, s, s.B.Owner, remove, v).Text("errors.0.extensions.code"))
		require.Equal(t, []any{}, ask(t, s, s.A.Agent, remove, v).Get("data.unwatchRequest.request.watchers"))
	})
}

// Lists tell requests with files from those without.
func TestFilterByFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		h.filed(t, s, principal.Member, "A laptop")
		for has, want := range map[bool]int{true: 0, false: 1} {
			a := ask(t, s, s.A.Agent, `query($has: Boolean) { requests(filter: {hasAttachments: $has}) { totalCount } requestCounts(filter: {hasAttachments: $has}, by: status) { count } }`, vars{"has": has})
			require.Equal(t, want, a.Int("data.requests.totalCount"))
			require.Len(t, a.Get("data.requestCounts"), want)
		}
	})
}

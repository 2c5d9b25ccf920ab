package graph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// Search finds what the lists find, of all types that the caller may list, and nothing of other companies.
func TestSearchFindsWhatListsWould(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, member := s.Session(t, s.World.A.Owner), s.Session(t, s.World.A.Users[principal.Member])
		service := ask(t, s, owner, `mutation { createService(input: {name: "Zebra support"}) { service { id } } }`, nil).Text("data.createService.service.id")
		ask(t, s, owner, `mutation { createTeam(input: {name: "Zebra keepers"}) { team { id } } }`, nil)
		found := func(who apitest.Caller, query string) string {
			t.Helper()
			return fmt.Sprint(ask(t, s, who, query, nil).Get("data.search"))
		}
		require.Contains(t, found(owner, `{ search(q: "zebra") { type id title status } }`), service)
		require.Contains(t, found(owner, `{ search(q: "zebra") { id title } }`), "Zebra keepers")
		require.NotContains(t, found(owner, `{ search(q: "zebra", types: [Service]) { id title } }`), "Zebra keepers")
		require.Contains(t, found(member, `{ search(q: "zebra") { id title } }`), "Zebra support")
		require.NotContains(t, found(member, `{ search(q: "zebra") { id title } }`), "Zebra keepers", "members do not list teams")
		require.Equal(t, "[]", found(s.Session(t, s.World.B.Owner), `{ search(q: "zebra") { id title } }`))
		a := send(t, s, owner, `{ search(q: "z") { id } }`, nil)
		require.Equal(t, "q", a.Text("errors.0.extensions.details.0.field"))
	})
}

// Users are found by a part of their name or e-mail address, in the list and in the search, by those who may read users.
func TestUsersAreFoundByNameOrAddress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, member := s.Session(t, s.World.A.Owner), s.Session(t, s.World.A.Users[principal.Member])
		id := s.A.Member.UserID
		ask(t, s, owner, `mutation($id: ID!) { updateUser(input: {id: $id, name: "Ada Osei"}) { user { id } } }`, vars{"id": id})
		for _, q := range []string{"ada o", "MEMBER-owner@a"} {
			listed := ask(t, s, owner, `query($q: String) { users(filter: {q: $q}) { totalCount edges { node { id } } } }`, vars{"q": q})
			require.Equal(t, 1, listed.Int("data.users.totalCount"))
			require.Equal(t, id, listed.Text("data.users.edges.0.node.id"))
			hits := ask(t, s, owner, `query($q: String!) { search(q: $q, types: [User]) { type id title status } }`, vars{"q": q})
			require.Equal(t, []any{vars{"type": "User", "id": id, "title": "Ada Osei", "status": "active"}}, hits.Get("data.search"))
		}
		for _, as := range []apitest.Caller{member, s.Session(t, s.World.B.Owner)} {
			require.Equal(t, []any{}, ask(t, s, as, `{ search(q: "ada") { id } }`, nil).Get("data.search"))
		}
		require.Equal(t, 0, ask(t, s, s.Session(t, s.World.B.Owner), `{ users(filter: {q: "ada"}) { totalCount } }`, nil).Int("data.users.totalCount"))
		require.Equal(t, "forbidden", send(t, s, member, `{ users(filter: {q: "ada"}) { totalCount } }`, nil).Text("errors.0.extensions.code"))
	})
}

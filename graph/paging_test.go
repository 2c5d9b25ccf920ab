package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// Every list can be paged from beginning to end in each of its orders, and shows each row once.
func TestConnections(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		grow(t, s, 0, 4)
		for i := range 5 {
			ask(t, s, s.A.Owner, fmt.Sprintf(`mutation { createSecret(input: {allowedHosts: ["*"], name: "S%d", value: "v"}) { secret { id } } }`, i), nil)
		}
		usual := []string{"createdAt", "updatedAt", "name"}
		for list, orders := range map[string][]string{
			"services": usual, "requests": {"createdAt", "updatedAt", "title", "priority", "status"}, "users": usual, "teams": usual,
			"organizations": usual, "secrets": usual, "auditEntries": {"at"},
		} {
			for _, field := range orders {
				for _, direction := range []string{"ASC", "DESC"} {
					order := fmt.Sprintf("orderBy: {field: %s, direction: %s}", field, direction)
					whole := ask(t, s, s.A.Owner, fmt.Sprintf(`{ %s(first: 100, %s) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } } } }`, list, order), nil)
					at := "data." + list + "."
					want := idsAt(whole, at)
					require.Len(t, want, whole.Int(at+"totalCount"), list)
					require.Equal(t, false, whole.Get(at+"pageInfo.hasNextPage"))
					require.Equal(t, false, whole.Get(at+"pageInfo.hasPreviousPage"))
					require.Equal(t, whole.Text(at+"edges.0.cursor"), whole.Text(at+"pageInfo.startCursor"))
					require.Equal(t, whole.Text(fmt.Sprintf("%sedges.%d.cursor", at, len(want)-1)), whole.Text(at+"pageInfo.endCursor"))
					var got []string
					after := "null"
					for more := true; more; {
						page := ask(t, s, s.A.Owner, fmt.Sprintf(`{ %s(first: 3, after: %s, %s) { pageInfo { hasNextPage hasPreviousPage endCursor } edges { node { id } } } }`, list, after, order), nil)
						got = append(got, idsAt(page, at)...)
						require.Equal(t, after != "null", page.Get(at+"pageInfo.hasPreviousPage"))
						more, _ = page.Get(at + "pageInfo.hasNextPage").(bool)
						after = fmt.Sprintf("%q", page.Text(at+"pageInfo.endCursor"))
					}
					require.Equal(t, want, got, "%s by %s %s", list, field, direction)
				}
			}
		}
		a := ask(t, s, s.B.Owner, `{ services { totalCount pageInfo { hasNextPage startCursor endCursor } edges { cursor } } }`, nil)
		require.Equal(t, vars{"totalCount": 0.0, "pageInfo": vars{"hasNextPage": false, "startCursor": nil, "endCursor": nil}, "edges": []any{}}, a.Get("data.services"))
		// A cursor is valid for one list in one order.
		cursor := ask(t, s, s.A.Owner, `{ services(first: 1) { pageInfo { endCursor } } }`, nil).Text("data.services.pageInfo.endCursor")
		for _, query := range []string{
			`{ services(after: $c, orderBy: {field: createdAt, direction: ASC}) { totalCount } }`, `{ services(after: $c, orderBy: {field: name}) { totalCount } }`,
		} {
			a := send(t, s, s.A.Owner, "query($c: String)"+query, vars{"c": cursor})
			require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"), "%s", a.Body)
			require.Equal(t, "after", a.Text("errors.0.extensions.details.0.field"))
		}
	})
}

// Nested lists page as well, each by itself.
func TestNestedConnections(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		grow(t, s, 0, 2)
		query := `query($id: ID!, $after: String) { service(id: $id) { offerings(first: 2, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node { id } } } } }`
		id := ask(t, s, s.A.Owner, `{ services(first: 1) { edges { node { id } } } }`, nil).Text("data.services.edges.0.node.id")
		first := ask(t, s, s.A.Owner, query, vars{"id": id})
		at := "data.service.offerings."
		require.Equal(t, 3, first.Int(at+"totalCount"))
		require.Equal(t, true, first.Get(at+"pageInfo.hasNextPage"))
		second := ask(t, s, s.A.Owner, query, vars{"id": id, "after": first.Text(at + "pageInfo.endCursor")})
		require.Equal(t, false, second.Get(at+"pageInfo.hasNextPage"))
		ids := append(idsAt(first, at), idsAt(second, at)...)
		require.Len(t, ids, 3)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), 3)
		// The same edge with other arguments is another list.
		a := ask(t, s, s.A.Owner, `{ services { edges { node { a: offerings(first: 1) { edges { node { id name } } } b: offerings(first: 2) { totalCount edges { node { id description } } } } } } }`, nil)
		require.Len(t, a.Get("data.services.edges.0.node.a.edges"), 1)
		require.Len(t, a.Get("data.services.edges.0.node.b.edges"), 2)
		require.Equal(t, 3, a.Int("data.services.edges.1.node.b.totalCount"))
		for query, field := range map[string]string{
			`{ services { edges { node { offerings(first: 101) { totalCount } } } } }`: "first",
			`{ services { edges { node { offerings(after: "x") { totalCount } } } } }`: "after",
			`{ teams { edges { node { members(after: "e30") { totalCount } } } } }`:    "after",
			`{ users { edges { node { teams(first: 0) { totalCount } } } } }`:          "first",
		} {
			a := send(t, s, s.A.Owner, query, nil)
			require.Equal(t, field, a.Text("errors.0.extensions.details.0.field"), "%s", a.Body)
		}
	})
}

// An error has the path of its field.
func TestErrorsHavePaths(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		grow(t, s, 0, 1)
		a := send(t, s, s.A.Owner, `{ list: services { edges { node { few: offerings(first: 101) { totalCount } } } } }`, nil)
		require.Equal(t, []any{"list", "edges", 0.0, "node", "few"}, a.Get("errors.0.path"))
		require.Equal(t, 1, a.Int("errors.0.locations.0.line"))
		require.Nil(t, a.Get("data.list.edges.0.node.few"))
	})
}

func idsAt(a *apitest.Answer, at string) []string {
	edges, _ := a.Get(at + "edges").([]any)
	out := []string{}
	for _, e := range edges {
		id, _ := apitest.At(e, "node.id")
		out = append(out, id.(string))
	}
	return out
}

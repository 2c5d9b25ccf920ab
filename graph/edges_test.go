package graph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// nested selects edges of edges, with totals.
const nested = `query($n: Int) {
  services(first: $n) { totalCount edges { node {
    id ownerTeam { id organization { id name } memberIds members(first: 5) { totalCount edges { node { id email teamIds } } } }
    organization { id parent { id } }
    offerings(first: 2) { totalCount pageInfo { hasNextPage } edges { node { id service { id name offerings(first: 1) { totalCount } } workflow { id } } } }
  } } }
  requests(first: $n) { totalCount edges { node {
    id service { id name } offering { id name service { slug } } creator { id name ... on User { teams(first: 2) { totalCount edges { node { id memberIds } } } } }
    assignee { id teamIds } team { id name organization { name } }
  } } }
}`

// The number of statements of a nested query does not depend on the number of rows, nested totals included.
func TestStatementsDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		statements := counting(s)
		count := func(n int) (int64, *apitest.Answer) {
			statements.Store(0)
			a := ask(t, s, s.A.Owner, nested, vars{"n": n})
			return statements.Load(), a
		}
		grow(t, s, 0, 2)
		few, a := count(12)
		require.Equal(t, 2, a.Int("data.services.totalCount"))
		grow(t, s, 2, 15)
		many, a := count(12)
		require.Equal(t, few, many)
		require.Equal(t, 15, a.Int("data.services.totalCount"))
		require.Equal(t, 45, a.Int("data.requests.totalCount"))
		require.Less(t, many, int64(40))
		for i := range 12 {
			at := fmt.Sprintf("data.services.edges.%d.node.", i)
			require.Equal(t, 3, a.Int(at+"offerings.totalCount"))
			require.Equal(t, true, a.Get(at+"offerings.pageInfo.hasNextPage"))
			require.Len(t, a.Get(at+"offerings.edges"), 2)
			require.Equal(t, a.Text(at+"id"), a.Text(at+"offerings.edges.1.node.service.id"))
			require.Equal(t, 4, a.Int(at+"ownerTeam.members.totalCount"))
			require.Len(t, a.Get(at+"ownerTeam.memberIds"), 4)
			require.Len(t, a.Get(at+"ownerTeam.members.edges.0.node.teamIds"), 15)
			at = fmt.Sprintf("data.requests.edges.%d.node.", i)
			require.Equal(t, s.A.Owner.UserID, a.Text(at+"creator.id"))
			require.Equal(t, s.A.Agent.UserID, a.Text(at+"assignee.id"))
			require.Equal(t, 15, a.Int(at+"creator.teams.totalCount"))
			require.NotEmpty(t, a.Text(at+"team.organization.name"))
		}
	})
}

// An edge to a row that the caller's role may not read is null with the error forbidden, as reading the row is; its neighbours
// are answered.
func TestEdgesTakeTheRightsOfReads(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		h.filed(t, s, principal.Member, "mine")
		h.filed(t, s, principal.Member, "mine, too")
		h.filed(t, s, principal.Owner, "not mine")
		a := send(t, s, s.A.Member, `{ requests { totalCount edges { node { title service { name ownerTeam { name } } creator { name ... on User { email } } assignee { name } } } } }`, nil)
		require.Equal(t, 200, a.Status)
		require.Equal(t, 2, a.Int("data.requests.totalCount"))
		node := "data.requests.edges.0.node."
		require.Equal(t, "mine, too", a.Text(node+"title"))
		require.Equal(t, "IT Support", a.Text(node+"service.name"))
		require.True(t, a.Has(node+"service.ownerTeam"))
		require.Nil(t, a.Get(node+"service.ownerTeam"), "members read no teams")
		require.Nil(t, a.Get(node+"creator"), "members read no users but by name")
		require.Nil(t, a.Get(node+"assignee"), "it leads nowhere")
		errs, _ := a.Get("errors").([]any)
		require.Len(t, errs, 4, "two requests with a creator and a service's team each: %s", a.Body)
		for i := range errs {
			require.Equal(t, "forbidden", a.Text(fmt.Sprintf("errors.%d.extensions.code", i)))
			require.Equal(t, "member", a.Text(fmt.Sprintf("errors.%d.extensions.reason", i)))
			require.NotEmpty(t, a.Text(fmt.Sprintf("errors.%d.extensions.decisionId", i)))
			require.Equal(t, a.RequestID(), a.Text(fmt.Sprintf("errors.%d.extensions.requestId", i)))
		}
		denied := s.Audit(t, a.RequestID())
		require.Len(t, denied, 2, "a denial is audited once for all rows")
		for _, e := range denied {
			require.EqualValues(t, "denied", e.Outcome)
			require.Contains(t, []string{"user.read", "team.read"}, e.Action)
			require.Nil(t, e.ResourceID)
		}

		scoped := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{Scopes: []string{"requests:read"}})
		a = send(t, s, scoped, `{ requests(first: 1) { edges { node { title service { name } } } } }`, nil)
		require.Equal(t, "not mine", a.Text("data.requests.edges.0.node.title"))
		require.Nil(t, a.Get("data.requests.edges.0.node.service"))
		require.Equal(t, "services:read", a.Text("errors.0.extensions.reason"))
	})
}

// Whoever reads a request, a comment or a task reads the names of those whom it tells of, and nothing more of them; and nothing of
// what access policies hide.
func TestNamesOfWhoeverTakesPart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		r := h.filed(t, s, principal.Member, "mine")
		h.filed(t, s, principal.Owner, "not mine")
		team := ask(t, s, s.A.OwnerKey, `mutation { createTeam(input: {name: "Helpers"}) { team { id } } }`, nil).Text("data.createTeam.team.id")
		ask(t, s, s.A.OwnerKey, `mutation($in: UpdateRequestInput!) { updateRequest(input: $in) { request { id } } }`, vars{"in": vars{"id": r.ID, "assigneeId": s.A.Agent.UserID, "teamId": team}})
		const say = `mutation($in: CreateCommentInput!) { createComment(input: $in) { comment { id } } }`
		ask(t, s, s.A.Agent, say, vars{"in": vars{"requestId": r.ID, "body": "Here you are."}})
		ask(t, s, s.A.Admin, say, vars{"in": vars{"requestId": r.ID, "body": "He is new.", "visibility": "internal"}})
		agent := s.World.A.Users[principal.Agent].Name

		const seen = `query($id: ID!) { request(id: $id) { creator { id name } assignee { __typename id name } team { id name } people { id name }
			comments { edges { node { author { id name } } } } } }`
		a := ask(t, s, s.A.Member, seen, vars{"id": r.ID})
		require.Equal(t, vars{"__typename": "User", "id": s.A.Agent.UserID, "name": agent}, a.Get("data.request.assignee"))
		require.Equal(t, vars{"id": team, "name": "Helpers"}, a.Get("data.request.team"))
		require.Equal(t, s.World.A.Users[principal.Member].Name, a.Text("data.request.creator.name"))
		require.Equal(t, agent, a.Text("data.request.comments.edges.0.node.author.name"))
		ids := func(a *apitest.Answer) []string { return column(a, "data.request.people", "id") }
		require.ElementsMatch(t, []string{s.A.Member.UserID, s.A.Agent.UserID, team}, ids(a), "internal comments have no author for members: %s", a.Body)
		require.ElementsMatch(t, []string{s.A.Member.UserID, s.A.Agent.UserID, s.A.Admin.UserID, team}, ids(ask(t, s, s.A.Agent, seen, vars{"id": r.ID})))
		scoped := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{Scopes: []string{"requests:read"}})
		require.Len(t, ids(ask(t, s, scoped, seen, vars{"id": r.ID})), 4, "who may read the request needs no more")

		for _, more := range []string{"email", "role", "status", "attributes", "teamIds", "etag", "teams { totalCount }", "createdAt"} {
			a := send(t, s, s.A.Member, `query($id: ID!) { request(id: $id) { title assignee { id name `+more+` } comments { edges { node { author { name `+more+` } } } } } }`, vars{"id": r.ID})
			require.Equal(t, "forbidden", refusal(a), more)
			require.Nil(t, a.Get("data.request.assignee"), more)
			require.NotContains(t, string(a.Body), agent, more)
		}
		for _, more := range []string{"description", "memberIds", "organization { name }"} {
			require.Equal(t, "forbidden", refusal(send(t, s, s.A.Member, `query($id: ID!) { request(id: $id) { team { name `+more+` } } }`, vars{"id": r.ID})), more)
		}
		require.Equal(t, "forbidden", refusal(send(t, s, s.A.Member, nodeOf, vars{"id": s.A.Agent.UserID})))
		require.Equal(t, "not_found", refusal(send(t, s, s.B.Owner, seen, vars{"id": r.ID})))

		owner := s.Session(t, s.World.A.Owner)
		for resource, condition := range map[string]vars{"User": {"resource.id": s.A.Agent.UserID}, "Team": {"resource.id": team}} {
			ask(t, s, owner, makePolicy, vars{"in": vars{"name": "No " + resource, "effect": "Deny", "action": "read", "resource": resource, "condition": condition}})
		}
		a = ask(t, s, s.A.Member, seen, vars{"id": r.ID})
		require.Equal(t, []string{s.A.Member.UserID}, ids(a))
		require.Nil(t, a.Get("data.request.assignee"))
		require.Nil(t, a.Get("data.request.team"))
		require.Nil(t, a.Get("data.request.comments.edges.0.node.author"))
		require.NotContains(t, string(a.Body), agent)
	})
}

// column returns a field of the rows of a list.
func column(a *apitest.Answer, list, field string) []string {
	rows, _ := a.Get(list).([]any)
	out := make([]string, len(rows))
	for i, row := range rows {
		value, _ := apitest.At(row, field)
		out[i], _ = value.(string)
	}
	return out
}

// The creator of a request that a service account has filed is the account, as long as it exists.
func TestCreators(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		robot, key := robotOf(t, s)
		a := ask(t, s, key, `mutation($in: CreateRequestInput!) { createRequest(input: $in) { request { createdBy creator { __typename id name ... on User { email } ... on ServiceAccount { role enabled } } service { id } } } }`,
			vars{"in": vars{"serviceId": h.service.ID, "offeringId": h.offering.ID, "title": "beep"}})
		require.Equal(t, robot, a.Text("data.createRequest.request.createdBy"))
		require.Equal(t, map[string]any{"__typename": "ServiceAccount", "id": robot, "name": "Robot", "role": "agent", "enabled": true},
			a.Get("data.createRequest.request.creator"))
		require.Equal(t, h.service.ID, a.Text("data.createRequest.request.service.id"))

		ask(t, s, s.A.Owner, `mutation($in: CreateRequestInput!) { createRequest(input: $in) { request { id } } }`,
			vars{"in": vars{"serviceId": h.service.ID, "offeringId": h.offering.ID, "title": "beep"}})
		creators := `{ requests(orderBy: {field: createdAt, direction: DESC}, filter: {q: "beep"}) { edges { node { creator { name ... on User { email teamIds } } } } } }`
		a = ask(t, s, s.A.Agent, creators, nil)
		require.Equal(t, s.World.A.Owner.Email, a.Text("data.requests.edges.0.node.creator.email"))
		require.Equal(t, "Robot", a.Text("data.requests.edges.1.node.creator.name"))
		ask(t, s, s.Session(t, s.World.A.Owner), `mutation($id: ID!) { deleteServiceAccount(input: {id: $id}) { id } }`, vars{"id": robot})
		a = ask(t, s, s.A.Agent, creators, nil)
		require.Nil(t, a.Get("data.requests.edges.1.node.creator"))
	})
}

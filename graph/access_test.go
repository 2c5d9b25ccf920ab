package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

const (
	makePolicy     = `mutation($in: CreateAccessPolicyInput!) { createAccessPolicy(input: $in) { accessPolicy { id name version } } }`
	changePolicy   = `mutation($in: UpdateAccessPolicyInput!) { updateAccessPolicy(input: $in) { accessPolicy { id version enabled } } }`
	deletePolicy   = `mutation($in: DeleteAccessPolicyInput!) { deleteAccessPolicy(input: $in) { id } }`
	validatePolicy = `mutation($in: ValidateAccessPolicyInput!) { validateAccessPolicy(input: $in) { valid details { field message } } }`
	replayPolicies = `query($p: [AccessPolicyDraftInput!]!) { replayAccessPolicies(policies: $p) { examined changed { decisionId before after } } }`
	explainRead    = `query($who: ID!, $id: ID) { explainAccess(principalId: $who, action: "read", resourceType: "Service", resourceId: $id) {
		allowed decidedBy { kind id name } unmet { policyId path op want have } } }`
	decisionFields = `id allowed decidedBy { kind id } principalType principalId method verb action resourceType resourceId requestId input`
	makeRequest    = `mutation($in: CreateRequestInput!) { createRequest(input: $in) { request { id } } }`
	seenServices   = `{ services(orderBy: {field: name}) { totalCount edges { node { id } } } }`
	seenRequests   = `{ requests(orderBy: {field: title}) { totalCount edges { node { title serviceId service { name } } } } }`
)

// estate is a service in production and one that is not, each with a request that the member has filed.
type estate struct{ prod, dev *shop }

func estateOf(t testing.TB, s *apitest.Server) *estate {
	t.Helper()
	e := &estate{prod: opened(t, s), dev: &shop{}} // a service with the tag env: prod
	ctx := s.World.As(s.World.A, principal.Owner)
	e.dev.service = testkit.Run(t, s.World, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "Wiki", Tags: map[string]string{"env": "dev"}})
	e.dev.offering = testkit.Run(t, s.World, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: e.dev.service.ID}, Name: "New page"})
	e.prod.filed(t, s, principal.Member, "in production")
	e.dev.filed(t, s, principal.Member, "elsewhere")
	return e
}

// everything checks what the member sees without the policy: both services, and both requests with their services.
func (e *estate) everything(t testing.TB, s *apitest.Server) {
	t.Helper()
	a := ask(t, s, s.A.Member, seenServices, nil)
	require.Equal(t, 2, a.Int("data.services.totalCount"))
	require.Equal(t, []string{e.prod.service.ID, e.dev.service.ID}, idsAt(a, "data.services."))
	a = ask(t, s, s.A.Member, seenRequests, nil)
	require.Equal(t, 2, a.Int("data.requests.totalCount"))
	require.Equal(t, "Wiki", a.Text("data.requests.edges.0.node.service.name"))
	require.Equal(t, "IT Support", a.Text("data.requests.edges.1.node.service.name"))
	require.Equal(t, "Service", ask(t, s, s.A.Member, nodeOf, vars{"id": e.prod.service.ID}).Text("data.node.__typename"))
}

func requestFor(h *shop) vars {
	return vars{"in": vars{"serviceId": h.service.ID, "offeringId": h.offering.ID, "title": "one more"}}
}

// production returns the policy that hides services in production from everybody.
func production() vars {
	return vars{"effect": "Deny", "action": "read", "resource": "Service", "condition": vars{"resource.tags.env": "prod"}}
}

// denied puts the policy of production in force, and returns its id.
func denied(t testing.TB, s *apitest.Server, owner apitest.Caller) string {
	t.Helper()
	in := production()
	in["name"] = "No production"
	return ask(t, s, owner, makePolicy, vars{"in": in}).Text("data.createAccessPolicy.accessPolicy.id")
}

// A service that a policy hides is missing from lists and their totals, from reads, along edges and as the target of a new
// request, for every caller and credential; without the policy everything is back.
func TestPolicyHidesServices(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, e := s.Session(t, s.World.A.Owner), estateOf(t, s)
		e.everything(t, s)
		id := denied(t, s, owner)
		require.Regexp(t, `^pol_[0-9a-z]{26}$`, id)

		for _, as := range []apitest.Caller{s.A.Member, s.A.MemberKey, s.A.Agent, s.A.Admin, owner, s.A.OwnerKey} {
			list := ask(t, s, as, seenServices, nil)
			require.Equal(t, 1, list.Int("data.services.totalCount"), as.Name)
			require.Equal(t, []string{e.dev.service.ID}, idsAt(list, "data.services."), as.Name)
			for _, query := range []string{nodeOf, `query($id: ID!) { node: service(id: $id) { name } }`} {
				a := send(t, s, as, query, vars{"id": e.prod.service.ID})
				require.Equal(t, "forbidden", refusal(a), "%s: %s", as.Name, a.Body)
				reason := id
				if as.Name == owner.Name || as.Name == s.A.Admin.Name || as.Name == s.A.OwnerKey.Name {
					reason = "" // callers who may write policies get no reason: they could use it to probe what is hidden from them
				}
				require.Equal(t, reason, a.Text("errors.0.extensions.reason"), as.Name)
				require.Regexp(t, `^dec_[0-9a-z]{26}$`, a.Text("errors.0.extensions.decisionId"), as.Name)
				require.Nil(t, a.Get("data.node"))
				require.NotContains(t, string(a.Body), "IT Support")
			}
			ask(t, s, as, nodeOf, vars{"id": e.dev.service.ID})
			edges := ask(t, s, as, seenRequests, nil)
			require.Equal(t, 2, edges.Int("data.requests.totalCount"), "requests are not hidden")
			require.Equal(t, "Wiki", edges.Text("data.requests.edges.0.node.service.name"), as.Name)
			require.True(t, edges.Has("data.requests.edges.1.node.service"))
			require.Nil(t, edges.Get("data.requests.edges.1.node.service"), as.Name)
			faulty := send(t, s, as, makeRequest, requestFor(e.prod))
			require.Equal(t, "validation_error", refusal(faulty), "%s: %s", as.Name, faulty.Body)
			require.Equal(t, []string{"serviceId", "offeringId"}, faults(faulty), "%s: offerings are hidden with their service", as.Name)
		}
		a := send(t, s, s.B.Owner, nodeOf, vars{"id": e.prod.service.ID})
		require.Equal(t, "not_found", refusal(a), "another company learns nothing of it")
		a = send(t, s, owner, `mutation($id: ID!) { updateService(input: {id: $id, name: "x"}) { service { id } } }`, vars{"id": e.prod.service.ID})
		require.Equal(t, "forbidden", refusal(a), "what is hidden cannot be changed: %s", a.Body)
		require.Nil(t, a.Get("errors.0.extensions.reason"), "and who may write policies is not told which one hides it")
		mine, err := s.World.Store.Reader().Request.Query().Count(s.World.As(s.World.A, principal.Owner))
		require.NoError(t, err)
		require.Equal(t, 2, mine, "nothing was filed")

		off := ask(t, s, owner, changePolicy, vars{"in": vars{"id": id, "enabled": false}})
		require.Equal(t, vars{"id": id, "version": 2.0, "enabled": false}, off.Get("data.updateAccessPolicy.accessPolicy"))
		e.everything(t, s)
		ask(t, s, owner, changePolicy, vars{"in": vars{"id": id, "enabled": true}})
		require.Equal(t, 1, ask(t, s, s.A.Member, seenServices, nil).Int("data.services.totalCount"))
		require.Equal(t, id, ask(t, s, owner, deletePolicy, vars{"in": vars{"id": id}}).Text("data.deleteAccessPolicy.id"))
		e.everything(t, s)
		ask(t, s, s.A.Member, makeRequest, requestFor(e.prod))
	})
}

// An owner can find out from the decisionId of a refusal, and without one, which policy refused; and what a draft would change.
func TestPolicyRefusalsAreExplained(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, e := s.Session(t, s.World.A.Owner), estateOf(t, s)
		id, prod := denied(t, s, owner), e.prod.service.ID
		ask(t, s, owner, changePolicy, vars{"in": vars{"id": id, "condition": vars{"resource.tags.env": "prod", "principal.role": vars{"ne": "owner"}}}})
		refused := send(t, s, s.A.MemberKey, nodeOf, vars{"id": prod})
		decision := refused.Text("errors.0.extensions.decisionId")

		one := ask(t, s, owner, `query($id: ID!) { node(id: $id) { ... on AccessDecision { `+decisionFields+` } } }`, vars{"id": decision})
		got, _ := one.Get("data.node").(vars)
		input := got["input"]
		delete(got, "input")
		require.Equal(t, vars{
			"id": decision, "allowed": false, "decidedBy": vars{"kind": "policy", "id": id}, "principalType": "user", "principalId": s.A.Member.UserID,
			"method": "api_key", "verb": "service.read", "action": "read", "resourceType": "Service", "resourceId": prod, "requestId": refused.RequestID(),
		}, got)
		env, _ := apitest.At(input, "resource.tags.env")
		require.Equal(t, "prod", env, "%v", input)
		const list = `query($f: AccessDecisionFilter) { accessDecisions(filter: $f) { totalCount edges { node { id } } } }`
		found := ask(t, s, owner, list, vars{"f": vars{"principalId": []string{s.A.Member.UserID}, "resourceType": []string{"Service"}, "resourceId": []string{prod}, "outcome": []string{"denied"}}})
		require.Equal(t, []string{decision}, idsAt(found, "data.accessDecisions."))
		require.Equal(t, 1, found.Int("data.accessDecisions.totalCount"))
		require.Empty(t, idsAt(ask(t, s, owner, list, vars{"f": vars{"resourceId": []string{e.dev.service.ID}}}), "data.accessDecisions."))

		for _, who := range []string{s.A.Member.UserID, s.A.MemberKey.KeyID, s.A.Admin.UserID} {
			why := ask(t, s, owner, explainRead, vars{"who": who, "id": prod})
			require.Equal(t, vars{"allowed": false, "decidedBy": vars{"kind": "policy", "id": id, "name": "No production"}, "unmet": []any{}}, why.Get("data.explainAccess"), who)
		}
		why := ask(t, s, owner, explainRead, vars{"who": s.A.Member.UserID, "id": e.dev.service.ID})
		require.Equal(t, true, why.Get("data.explainAccess.allowed"))
		require.Equal(t, "Allow everything", why.Text("data.explainAccess.decidedBy.name"))
		require.Equal(t, []any{vars{"policyId": id, "path": "resource.tags.env", "op": "eq", "want": "prod", "have": "dev"}}, why.Get("data.explainAccess.unmet"))
		for _, v := range []vars{{"who": s.B.Owner.UserID, "id": prod}, {"who": s.A.Member.UserID, "id": "svc_1"}, {"who": s.A.Member.UserID}} {
			require.Equal(t, "validation_error", refusal(send(t, s, owner, explainRead, v)), "%v", v)
		}

		open := vars{"effect": "Allow", "action": "*", "resource": "*"}
		tried := ask(t, s, owner, replayPolicies, vars{"p": []any{open}})
		require.Equal(t, vars{"examined": 1.0, "changed": []any{vars{"decisionId": decision, "before": false, "after": true}}}, tried.Get("data.replayAccessPolicies"))
		tried = ask(t, s, owner, replayPolicies, vars{"p": []any{open, production()}})
		require.Equal(t, vars{"examined": 1.0, "changed": []any{}}, tried.Get("data.replayAccessPolicies"))
		require.Equal(t, "forbidden", refusal(send(t, s, s.A.Member, nodeOf, vars{"id": prod})), "a draft is not in force")

		// A caller from whom the row is hidden learns nothing about it here.
		admin := s.Session(t, s.World.A.Users[principal.Admin])
		require.Equal(t, "forbidden", refusal(send(t, s, admin, explainRead, vars{"who": s.A.Member.UserID, "id": prod})))
		require.Equal(t, "forbidden", refusal(send(t, s, admin, `query($id: ID!) { node(id: $id) { id } }`, vars{"id": decision})))
		require.Empty(t, ask(t, s, admin, replayPolicies, vars{"p": []any{open}}).Get("data.replayAccessPolicies.changed"))
	})
}

// The faults of a draft have the same text wherever it is given, and the versions of a policy can be read.
func TestDraftsAndVersions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, admin := s.Session(t, s.World.A.Owner), s.Session(t, s.World.A.Users[principal.Admin])
		faulty := production()
		faulty["condition"] = vars{"resource.color": "red", "resource.name": vars{"like": "x"}}
		fields := []string{"condition.resource.color", "condition.resource.name"}
		said := ask(t, s, owner, validatePolicy, vars{"in": faulty})
		require.Equal(t, false, said.Get("data.validateAccessPolicy.valid"))
		details, _ := said.Get("data.validateAccessPolicy.details").([]any)
		require.Len(t, details, 2)
		replayed := send(t, s, owner, replayPolicies, vars{"p": []any{production(), faulty}})
		require.Equal(t, []string{"policies[1]." + fields[0], "policies[1]." + fields[1]}, faults(replayed), "%s", replayed.Body)
		faulty["name"] = "faulty"
		refused := send(t, s, owner, makePolicy, vars{"in": faulty})
		require.Equal(t, "validation_error", refusal(refused))
		require.Equal(t, fields, faults(refused))
		require.Equal(t, details, refused.Get("errors.0.extensions.details"))
		require.Equal(t, 1, ask(t, s, owner, `{ accessPolicies { totalCount } }`, nil).Int("data.accessPolicies.totalCount"), "the company's first alone")
		require.Equal(t, vars{"valid": true, "details": []any{}}, ask(t, s, owner, validatePolicy, vars{"in": production()}).Get("data.validateAccessPolicy"))

		id := denied(t, s, owner)
		ask(t, s, admin, changePolicy, vars{"in": vars{"id": id, "name": "Still none", "condition": vars{"resource.tags.env": vars{"in": []string{"prod", "stage"}}}}})
		ask(t, s, owner, changePolicy, vars{"in": vars{"id": id, "enabled": false}})
		const versions = `query($id: ID!, $n: Int, $after: String) { node(id: $id) { ... on AccessPolicy { name version enabled condition
			versions(first: $n, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node { policyId version change actorType actorId before } } } } } }`
		a := ask(t, s, admin, versions, vars{"id": id, "n": 2})
		require.Equal(t, "Still none", a.Text("data.node.name"))
		require.Equal(t, 3, a.Int("data.node.version"))
		require.Equal(t, 3, a.Int("data.node.versions.totalCount"))
		first := a.Get("data.node.versions.edges.1.node")
		require.Equal(t, vars{
			"policyId": id, "version": 2.0, "change": "updated", "actorType": "user", "actorId": s.A.Admin.UserID,
			"before": vars{
				"name": "No production", "description": "", "enabled": true, "effect": "Deny", "action": "read", "resource": "Service",
				"condition": vars{"resource.tags.env": "prod"},
			},
		}, first)
		require.Equal(t, true, a.Get("data.node.versions.pageInfo.hasNextPage"))
		a = ask(t, s, admin, versions, vars{"id": id, "n": 2, "after": a.Text("data.node.versions.pageInfo.endCursor")})
		require.Equal(t, []any{vars{"node": vars{"policyId": id, "version": 1.0, "change": "created", "actorType": "user", "actorId": s.A.Owner.UserID, "before": nil}}},
			a.Get("data.node.versions.edges"))
	})
}

// Policies require a person who may run the company.
func TestPoliciesTakeAnAdmin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, e := s.Session(t, s.World.A.Owner), estateOf(t, s)
		id := denied(t, s, owner)
		decision := send(t, s, s.A.Member, nodeOf, vars{"id": e.prod.service.ID}).Text("errors.0.extensions.decisionId")
		more := production()
		more["name"] = "More"
		holdClosed(t, s, []closedField{
			{name: "accessPolicies", query: `{ accessPolicies { totalCount edges { node { versions { totalCount } } } } }`},
			{name: "accessDecisions", query: `{ accessDecisions { totalCount } }`},
			{name: "node of a policy", query: nodeOf, in: vars{"id": id}, about: true},
			{name: "node of a decision", query: nodeOf, in: vars{"id": decision}, about: true},
			{name: "explainAccess", query: explainRead, in: vars{"who": s.A.Member.UserID, "id": e.prod.service.ID}},
			{name: "replayAccessPolicies", query: replayPolicies, in: vars{"p": []any{production()}}},
			{name: "validateAccessPolicy", query: validatePolicy, in: vars{"in": production()}},
			{name: "createAccessPolicy", query: makePolicy, in: vars{"in": more}},
			{name: "updateAccessPolicy", query: changePolicy, in: vars{"in": vars{"id": id, "enabled": false}}, about: true},
			{name: "deleteAccessPolicy", query: deletePolicy, in: vars{"in": vars{"id": id}}, about: true},
		})
	})
}

package graph_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// patience bounds the wait for what happens after a call.
const patience = 10 * time.Second

// A policy is drafted, tried against past decisions, put in force, explained and deleted.
func TestPoliciesThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		filed := h.filed(t, s, principal.Member, "mine")
		owner := s.Session(t, s.World.A.Owner)
		draft := vars{"effect": "Deny", "action": "read", "resource": "Service", "condition": vars{"resource.tags.env": "prod", "principal.role": "member"}}

		const validate = `mutation($in: ValidateAccessPolicyInput!) { validateAccessPolicy(input: $in) { valid details { field message } } }`
		require.Equal(t, vars{"valid": true, "details": []any{}}, ask(t, s, owner, validate, vars{"in": draft}).Get("data.validateAccessPolicy"))
		wrong := ask(t, s, owner, validate, vars{"in": vars{"effect": "Deny", "action": "read", "resource": "Service", "condition": vars{"resource.nonsense": 1}}})
		require.Equal(t, false, wrong.Get("data.validateAccessPolicy.valid"))
		require.NotEmpty(t, wrong.Text("data.validateAccessPolicy.details.0.message"))

		named := vars{"name": "Members stay out"}
		for k, v := range draft {
			named[k] = v
		}
		made := ask(t, s, owner, `mutation($in: CreateAccessPolicyInput!) { createAccessPolicy(input: $in) {
			accessPolicy { id name description enabled effect action resource condition version createdBy } } }`, vars{"in": named})
		policy := "data.createAccessPolicy.accessPolicy"
		id := made.Text(policy + ".id")
		require.Equal(t, vars{
			"id": id, "name": "Members stay out", "description": nil, "enabled": true, "effect": "Deny", "action": "read", "resource": "Service",
			"condition": draft["condition"], "version": 1.0, "createdBy": s.A.Owner.UserID,
		}, made.Get(policy))

		// Lists, reads and edges hide the same rows.
		service := vars{"id": h.service.ID}
		require.Zero(t, ask(t, s, s.A.Member, `{ services { totalCount } }`, nil).Int("data.services.totalCount"))
		refused := send(t, s, s.A.Member, `query($id: ID!) { service(id: $id) { name } }`, service)
		require.Equal(t, "forbidden", refused.Text("errors.0.extensions.code"))
		require.Equal(t, "forbidden", send(t, s, s.A.Member, `query($id: ID!) { node(id: $id) { id } }`, service).Text("errors.0.extensions.code"))
		edge := ask(t, s, s.A.Member, `query($id: ID!) { request(id: $id) { serviceId service { name } } }`, vars{"id": filed.ID})
		require.Equal(t, vars{"serviceId": h.service.ID, "service": nil}, edge.Get("data.request"))
		require.Equal(t, "IT Support", ask(t, s, s.A.Agent, `query($id: ID!) { service(id: $id) { name } }`, service).Text("data.service.name"))

		why := ask(t, s, owner, `query($who: ID!, $id: ID) { explainAccess(principalId: $who, action: "read", resourceType: "Service", resourceId: $id) {
			allowed decidedBy { kind id name } unmet { policyId path op want have } } }`, vars{"who": s.A.Member.UserID, "id": h.service.ID})
		require.Equal(t, vars{"allowed": false, "decidedBy": vars{"kind": "policy", "id": id, "name": "Members stay out"}, "unmet": []any{}}, why.Get("data.explainAccess"))
		why = ask(t, s, owner, `query($who: ID!, $id: ID) { explainAccess(principalId: $who, action: "read", resourceType: "Service", resourceId: $id) {
			allowed unmet { policyId path want have } } }`, vars{"who": s.A.Agent.UserID, "id": h.service.ID})
		require.Equal(t, true, why.Get("data.explainAccess.allowed"))
		require.Contains(t, why.Get("data.explainAccess.unmet"), vars{"policyId": id, "path": "principal.role", "want": "member", "have": "agent"})

		off := ask(t, s, owner, `mutation($id: ID!) { updateAccessPolicy(input: {id: $id, enabled: false}) { accessPolicy {
			version enabled versions { totalCount edges { node { version change actorId before } } } } } }`, vars{"id": id})
		require.Equal(t, 2, off.Int("data.updateAccessPolicy.accessPolicy.versions.totalCount"))
		require.Equal(t, "updated", off.Text("data.updateAccessPolicy.accessPolicy.versions.edges.0.node.change"))
		require.Equal(t, true, off.Get("data.updateAccessPolicy.accessPolicy.versions.edges.0.node.before.enabled"))
		require.Nil(t, off.Get("data.updateAccessPolicy.accessPolicy.versions.edges.1.node.before"))
		require.Equal(t, 1, ask(t, s, s.A.Member, `{ services { totalCount } }`, nil).Int("data.services.totalCount"))

		// A policy that allows everything would change the two refused reads.
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			replay := send(t, s, owner, `query($p: [AccessPolicyDraftInput!]!) { replayAccessPolicies(policies: $p, last: 10) { examined changed { decisionId before after } } }`,
				vars{"p": []any{vars{"effect": "Allow", "action": "*", "resource": "*"}}})
			changed, _ := replay.Get("data.replayAccessPolicies.changed").([]any)
			assert.Contains(c, changed, vars{"decisionId": refused.Text("errors.0.extensions.decisionId"), "before": false, "after": true}, "%s", replay.Body)
		}, patience, 10*time.Millisecond)
		ask(t, s, owner, `mutation($id: ID!) { deleteAccessPolicy(input: {id: $id}) { id } }`, vars{"id": id})
		require.Equal(t, "not_found", send(t, s, owner, `query($id: ID!) { node(id: $id) { id } }`, vars{"id": id}).Text("errors.0.extensions.code"))
	})
}

// A refusal names its decision, which admins can read.
func TestRefusalsNameTheirDecision(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		refused := send(t, s, s.A.Member, `{ users { totalCount } }`, nil)
		id := refused.Text("errors.0.extensions.decisionId")
		require.NotEmpty(t, id)
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			a := send(t, s, owner, `query($id: ID!) { node(id: $id) { ... on AccessDecision { allowed principalId resourceType verb requestId decidedBy { kind id } } } }`, vars{"id": id})
			assert.Equal(c, vars{
				"allowed": false, "principalId": s.A.Member.UserID, "resourceType": "User", "verb": "user.read", "requestId": refused.RequestID(),
				"decidedBy": vars{"kind": "role", "id": "member"},
			}, a.Get("data.node"), "%s", a.Body)
		}, patience, 10*time.Millisecond)
		list := ask(t, s, owner, `query($who: ID!) { accessDecisions(filter: {principalId: [$who], outcome: [denied]}) { totalCount edges { node { id } } } }`, vars{"who": s.A.Member.UserID})
		require.Equal(t, 1, list.Int("data.accessDecisions.totalCount"))
		require.Equal(t, id, list.Text("data.accessDecisions.edges.0.node.id"))
		require.Zero(t, ask(t, s, owner, `{ accessDecisions(filter: {outcome: [allowed], resourceType: ["User"]}) { totalCount } }`, nil).Int("data.accessDecisions.totalCount"))
	})
}

// Reading the versions of many policies takes as many statements as those of one.
func TestVersionsTakeOneStatement(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		add := func(n int) {
			for range n {
				ask(t, s, owner, `mutation($in: CreateAccessPolicyInput!) { createAccessPolicy(input: $in) { accessPolicy { id } } }`,
					vars{"in": vars{"name": fresh("p"), "effect": "Allow", "action": "*", "resource": "*"}})
			}
		}
		statements := counting(s)
		count := func() (int64, *apitest.Answer) {
			statements.Store(0)
			a := ask(t, s, owner, `{ accessPolicies { edges { node { versions(first: 1) { totalCount edges { node { change } } } } } } }`, nil)
			return statements.Load(), a
		}
		add(1)
		few, _ := count()
		add(9)
		many, a := count()
		require.Equal(t, few, many)
		for i := range 10 {
			require.Equal(t, 1, a.Int(fmt.Sprintf("data.accessPolicies.edges.%d.node.versions.totalCount", i)))
		}
	})
}

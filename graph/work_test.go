package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/billing"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// Some changes of fields in REST are mutations of their own here.
func TestVerbsOfRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		r := h.filed(t, s, principal.Member, "A laptop")
		a := ask(t, s, s.A.Agent, `mutation($id: ID!) { acceptRequest(input: {id: $id}) { request { status acceptedAt service { name } creator { id } } } }`, vars{"id": r.ID})
		require.Equal(t, "IN_PROGRESS", a.Text("data.acceptRequest.request.status"))
		require.NotEmpty(t, a.Text("data.acceptRequest.request.acceptedAt"))
		require.Equal(t, s.A.Member.UserID, a.Text("data.acceptRequest.request.creator.id"))
		a = send(t, s, s.A.Agent, `mutation($id: ID!) { acceptRequest(input: {id: $id}) { request { id } } }`, vars{"id": r.ID})
		require.Equal(t, "conflict", a.Text("errors.0.extensions.code"))
		a = send(t, s, s.A.Agent, `mutation($id: ID!) { declineRequest(input: {id: $id, reason: ""}) { request { id } } }`, vars{"id": r.ID})
		require.Equal(t, "reason", a.Text("errors.0.extensions.details.0.field"))
		a = ask(t, s, s.A.Agent, `mutation($id: ID!) { declineRequest(input: {id: $id, reason: "We have none."}) { request { status cancelledAt } } }`, vars{"id": r.ID})
		require.Equal(t, "CANCELLED", a.Text("data.declineRequest.request.status"))
		require.Contains(t, string(s.Audit(t, a.RequestID())[0].Changes), "We have none.")
		require.Equal(t, []string{"request.created", "request.accepted", "request.cancelled"}, s.Events(t, r.ID))

		// A completed request is opened again, by its requester too, who says why; once it is open, it is open.
		again := h.filed(t, s, principal.Member, "A phone")
		for _, to := range []string{"IN_PROGRESS", "COMPLETED"} {
			ask(t, s, s.A.Agent, `mutation($id: ID!, $to: RequestStatus!) { updateRequest(input: {id: $id, status: $to}) { request { id } } }`, vars{"id": again.ID, "to": to})
		}
		const reopen = `mutation($id: ID!) { reopenRequest(input: {id: $id, reason: "It broke again."}) { request { status completedAt reopenCount } } }`
		a = ask(t, s, s.A.Member, reopen, vars{"id": again.ID})
		require.Equal(t, []any{"IN_PROGRESS", nil, 1.0}, []any{a.Get("data.reopenRequest.request.status"), a.Get("data.reopenRequest.request.completedAt"), a.Get("data.reopenRequest.request.reopenCount")})
		a = send(t, s, s.A.Agent, reopen, vars{"id": again.ID})
		require.Equal(t, "conflict", a.Text("errors.0.extensions.code"))
	})
}

// Two mutations in one call run one after the other, each in its own transaction. A refused one leaves the answer of the other.
func TestMutationsRunInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		a := send(t, s, s.A.Owner, `mutation {
			first: createService(input: {name: "A", slug: "a"}) { service { slug } }
			second: createService(input: {name: "A again", slug: "a"}) { service { slug } }
		}`, nil)
		require.Equal(t, 200, a.Status)
		require.Equal(t, "conflict", a.Text("errors.0.extensions.code"), "%s", a.Body)
		require.Equal(t, []any{"second"}, a.Get("errors.0.path"))
		require.Equal(t, vars{"first": vars{"service": vars{"slug": "a"}}, "second": nil}, a.Get("data"))
		require.Equal(t, 1, ask(t, s, s.A.Owner, `{ services { totalCount } }`, nil).Int("data.services.totalCount"), "the first stays")
		rows := s.Audit(t, a.RequestID())
		require.Len(t, rows, 2)
		require.EqualValues(t, "allowed", rows[0].Outcome)
		require.EqualValues(t, "failed", rows[1].Outcome)
	})
}

// The error of one query in a call does not affect the others.
func TestRefusalsLeaveNeighboursAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		a := send(t, s, s.A.Member, `query($id: ID!) { good: service(id: $id) { name } gone: service(id: "svc_1") { name } users { totalCount } services { totalCount } }`, vars{"id": h.service.ID})
		require.Equal(t, "IT Support", a.Text("data.good.name"))
		require.Nil(t, a.Get("data.gone"))
		require.Nil(t, a.Get("data.users"))
		require.Equal(t, 1, a.Int("data.services.totalCount"))
		require.Len(t, a.Get("errors"), 2)
	})
}

func TestSecretsThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		a := ask(t, s, s.A.OwnerKey, `mutation { createSecret(input: {allowedHosts: ["*"], name: "TOKEN", value: "hunter2", description: "d"}) { secret { id name version description createdBy lastUsedAt } } }`, nil)
		id := a.Text("data.createSecret.secret.id")
		require.NotContains(t, string(a.Body), "hunter2")
		a = ask(t, s, s.A.OwnerKey, `mutation($id: ID!) { rotateSecret(input: {id: $id, value: "hunter3"}) { secret { version } } }`, vars{"id": id})
		require.Equal(t, 2, a.Int("data.rotateSecret.secret.version"))
		require.NotContains(t, string(s.Audit(t, a.RequestID())[0].Changes), "hunter")
		a = ask(t, s, s.A.OwnerKey, `query($id: ID!) { secret(id: $id) { name version } node(id: $id) { ... on Secret { name } } }`, vars{"id": id})
		require.Equal(t, "TOKEN", a.Text("data.node.name"))
		a = ask(t, s, s.A.OwnerKey, `mutation($id: ID!) { deleteSecret(input: {id: $id}) { id } }`, vars{"id": id})
		require.Equal(t, id, a.Text("data.deleteSecret.id"))
		require.Equal(t, "not_found", send(t, s, s.A.OwnerKey, `query($id: ID!) { secret(id: $id) { id } }`, vars{"id": id}).Text("errors.0.extensions.code"))
	})
}

func TestWorkflowsThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		definition := vars{
			"phases":      []any{vars{"id": "start", "type": "START"}, vars{"id": "end", "type": "END", "name": "a < b && c"}},
			"transitions": []any{vars{"from": "start", "name": "next", "to": "end"}},
		}
		a := ask(t, s, s.A.Owner, `mutation($d: JSON!) { createWorkflow(input: {name: "W", definition: $d}) { workflow { id version status definition } } }`, vars{"d": definition})
		id := a.Text("data.createWorkflow.workflow.id")
		require.Equal(t, definition, a.Get("data.createWorkflow.workflow.definition"), "it is read back as it was sent")
		for range 2 {
			a = ask(t, s, s.A.Owner, `mutation($id: ID!) { publishWorkflow(input: {id: $id}) { workflow { version status } } }`, vars{"id": id})
			require.Equal(t, vars{"version": 1.0, "status": "active"}, a.Get("data.publishWorkflow.workflow"))
		}
		a = ask(t, s, s.A.Owner, `query($id: ID!) { workflow(id: $id) { versions(first: 5) { totalCount edges { node { version definition publishedBy } } } } }`, vars{"id": id})
		require.Equal(t, vars{"totalCount": 1.0, "edges": []any{vars{"node": vars{
			"version": 1.0, "definition": definition, "publishedBy": s.A.Owner.UserID,
		}}}}, a.Get("data.workflow.versions"))
		a = ask(t, s, s.A.Owner, `query($id: ID!) { workflowDiff(id: $id, to: 1) { from to changes { path from to } } }`, vars{"id": id})
		require.Equal(t, []any{0.0, 1.0}, []any{a.Get("data.workflowDiff.from"), a.Get("data.workflowDiff.to")})
		require.Equal(t, vars{"path": "definition.transitions[start.next]", "from": nil, "to": "end"}, a.Get("data.workflowDiff.changes.2"))
		h := opened(t, s)
		a = ask(t, s, s.A.Owner, `mutation($id: ID!, $w: ID!) { updateOffering(input: {id: $id, workflowId: $w, sla: {responseMinutes: 60}}) { offering { workflow { name definition } sla { responseMinutes warnAtPercent } } } }`,
			vars{"id": h.offering.ID, "w": id})
		require.Equal(t, "W", a.Text("data.updateOffering.offering.workflow.name"))
		require.Equal(t, vars{"responseMinutes": 60.0, "warnAtPercent": 80.0}, a.Get("data.updateOffering.offering.sla"))
		a = send(t, s, s.A.Owner, `mutation { createWorkflow(input: {name: "W2", definition: {phases: [{id: "start", type: "START"}], transitions: []}}) { workflow { id } } }`, nil)
		require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"))
		require.True(t, strings.HasPrefix(a.Text("errors.0.extensions.details.0.field"), "definition"), "%s", a.Body)
	})
}

func TestMoneyThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		operator := principal.With(t.Context(), principal.Operator(s.World.A.Company.ID, "test"))
		for _, amount := range []int64{1_000, 3_000_000_000} {
			testkit.Run(t, s.World, operator, billing.IssueCredit, billing.IssueCreditInput{Amount: min(amount, 100_000_000), Reason: "promotion", Description: "Welcome"})
		}
		a := ask(t, s, s.A.OwnerKey, `{ creditBalance { balance currency } creditHistory(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { node { date type amount description invoiceId balance } } } }`, nil)
		require.Equal(t, vars{"balance": 100_001_000.0, "currency": "usd"}, a.Get("data.creditBalance"))
		require.Equal(t, 2, a.Int("data.creditHistory.totalCount"))
		require.Equal(t, 100_001_000, a.Int("data.creditHistory.edges.0.node.balance"))
		a = ask(t, s, s.A.OwnerKey, `query($c: String) { creditHistory(after: $c) { edges { node { amount balance type invoiceId } } } }`, vars{"c": a.Text("data.creditHistory.pageInfo.endCursor")})
		require.Equal(t, []any{vars{"node": vars{"amount": 1000.0, "balance": 1000.0, "type": "issued", "invoiceId": nil}}}, a.Get("data.creditHistory.edges"))
		for _, as := range []apitest.Caller{s.A.Agent, s.A.Member} {
			a := send(t, s, as, `{ creditBalance { balance } creditHistory { totalCount } }`, nil)
			require.Len(t, a.Get("errors"), 2)
			require.Nil(t, a.Get("data.creditBalance"))
		}
	})
}

func TestAuditThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		made := ask(t, s, s.A.OwnerKey, `mutation { createTeam(input: {name: "Ops"}) { team { id } } }`, nil)
		id := made.Text("data.createTeam.team.id")
		a := ask(t, s, s.A.Owner, `query($id: [ID!]) { auditEntries(filter: {resourceId: $id}) { totalCount edges { node { id at actor { type id name } action resource { type id } outcome requestId changes } } } }`, vars{"id": id})
		require.Equal(t, 1, a.Int("data.auditEntries.totalCount"))
		at := "data.auditEntries.edges.0.node."
		require.Equal(t, "team.created", a.Text(at+"action"))
		require.Equal(t, vars{"type": "Team", "id": id}, a.Get(at+"resource"))
		require.Equal(t, "api_key", a.Text(at+"actor.type"))
		require.Equal(t, s.A.OwnerKey.KeyID, a.Text(at+"actor.id"))
		require.Equal(t, made.RequestID(), a.Text(at+"requestId"))
		require.Equal(t, "Ops", a.Text(at+"changes.name.to"))
		one := ask(t, s, s.A.Owner, `query($id: ID!) { auditEntry(id: $id) { action } node(id: $id) { ... on AuditEntry { action } } }`, vars{"id": a.Text(at + "id")})
		require.Equal(t, "team.created", one.Text("data.auditEntry.action"))
		require.Equal(t, "team.created", one.Text("data.node.action"))

		export := ask(t, s, s.A.Owner, `mutation($f: AuditFilter) { exportAudit(input: {format: jsonl, filter: $f}) { export { format content count truncated } } }`, vars{"f": vars{"resourceId": []string{id}}})
		require.Equal(t, 1, export.Int("data.exportAudit.export.count"))
		require.Contains(t, export.Text("data.exportAudit.export.content"), `"action":"team.created"`)
		require.Equal(t, "audit.exported", s.Audit(t, export.RequestID())[0].Action)
		twice := send(t, s, s.A.Owner, `mutation { a: exportAudit(input: {format: csv}) { export { count } } b: exportAudit(input: {format: csv}) { export { count } } }`, nil)
		require.Equal(t, "query_too_complex", twice.Text("errors.0.extensions.code"), "%s", twice.Body)
		all := ask(t, s, s.A.Owner, `mutation { exportAudit(input: {format: csv}) { export { count content } } }`, nil)
		require.Contains(t, all.Text("data.exportAudit.export.content"), "audit.exported")
		for _, as := range []apitest.Caller{s.A.Agent, s.A.Member} {
			a := send(t, s, as, `mutation { exportAudit(input: {format: csv}) { export { count } } }`, nil)
			require.Equal(t, "forbidden", a.Text("errors.0.extensions.code"))
		}
	})
}

// An invitation can be sent again.
func TestInvitationsThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		a := ask(t, s, owner, `mutation { inviteUser(input: {email: "Ada@a.test", role: agent}) { user { id email status role teamIds } } }`, nil)
		require.Equal(t, "ada@a.test", a.Text("data.inviteUser.user.email"))
		require.Equal(t, "invited", a.Text("data.inviteUser.user.status"))
		require.Equal(t, []any{}, a.Get("data.inviteUser.user.teamIds"))
		a = ask(t, s, owner, `mutation($id: ID!) { resendInvitation(input: {id: $id}) { user { status } } }`, vars{"id": a.Text("data.inviteUser.user.id")})
		require.Equal(t, "invited", a.Text("data.resendInvitation.user.status"))
		a = send(t, s, owner, `mutation { inviteUser(input: {email: "ada@a.test"}) { user { id } } }`, nil)
		require.Equal(t, "conflict", a.Text("errors.0.extensions.code"))
	})
}

// A service's offerings can be filtered by name and status, for many services in one call.
func TestOfferingsAreFiltered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		ctx := s.World.As(s.World.A, principal.Owner)
		testkit.Run(t, s.World, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: h.service.ID}, Name: "Old Laptop", Status: new("inactive")})
		for filter, want := range map[string]int{
			`{}`: 2, `{q: "LAPTOP"}`: 2, `{q: "old"}`: 1, `{status: [active]}`: 1, `{status: [active, inactive], q: "new"}`: 1, `{status: [active], q: "old"}`: 0,
		} {
			a := ask(t, s, s.A.Member, `{ services { edges { node { offerings(filter: `+filter+`) { totalCount edges { node { name } } } } } } }`, nil)
			require.Equal(t, want, a.Int("data.services.edges.0.node.offerings.totalCount"), filter)
			require.Len(t, a.Get("data.services.edges.0.node.offerings.edges"), want, filter)
		}
	})
}

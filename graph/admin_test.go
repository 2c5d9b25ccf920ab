package graph_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
)

var numbers atomic.Int64

// fresh returns a unique text.
func fresh(prefix string) string { return fmt.Sprintf("%s%d", prefix, numbers.Add(1)) }

// settings are the fields that require a person with a role, and who may use them.
var settings = []struct {
	name   string
	query  string
	vars   func(t *testing.T, s *apitest.Server) vars
	own    bool   // everybody may, for their own rows
	staff  bool   // agents may as well
	owners bool   // only owners may
	action string // of the audit entry
}{
	{name: "apiKeys", query: `{ apiKeys { totalCount edges { node { id name prefix last4 scopes test status createdBy createdAt expiresAt lastUsedAt } } } }`},
	{name: "createApiKey", query: `mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { apiKey { id } value } }`, action: "apikey.created",
		vars: func(*testing.T, *apitest.Server) vars {
			return vars{"in": vars{"name": fresh("k"), "scopes": []string{"requests:read"}}}
		}},
	{name: "rotateApiKey", query: `mutation($id: ID!) { rotateApiKey(input: {id: $id}) { apiKey { id status } value } }`, action: "apikey.rotated",
		vars: func(t *testing.T, s *apitest.Server) vars {
			return vars{"id": s.Key(t, s.World.A, s.World.A.Users[principal.Member], apitest.KeyOptions{}).KeyID}
		}},
	{name: "revokeApiKey", query: `mutation($id: ID!) { revokeApiKey(input: {id: $id}) { apiKey { id status revokedAt } } }`, action: "apikey.revoked",
		vars: func(t *testing.T, s *apitest.Server) vars {
			return vars{"id": s.Key(t, s.World.A, s.World.A.Users[principal.Member], apitest.KeyOptions{}).KeyID}
		}},
	{name: "oauthClients", query: `{ oauthClients { edges { node { clientId name redirectUris scopes confidential } } } }`},
	{name: "createOAuthClient", query: `mutation($in: CreateOAuthClientInput!) { createOAuthClient(input: $in) { oauthClient { id clientId } clientSecret } }`, action: "oauthclient.created",
		vars: func(*testing.T, *apitest.Server) vars {
			return vars{"in": vars{"name": fresh("c"), "redirectUris": []string{"https://app.test/callback"}, "confidential": true}}
		}},
	{name: "updateOAuthClient", query: `mutation($id: ID!, $name: String) { updateOAuthClient(input: {id: $id, name: $name, redirectUris: ["com.example.app:/cb"], scopes: ["openid", "requests:read"]}) { oauthClient { name redirectUris scopes etag } } }`, action: "oauthclient.updated",
		vars: func(t *testing.T, s *apitest.Server) vars {
			a := ask(t, s, s.Session(t, s.World.A.Owner), `mutation { createOAuthClient(input: {name: "old", redirectUris: ["https://app.test/callback"]}) { oauthClient { id } } }`, nil)
			return vars{"id": a.Text("data.createOAuthClient.oauthClient.id"), "name": fresh("c")}
		}},
	{name: "deleteOAuthClient", query: `mutation($id: ID!) { deleteOAuthClient(input: {id: $id}) { id } }`, action: "oauthclient.deleted",
		vars: func(t *testing.T, s *apitest.Server) vars {
			a := ask(t, s, s.Session(t, s.World.A.Owner), `mutation { createOAuthClient(input: {name: "gone", redirectUris: ["https://app.test/callback"]}) { oauthClient { id } } }`, nil)
			return vars{"id": a.Text("data.createOAuthClient.oauthClient.id")}
		}},
	{name: "serviceAccounts", query: `{ serviceAccounts { edges { node { id name role } } } }`},
	{name: "updateServiceAccount", query: `mutation($id: ID!) { updateServiceAccount(input: {id: $id, name: "Droid", role: agent, enabled: false}) { serviceAccount { name role enabled etag } } }`, action: "serviceaccount.updated",
		vars: func(t *testing.T, s *apitest.Server) vars {
			id, _ := robotOf(t, s)
			return vars{"id": id}
		}},
	{name: "deleteServiceAccount", query: `mutation($id: ID!) { deleteServiceAccount(input: {id: $id}) { id } }`, action: "serviceaccount.deleted",
		vars: func(t *testing.T, s *apitest.Server) vars {
			id, _ := robotOf(t, s)
			return vars{"id": id}
		}},
	{name: "createServiceAccount", query: `mutation { createServiceAccount(input: {name: "Robot", role: agent}) { serviceAccount { id role } } }`, action: "serviceaccount.created"},
	{name: "inviteUser", query: `mutation($in: InviteUserInput!) { inviteUser(input: $in) { user { id email status role } } }`, action: "user.invited",
		vars: func(*testing.T, *apitest.Server) vars {
			return vars{"in": vars{"email": fresh("new") + "@a.test", "role": "agent"}}
		}},
	{name: "deactivateUser", query: `mutation($id: ID!) { deactivateUser(input: {id: $id}) { user { id status } remainingApiKeys { id last4 } openRequests openTasks } }`, action: "user.deactivated", vars: somebody},
	{name: "reactivateUser", query: `mutation($id: ID!) { reactivateUser(input: {id: $id}) { user { id status } } }`, action: "user.reactivated", vars: somebody},
	{name: "resetUserMfa", query: `mutation($id: ID!) { resetUserMfa(input: {id: $id}) { user { id mfaEnabled } } }`, action: "user.mfa_reset", vars: somebody},
	{name: "erasePerson", query: `mutation($id: ID!) { erasePerson(input: {userId: $id, reason: "asked"}) { user { id name status } } }`, action: "user.erased", vars: somebody, owners: true},
	{name: "updateCompany", query: `mutation($n: Int!) { updateCompany(input: {sessionLifetimeMinutes: $n}) { company { id sessionLifetimeMinutes } } }`, action: "company.updated",
		vars: func(*testing.T, *apitest.Server) vars { return vars{"n": 60 + numbers.Add(1)%1000} }},
	{name: "calendars", query: `{ calendars { edges { node { id workingHours { mon { from to } } exceptions { date } } } } }`},
	{name: "createCalendar", query: `mutation { createCalendar(input: {name: "Office", timeZone: "Europe/Berlin", workingHours: {mon: [{from: "09:00", to: "17:30"}]}, holidays: ["2026-12-25"], exceptions: [{date: "2026-12-24", hours: [{from: "09:00", to: "12:00"}]}]}) { calendar { id timeZone workingHours { mon { from to } sun { from } } holidays exceptions { date hours { from to } } } } }`, action: "calendar.created"},
	{name: "updateCalendar", query: `mutation($id: ID!) { updateCalendar(input: {id: $id, workingHours: {tue: [{from: "10:00", to: "12:00"}]}}) { calendar { id } } }`, action: "calendar.updated", vars: someCalendar},
	{name: "deleteCalendar", query: `mutation($id: ID!) { deleteCalendar(input: {id: $id}) { id } }`, action: "calendar.deleted", vars: someCalendar},
	{name: "routingRules", query: `{ routingRules { edges { node { id position when teamId assignTo priority enabled } } } }`},
	{name: "createRoutingRule", query: `mutation { createRoutingRule(input: {name: "Urgent", when: "request.priority == 'URGENT'", priority: HIGH}) { routingRule { id position assignTo } } }`, action: "routingrule.created"},
	{name: "updateRoutingRule", query: `mutation($id: ID!) { updateRoutingRule(input: {id: $id, enabled: false}) { routingRule { id } } }`, action: "routingrule.updated", vars: someRule},
	{name: "deleteRoutingRule", query: `mutation($id: ID!) { deleteRoutingRule(input: {id: $id}) { id } }`, action: "routingrule.deleted", vars: someRule},
	{name: "savedReplies", query: `{ savedReplies { edges { node { id name scope body userId teamId etag } } } }`, staff: true},
	{name: "createSavedReply", query: `mutation { createSavedReply(input: {name: "Mine", scope: me, body: "Done."}) { savedReply { id scope body } } }`, action: "savedreply.created", staff: true},
	{name: "savedViews", query: `{ savedViews { edges { node { id name scope query userId teamId etag } } } }`, own: true},
	{name: "createSavedView", query: `mutation { createSavedView(input: {name: "Mine", scope: me, query: "status=PENDING"}) { savedView { id scope query } } }`, own: true, action: "savedview.created"},
	{name: "agents", query: `{ agents { edges { node { id type source autonomy } } } }`},
	{name: "createAgent", query: `mutation { createAgent(input: {name: "Triage", type: QUEUE_INTAKE, source: MANAGED, autonomy: SUGGEST}) { agent { id } } }`, action: "agent.created"},
	{name: "updateAgent", query: `mutation($id: ID!) { updateAgent(input: {id: $id, shadow: true}) { agent { id shadow etag tools { name mode } } } }`, action: "agent.updated", vars: someAgent},
	{name: "publishAgent", query: `mutation($id: ID!) { publishAgent(input: {id: $id}) { agent { id status version versions { edges { node { version settings } } } } } }`, action: "agent.published", vars: someAgent},
	{name: "testAgent", query: `mutation($id: ID!, $request: ID!) { testAgent(input: {id: $id, requestId: $request}) { agentRun { agentId version status actions { operation waits } steps { kind } same } } }`, action: "agent.tested",
		vars: func(t *testing.T, s *apitest.Server) vars {
			v := someAgent(t, s)
			as := s.World.As(s.World.A, principal.Owner)
			service := testkit.Run(t, s.World, as, catalog.CreateService, catalog.CreateServiceInput{Name: fresh("IT")}).ID
			offering := testkit.Run(t, s.World, as, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service}, Name: "Laptop"}).ID
			v["request"] = testkit.Run(t, s.World, as, request.Create, request.CreateInput{ServiceID: service, OfferingID: offering, Title: "A laptop"}).ID
			return v
		}},
	{name: "sendWorkflowCall", query: `mutation($id: ID!) { sendWorkflowCall(input: {id: $id, phaseId: "order"}) { call { sent answer unreadable durationMs } } }`, action: "workflow.call_sent", vars: someCall},
	{name: "evaluateAgent", query: `mutation($id: ID!) { evaluateAgent(input: {id: $id, cases: [{request: {title: "A laptop"}, mustNotCall: ["declineRequest"]}]}) { evaluation { id agentId status total report settings } } }`, action: "agent.evaluated", vars: someAgent},
	{name: "modelConnections", query: `{ modelConnections { edges { node { id name kind baseUrl secretName models } } } }`},
	{name: "createModelConnection", query: `mutation($name: String!) { createModelConnection(input: {name: $name, kind: openai, baseUrl: "https://models.example.com/v1", models: ["m"]}) { modelConnection { id name } } }`, action: "modelconnection.created",
		vars: func(*testing.T, *apitest.Server) vars { return vars{"name": fresh("models")} }},
	{name: "updateModelConnection", query: `mutation($id: ID!) { updateModelConnection(input: {id: $id, models: ["n"]}) { modelConnection { id models etag } } }`, action: "modelconnection.updated", vars: someConnection},
	{name: "deleteModelConnection", query: `mutation($id: ID!) { deleteModelConnection(input: {id: $id}) { id } }`, action: "modelconnection.deleted", vars: someConnection},
	{name: "pauseAgent", query: `mutation($id: ID!) { pauseAgent(input: {id: $id}) { agent { id status } } }`, action: "agent.paused", vars: someActiveAgent},
	{name: "resumeAgent", query: `mutation($id: ID!) { resumeAgent(input: {id: $id}) { agent { id status } } }`, action: "agent.resumed", vars: somePausedAgent},
	{name: "deleteAgent", query: `mutation($id: ID!) { deleteAgent(input: {id: $id}) { id } }`, action: "agent.deleted", vars: someAgent},
	{name: "stopAllAgents", query: `mutation { stopAllAgents(input: {reason: "enough"}) { runs agents } }`, action: "agent.all_stopped"},
	{name: "sessions", query: `{ sessions { edges { node { id current userId methods } } } }`, own: true},
	{name: "accessPolicies", query: `{ accessPolicies { edges { node { id versions { totalCount } } } } }`},
	{name: "createAccessPolicy", query: `mutation($in: CreateAccessPolicyInput!) { createAccessPolicy(input: $in) { accessPolicy { id } } }`, action: "accesspolicy.created",
		vars: func(*testing.T, *apitest.Server) vars {
			return vars{"in": vars{"name": fresh("p"), "effect": "Allow", "action": "*", "resource": "*"}}
		}},
	{name: "updateAccessPolicy", query: `mutation($id: ID!) { updateAccessPolicy(input: {id: $id, enabled: false}) { accessPolicy { id } } }`, action: "accesspolicy.updated", vars: somePolicy},
	{name: "deleteAccessPolicy", query: `mutation($id: ID!) { deleteAccessPolicy(input: {id: $id}) { id } }`, action: "accesspolicy.deleted", vars: somePolicy},
	{name: "explainAccess", query: `query($who: ID!) { explainAccess(principalId: $who, action: "create", resourceType: "Service") { allowed } }`,
		vars: func(_ *testing.T, s *apitest.Server) vars { return vars{"who": s.A.Member.UserID} }},
	{name: "accessDecisions", query: `{ accessDecisions(first: 1) { edges { node { id } } } }`},
	{name: "webhookSubscriptions", query: `{ webhookSubscriptions { edges { node { id } } } }`},
	{name: "createWebhookSubscription", query: `mutation { createWebhookSubscription(input: {url: "https://hooks.example.com/in", events: ["request.created"]}) { signingSecret } }`,
		action: "webhooksubscription.created"},
	{name: "updateWebhookSubscription", query: `mutation($id: ID!) { updateWebhookSubscription(input: {id: $id, enabled: false}) { webhookSubscription { id } } }`,
		action: "webhooksubscription.updated", vars: someSubscription},
	{name: "rotateWebhookSecret", query: `mutation($id: ID!) { rotateWebhookSecret(input: {id: $id}) { signingSecret } }`, action: "webhooksubscription.rotated", vars: someSubscription},
	{name: "deleteWebhookSubscription", query: `mutation($id: ID!) { deleteWebhookSubscription(input: {id: $id}) { id } }`, action: "webhooksubscription.deleted", vars: someSubscription},
	{name: "sendTestEvent", query: `mutation($id: ID!) { sendTestEvent(input: {subscriptionId: $id, event: "request.created"}) { webhookDelivery { id } } }`,
		action: "webhooksubscription.tested", vars: someSubscription},
	{name: "replayWebhookEvents", query: `mutation($id: ID!, $since: Time!) { replayWebhookEvents(input: {subscriptionId: $id, since: $since}) { events } }`,
		action: "webhooksubscription.replayed", vars: func(t *testing.T, s *apitest.Server) vars {
			v := someSubscription(t, s)
			v["since"] = s.World.Clock.Now().Add(-time.Hour)
			return v
		}},
	{name: "webhookDeliveries", query: `{ webhookDeliveries { edges { node { id } } } }`},
	{name: "webhookStats", query: `{ webhookStats(from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z", by: day) { key succeeded failed pending } }`},
	{name: "inboundWebhooks", query: `{ inboundWebhooks { edges { node { id url } } } }`},
	{name: "createInboundWebhook", query: `mutation($w: ID!) { createInboundWebhook(input: {name: "Alerts", workflowId: $w}) { inboundWebhook { id } signingSecret } }`,
		action: "inboundwebhook.created", vars: func(t *testing.T, s *apitest.Server) vars { return vars{"w": someInbound(t, s)["w"]} }},
	{name: "updateInboundWebhook", query: `mutation($id: ID!) { updateInboundWebhook(input: {id: $id, enabled: false}) { inboundWebhook { id } } }`,
		action: "inboundwebhook.updated", vars: someInbound},
	{name: "rotateInboundWebhookSecret", query: `mutation($id: ID!) { rotateInboundWebhookSecret(input: {id: $id}) { signingSecret } }`,
		action: "inboundwebhook.rotated", vars: someInbound},
	{name: "deleteInboundWebhook", query: `mutation($id: ID!) { deleteInboundWebhook(input: {id: $id}) { id } }`, action: "inboundwebhook.deleted", vars: someInbound},
	{name: "mailboxes", query: `{ mailboxes { edges { node { id address kind url fetchedAt fault } } } }`, staff: true},
	{name: "createMailbox", query: `mutation($o: ID!) { createMailbox(input: {address: "help@acme.test", kind: webhook, offeringId: $o}) { mailbox { id url } password } }`,
		action: "mailbox.created", vars: func(t *testing.T, s *apitest.Server) vars { return vars{"o": someMailbox(t, s)["o"]} }},
	{name: "updateMailbox", query: `mutation($id: ID!) { updateMailbox(input: {id: $id, enabled: false}) { mailbox { id } } }`, action: "mailbox.updated", vars: someMailbox},
	{name: "rotateMailboxPassword", query: `mutation($id: ID!) { rotateMailboxPassword(input: {id: $id}) { password } }`, action: "mailbox.rotated", vars: someMailbox},
	{name: "deleteMailbox", query: `mutation($id: ID!) { deleteMailbox(input: {id: $id}) { id } }`, action: "mailbox.deleted", vars: someMailbox},
	{name: "inboundMails", query: `{ inboundMails { edges { node { id sender subject outcome reason excerpt } } } }`, staff: true},
	{name: "releaseInboundMail", query: `mutation($mail: ID!) { releaseInboundMail(input: {id: $mail}) { inboundMail { id } } }`, staff: true, action: "inboundmail.released", vars: someMailbox},
	{name: "refuseInboundMail", query: `mutation($mail: ID!) { refuseInboundMail(input: {id: $mail}) { inboundMail { id outcome } } }`, staff: true, action: "inboundmail.refused", vars: someMailbox},
	{name: "inboundCalls", query: `query($id: ID!) { inboundCalls(webhookId: $id) { edges { node { id } } } }`, vars: someInbound},
	{name: "inboundCalls with what they started", query: `query($id: ID!) { inboundCalls(webhookId: $id) { edges { node { id outcome execution { id status error { message } request { id } } } } } }`, vars: someInbound},
	{name: "inboundPresets", query: `{ inboundPresets { key name description signatureStyle signature { header prefix encoding username topicArn } headers when fieldMapping steps secretBySender sampleHeaders sampleBody } }`},
	{name: "replayInboundCall", query: `mutation($call: ID!) { replayInboundCall(input: {id: $call}) { inboundCall { id executionId } } }`,
		action: "inboundcall.replayed", vars: someInbound},
	{name: "conditionFields", query: `{ conditionFields(for: ROUTING) { expression label group type optional values { value label } } }`},
	{name: "conditionFields of a webhook", query: `query($id: ID!) { conditionFields(for: INBOUND, id: $id) { expression } }`, vars: someInbound},
	{name: "checkExpression of a webhook", query: `query($id: ID!) { checkExpression(for: INBOUND_WHEN, id: $id, expression: "webhook.method == 'POST'", lastCall: true) { type result error } }`, vars: someInbound},
	{name: "checkExpression", query: `{ checkExpression(for: AGENT, expression: "request.titel") { type fault { message line column } result error matches examined } }`},
	{name: "node of a key", query: `query($id: ID!) { node(id: $id) { ... on ApiKey { id last4 } } }`,
		vars: func(t *testing.T, s *apitest.Server) vars { return vars{"id": s.A.MemberKey.KeyID} }},
}

// someInbound makes an inbound webhook with one call, and the workflow that it starts.
func someInbound(t *testing.T, s *apitest.Server) vars {
	s.Write(t, func(ctx context.Context, tx *store.Tx) error { // a company has at most 50
		_, err := tx.InboundWebhook.Delete().Exec(ctx)
		return err
	})
	owner := s.Session(t, s.World.A.Owner)
	a := ask(t, s, owner, `mutation($in: CreateWorkflowInput!) { createWorkflow(input: $in) { workflow { id } } }`, vars{"in": vars{"name": fresh("alerts"), "definition": vars{
		"phases":      []vars{{"id": "begin", "type": "START"}, {"id": "done", "type": "END"}},
		"transitions": []vars{{"from": "begin", "name": "next", "to": "done"}},
	}}})
	out := vars{"w": a.Text("data.createWorkflow.workflow.id")}
	ask(t, s, owner, `mutation($id: ID!) { publishWorkflow(input: {id: $id}) { workflow { id } } }`, vars{"id": out["w"]})
	a = ask(t, s, owner, `mutation($w: ID!) { createInboundWebhook(input: {name: "Alerts", workflowId: $w}) { inboundWebhook { id } } }`, vars{"w": out["w"]})
	out["id"] = a.Text("data.createInboundWebhook.inboundWebhook.id")
	s.Write(t, func(ctx context.Context, tx *store.Tx) error {
		call, err := tx.InboundCall.Create().SetCompanyID(s.World.A.Company.ID).SetWebhookID(out["id"].(string)).SetOutcome("REJECTED").SetBody("{}").SetBodyBytes(2).Save(ctx)
		if err == nil {
			out["call"] = call.ID
		}
		return err
	})
	return out
}

// someMailbox makes a mailbox with one message that is held.
func someMailbox(t *testing.T, s *apitest.Server) vars {
	s.Write(t, func(ctx context.Context, tx *store.Tx) error { // a company has at most 50
		_, err := tx.Mailbox.Delete().Exec(ctx)
		return err
	})
	owner := s.Session(t, s.World.A.Owner)
	a := ask(t, s, owner, `mutation($name: String!) { createService(input: {name: $name}) { service { id } } }`, vars{"name": fresh("mail")})
	a = ask(t, s, owner, `mutation($s: ID!) { createOffering(input: {serviceId: $s, name: "Help"}) { offering { id } } }`, vars{"s": a.Text("data.createService.service.id")})
	out := vars{"o": a.Text("data.createOffering.offering.id")}
	a = ask(t, s, owner, `mutation($o: ID!) { createMailbox(input: {address: "desk@acme.test", kind: webhook, offeringId: $o}) { mailbox { id } } }`, out)
	out["id"] = a.Text("data.createMailbox.mailbox.id")
	s.Write(t, func(ctx context.Context, tx *store.Tx) error {
		m, err := tx.InboundMail.Create().SetCompanyID(s.World.A.Company.ID).SetMailboxID(out["id"].(string)).SetRecipient("desk@acme.test").SetSize(1).SetOutcome("HELD").SetStoredAs("x").Save(ctx)
		if err == nil {
			out["mail"] = m.ID
		}
		return err
	})
	return out
}

func someAgent(t *testing.T, s *apitest.Server) vars {
	a := ask(t, s, s.Session(t, s.World.A.Owner), `mutation { createAgent(input: {name: "Intake", type: QUEUE_INTAKE, source: MANAGED, autonomy: SUGGEST}) { agent { id } } }`, nil)
	return vars{"id": a.Text("data.createAgent.agent.id")}
}

// someCall is a workflow that calls a server on this machine.
func someCall(t *testing.T, s *apitest.Server) vars {
	s.World.Engine.Egress = receiver.Client(t, 0)
	definition := vars{
		"phases":      []vars{{"id": "start", "type": "START"}, {"id": "order", "type": "API_CALL", "config": vars{"method": "GET", "url": receiver.New(t, nil).URL}}, {"id": "end", "type": "END"}},
		"transitions": []vars{{"from": "start", "name": "next", "to": "order"}, {"from": "order", "name": "next", "to": "end"}},
	}
	made := ask(t, s, s.Session(t, s.World.A.Owner), `mutation($in: CreateWorkflowInput!) { createWorkflow(input: $in) { workflow { id } } }`, vars{"in": vars{"name": fresh("Orders"), "definition": definition}})
	return vars{"id": made.Text("data.createWorkflow.workflow.id")}
}

func someConnection(t *testing.T, s *apitest.Server) vars {
	c := ask(t, s, s.Session(t, s.World.A.Owner), `mutation($name: String!) { createModelConnection(input: {name: $name, kind: openai, baseUrl: "https://models.example.com/v1", models: ["m"]}) { modelConnection { id } } }`, vars{"name": fresh("models")})
	return vars{"id": c.Text("data.createModelConnection.modelConnection.id")}
}

func someActiveAgent(t *testing.T, s *apitest.Server) vars {
	v := someAgent(t, s)
	ask(t, s, s.Session(t, s.World.A.Owner), `mutation($id: ID!) { publishAgent(input: {id: $id}) { agent { id } } }`, v)
	return v
}

func somePausedAgent(t *testing.T, s *apitest.Server) vars {
	v := someActiveAgent(t, s)
	ask(t, s, s.Session(t, s.World.A.Owner), `mutation($id: ID!) { pauseAgent(input: {id: $id}) { agent { id } } }`, v)
	return v
}

func somebody(t *testing.T, s *apitest.Server) vars {
	return vars{"id": s.World.AddUser(t, s.World.A, fresh("u")+"@a.test", principal.Member).ID}
}

func somePolicy(t *testing.T, s *apitest.Server) vars {
	a := ask(t, s, s.Session(t, s.World.A.Owner), `mutation { createAccessPolicy(input: {name: "P", effect: Deny, action: "read", resource: "Secret"}) { accessPolicy { id } } }`, nil)
	return vars{"id": a.Text("data.createAccessPolicy.accessPolicy.id")}
}

func someCalendar(t *testing.T, s *apitest.Server) vars {
	a := ask(t, s, s.Session(t, s.World.A.Owner), `mutation { createCalendar(input: {name: "C"}) { calendar { id } } }`, nil)
	return vars{"id": a.Text("data.createCalendar.calendar.id")}
}

func someRule(t *testing.T, s *apitest.Server) vars {
	a := ask(t, s, s.Session(t, s.World.A.Owner), `mutation { createRoutingRule(input: {name: "R", when: "false", priority: LOW}) { routingRule { id } } }`, nil)
	return vars{"id": a.Text("data.createRoutingRule.routingRule.id")}
}

func someSubscription(t *testing.T, s *apitest.Server) vars {
	s.Write(t, func(ctx context.Context, tx *store.Tx) error { // a company has at most 50
		_, err := tx.WebhookSubscription.Delete().Exec(ctx)
		return err
	})
	a := ask(t, s, s.Session(t, s.World.A.Owner), `mutation { createWebhookSubscription(input: {url: "https://hooks.example.com/in", events: ["request.created"]}) { webhookSubscription { id } } }`, nil)
	return vars{"id": a.Text("data.createWebhookSubscription.webhookSubscription.id")}
}

// The admin layer requires a person with the role; it refuses every key, whoever is behind it.
func TestAdminLayer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		signedIn := map[principal.Role]apitest.Caller{}
		for role, u := range s.World.A.Users {
			signedIn[role] = s.Session(t, u)
		}
		narrow := s.Bearer(t, s.World.A, s.World.A.Owner, []string{"users:read", "users:write"}, time.Hour)
		for _, c := range settings {
			input := func() vars {
				if c.vars == nil {
					return nil
				}
				return c.vars(t, s)
			}
			for role, as := range signedIn {
				v := input()
				a := send(t, s, as, c.query, v)
				require.Equal(t, 200, a.Status, "%s", a.Body)
				if !c.own && (role == principal.Agent && !c.staff || role == principal.Member) || c.owners && role != principal.Owner {
					require.Equal(t, "forbidden", a.Text("errors.0.extensions.code"), "%s as %s: %s", c.name, role, a.Body)
					require.Equal(t, string(role), a.Text("errors.0.extensions.reason"))
					continue
				}
				require.False(t, a.Has("errors"), "%s as %s: %s", c.name, role, a.Body)
				rows := s.Audit(t, a.RequestID())
				if strings.HasPrefix(c.query, "mutation") {
					require.Len(t, rows, 1, c.name)
					require.EqualValues(t, "allowed", rows[0].Outcome)
					require.Equal(t, c.action, rows[0].Action)
				} else {
					require.Empty(t, rows, c.name)
				}
			}
			test := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{Test: true}) // a new test key, because one may make 60 calls a minute
			for _, as := range []apitest.Caller{s.A.OwnerKey, s.A.AdminKey, s.A.AgentKey, test, narrow} {
				a := send(t, s, as, c.query, input())
				require.Equal(t, "forbidden", a.Text("errors.0.extensions.code"), "%s as %s: %s", c.name, as.Name, a.Body)
				require.NotEmpty(t, a.Text("errors.0.extensions.reason"))
			}
			if v := input(); v["id"] != nil {
				a := send(t, s, s.Session(t, s.World.B.Owner), c.query, v)
				require.Equal(t, "not_found", a.Text("errors.0.extensions.code"), "%s from another company: %s", c.name, a.Body)
			}
			require.Equal(t, 401, send(t, s, apitest.Nobody, c.query, input()).Status)
		}
	})
}

// A key's value is shown once, works within its scopes, and stops working with the key.
func TestKeysThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		made := ask(t, s, owner, `mutation { createApiKey(input: {name: "CI", scopes: ["services:read"], allowedIps: ["127.0.0.1", "::1"], expiresAt: "2099-01-01T00:00:00Z"}) {
			apiKey { id name prefix last4 scopes test status allowedIps userId createdBy expiresAt revokedAt lastUsedAt } value } }`, nil)
		at := "data.createApiKey.apiKey."
		value := made.Text("data.createApiKey.value")
		require.True(t, strings.HasPrefix(value, "key_live_"))
		require.Equal(t, "key_live_", made.Text(at+"prefix"))
		require.True(t, strings.HasSuffix(value, made.Text(at+"last4")))
		require.Equal(t, []any{"services:read"}, made.Get(at+"scopes"))
		require.Equal(t, "active", made.Text(at+"status"))
		require.Equal(t, "2099-01-01T00:00:00.000Z", made.Text(at+"expiresAt"))
		require.Equal(t, s.A.Owner.UserID, made.Text(at+"userId"))

		key := apitest.Caller{Name: "the new key", Header: map[string][]string{"X-Api-Key": {value}}}
		ask(t, s, key, `{ services { totalCount } }`, nil)
		require.Equal(t, "requests:read", send(t, s, key, `{ requests { totalCount } }`, nil).Text("errors.0.extensions.reason"))
		listed := ask(t, s, owner, `{ apiKeys(first: 100) { edges { node { id name } } } }`, nil)
		require.NotContains(t, string(listed.Body), value)

		rotated := ask(t, s, owner, `mutation($id: ID!) { rotateApiKey(input: {id: $id}) { apiKey { id name scopes } value } }`, vars{"id": made.Text(at + "id")})
		require.Equal(t, "CI", rotated.Text("data.rotateApiKey.apiKey.name"))
		require.NotEqual(t, value, rotated.Text("data.rotateApiKey.value"))
		require.Equal(t, 401, send(t, s, key, `{ services { totalCount } }`, nil).Status)
		id := rotated.Text("data.rotateApiKey.apiKey.id")
		key.Header = map[string][]string{"X-Api-Key": {rotated.Text("data.rotateApiKey.value")}}
		ask(t, s, key, `{ services { totalCount } }`, nil)

		revoked := ask(t, s, owner, `mutation($id: ID!) { revokeApiKey(input: {id: $id}) { apiKey { status revokedAt } } }`, vars{"id": id})
		require.Equal(t, "revoked", revoked.Text("data.revokeApiKey.apiKey.status"))
		require.NotEmpty(t, revoked.Text("data.revokeApiKey.apiKey.revokedAt"))
		require.Equal(t, 401, send(t, s, key, `{ services { totalCount } }`, nil).Status)
		node := ask(t, s, owner, `query($id: ID!) { node(id: $id) { ... on ApiKey { status name } } }`, vars{"id": id})
		require.Equal(t, vars{"status": "revoked", "name": "CI"}, node.Get("data.node"))
	})
}

// Every caller may read who they are, and which company they belong to.
func TestViewer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const query = `{ viewer { id type name email role scopes company { id name slug plan mfaRequired sessionLifetimeMinutes sandbox { id } } } }`
		company := vars{
			"id": s.World.A.Company.ID, "name": "Acme", "slug": s.World.A.Company.Slug, "plan": "enterprise", "mfaRequired": false, "sessionLifetimeMinutes": 60.0,
			"sandbox": vars{"id": s.World.A.Sandbox.ID},
		}
		scopes := make([]any, len(principal.ScopeNames))
		for i, name := range principal.ScopeNames {
			scopes[i] = name
		}
		for role, u := range s.World.A.Users {
			for _, as := range []apitest.Caller{s.A.Role(role), s.Session(t, u)} {
				a := ask(t, s, as, query, nil)
				require.Equal(t, vars{"id": u.ID, "type": "user", "name": u.Name, "email": u.Email, "role": string(role), "scopes": scopes, "company": company}, a.Get("data.viewer"), as.Name)
			}
		}
		scoped := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{Scopes: []string{"audit:read"}})
		require.Equal(t, []any{"audit:read"}, ask(t, s, scoped, query, nil).Get("data.viewer.scopes"))
		robot, key := robotOf(t, s)
		a := ask(t, s, key, query, nil)
		require.Equal(t, robot, a.Text("data.viewer.id"))
		require.Equal(t, "service_account", a.Text("data.viewer.type"))
		require.Nil(t, a.Get("data.viewer.email"))
		sandbox := ask(t, s, s.A.TestKey, query, nil)
		require.Equal(t, s.World.A.Sandbox.ID, sandbox.Text("data.viewer.company.id"))
		require.Nil(t, sandbox.Get("data.viewer.company.sandbox"))
	})
}

// A session switches to the sandbox and back, and ends.
func TestSessionsThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		as, other := s.Session(t, s.World.A.Owner), s.Session(t, s.World.A.Owner)
		list := ask(t, s, as, `{ sessions { totalCount edges { node { id current sandbox } } } }`, nil)
		require.Equal(t, 2, list.Int("data.sessions.totalCount"))
		id := list.Text("data.sessions.edges.0.node.id") // the newest is the other
		require.Equal(t, false, list.Get("data.sessions.edges.0.node.current"))
		require.Equal(t, true, list.Get("data.sessions.edges.1.node.current"))

		a := ask(t, s, as, `mutation { switchSession(input: {sandbox: true}) { sandbox companyId } }`, nil)
		require.Equal(t, vars{"sandbox": true, "companyId": s.World.A.Sandbox.ID}, a.Get("data.switchSession"))
		require.Equal(t, "not_found", send(t, s, as, `query($id: ID!) { service(id: $id) { name } }`, vars{"id": h.service.ID}).Text("errors.0.extensions.code"))
		// What only the live company has is refused there, and is no right there.
		refused := send(t, s, as, `mutation { inviteUser(input: {email: "new@example.com"}) { user { id } } }`, nil)
		require.Equal(t, "conflict", refused.Text("errors.0.extensions.code"))
		inSandbox := fmt.Sprint(ask(t, s, as, `{ viewer { permissions } }`, nil).Get("data.viewer.permissions"))
		ask(t, s, as, `mutation { switchSession(input: {sandbox: false}) { sandbox } }`, nil)
		live := fmt.Sprint(ask(t, s, as, `{ viewer { permissions } }`, nil).Get("data.viewer.permissions"))
		for _, verb := range []string{"user.invite", "user.erase", "apikey.create", "serviceaccount.create", "serviceaccount.update", "company.update", "session.end_all", "billing.change"} {
			require.Contains(t, live, verb)
			require.NotContains(t, inSandbox, verb)
		}
		require.Contains(t, inSandbox, "request.update")
		ask(t, s, as, `query($id: ID!) { service(id: $id) { name } }`, vars{"id": h.service.ID})

		ended := ask(t, s, as, `mutation($id: ID!) { endSession(input: {id: $id}) { session { id endedAt } } }`, vars{"id": id})
		require.NotEmpty(t, ended.Text("data.endSession.session.endedAt"))
		require.Equal(t, 401, send(t, s, other, `{ viewer { id } }`, nil).Status)
		member := s.Session(t, s.World.A.Users[principal.Member])
		require.Equal(t, "forbidden", send(t, s, member, `mutation($id: ID!) { endSession(input: {id: $id}) { session { id } } }`, vars{"id": id}).Text("errors.0.extensions.code"))
		require.Zero(t, ask(t, s, member, `query($u: ID) { sessions(userId: $u) { totalCount } }`, vars{"u": s.A.Owner.UserID}).Int("data.sessions.totalCount"))
		ask(t, s, as, `mutation($u: ID!) { endAllSessions(input: {userId: $u}) { user { id } } }`, vars{"u": s.A.Owner.UserID})
		require.Equal(t, 401, send(t, s, as, `{ viewer { id } }`, nil).Status)
	})
}

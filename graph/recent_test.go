package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/policies"
)

// stale lists the operations of admins that need no recent proof of identity, with the reason: they grant nothing and open no way
// to the outside. All others are in policies/data.json, themselves or by a finer right.
var stale = map[string]string{
	"accesspolicy.validate": "changes nothing", "accesspolicy.explain": "changes nothing", "accesspolicy.replay": "changes nothing",
	"apikey.revoke": "takes away", "oauthclient.delete": "takes away", "serviceaccount.delete": "takes away", "user.deactivate": "takes away from all but owners",
	"session.end": "takes away", "session.end_all": "takes away", "session.switch": "goes where one may go", "session.create": "is a proof",
	"user.invite": "members and agents grant little", "user.resend_invitation": "as the first one", "user.reactivate": "as inviting",
	"billing.change": "money, and owners alone", "billing.cancel": "money, and owners alone", "company.update": "a name", "calendar.create": "no right", "calendar.update": "no right", "calendar.delete": "no right",
	"pack.install":   "what it makes asks for its own rights",
	"request.import": "no right", "requestimport.create": "no right", "requestimport.start": "no right", "requestimport.stop": "takes away",
	"savedreply.create": "no right", "savedreply.update": "no right", "savedreply.delete": "no right", "savedreply.share": "no right",
	"reportsubscription.create": "no right", "reportsubscription.update": "no right", "reportsubscription.delete": "takes away",
	"savedview.create": "no right", "savedview.update": "no right", "savedview.delete": "no right", "savedview.share": "no right",
	"schedule.create": "no right: it runs as who may do it anyway", "schedule.update": "as making one", "schedule.delete": "takes away", "schedule.run": "as making one",
	"routingrule.create": "no right", "routingrule.update": "no right", "routingrule.delete": "no right",
	"agent.evaluate": "keeps nothing of what it tries", "agent.test": "keeps nothing", "agentrun.replay": "keeps nothing", "modelconnection.delete": "takes away",
	"agent.delete": "takes away", "agent.pause": "takes away", "agent.stop_all": "takes away", "agent.resume": "what was published with a proof",
	"webhooksubscription.delete": "takes away", "webhooksubscription.test": "to where events go already", "webhooksubscription.replay": "to where events go already",
	"webhookdelivery.replay": "to where events go already",
	"mailbox.delete":         "takes away", "inboundmail.release": "as what its sender may do, with text alone", "inboundmail.refuse": "takes away",
	"inboundwebhook.delete": "takes away", "inboundcall.replay": "starts what the call has started already", "request.notify": "a worker's, who tells assignees", "inboundwebhook.call": "proven by the webhook's signature",
	"service.create": "no right", "service.update": "no right", "service.delete": "no right",
	"offering.create": "no right", "offering.update": "no right", "offering.delete": "no right",
	"workflow.create": "a draft", "workflow.update": "a draft", "workflow.publish": "where it sends secrets is a finer right", "secret.update": "fewer hosts; all else is a finer right", "workflow.delete": "takes away",
	"team.create": "as people are invited", "team.update": "as people are invited", "team.delete": "takes away",
	"organization.create": "no right", "organization.update": "no right", "organization.delete": "no right",
	"user.update": "a name; roles are finer rights",
}

// rights are the parts of policies/data.json that the tests read.
type rights struct {
	Recent []string // the verbs that require a recent proof of identity
	Roles  map[principal.Role]struct {
		Verbs  map[string]string
		Except []string
	}
}

func readRights(t *testing.T) rights {
	t.Helper()
	raw, err := policies.Files.ReadFile("data.json")
	require.NoError(t, err)
	var data rights
	require.NoError(t, json.Unmarshal(raw, &data))
	return data
}

// Every operation that changes something and that only admins and owners may run requires a recent proof, or is in stale.
func TestAdminOperationsAreHeldAgainstTheListOfProofs(t *testing.T) {
	t.Parallel()
	data := readRights(t)
	require.True(t, slices.IsSorted(data.Recent))
	ofStaff := func(verb string) bool {
		return data.Roles[principal.Member].Verbs[verb] != "" || data.Roles[principal.Agent].Verbs[verb] != ""
	}
	var unweighed []string
	for _, o := range op.All() {
		if o.Action == op.Read || o.OfAgents || strings.HasPrefix(o.Name, "test.") || slices.Contains(data.Roles[principal.Owner].Except, o.Name) {
			continue
		}
		if !o.AdminLayer && slices.ContainsFunc(o.Verbs(), ofStaff) {
			continue
		}
		proven := slices.ContainsFunc(append(o.Verbs(), o.Name), func(verb string) bool { return slices.Contains(data.Recent, verb) })
		if _, known := stale[o.Name]; known == proven {
			unweighed = append(unweighed, o.Name)
		}
	}
	require.Empty(t, unweighed, "does it grant a right or open a way out?")
}

// A session without a recent proof is refused what the policies list, and may do the rest.
func TestStaleSessionsGrantNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		admin := s.Session(t, s.World.A.Users[principal.Admin])
		secret := ask(t, s, s.A.OwnerKey, `mutation { createSecret(input: {name: "KEPT", value: "v", allowedHosts: ["*.example.com"]}) { secret { id } } }`, nil).Text("data.createSecret.secret.id")
		s.World.Clock.SetOffset(s.World.Clock.Offset() + 20*time.Minute)
		refused := []string{}
		attempt := func(name, query string, v vars) {
			a := send(t, s, admin, query, v)
			if a.Text("errors.0.extensions.reason") == op.ReasonStale {
				refused = append(refused, name)
				return
			}
			require.False(t, a.Has("errors"), "%s: %s", name, a.Body)
		}
		hosts := `mutation($id: ID!, $to: [String!]!) { updateSecret(input: {id: $id, allowedHosts: $to}) { secret { id } } }`
		attempt("wider hosts", hosts, vars{"id": secret, "to": []string{"*"}})
		attempt("fewer hosts", hosts, vars{"id": secret, "to": []string{"a.example.com"}})
		require.Equal(t, []string{"wider hosts"}, refused)
		refused = []string{}
		for _, c := range settings {
			if strings.HasPrefix(c.query, "mutation") && !c.owners {
				var v vars
				if c.vars != nil {
					v = c.vars(t, s)
				}
				attempt(c.name, c.query, v)
			}
		}
		slices.Sort(refused)
		require.Equal(t, []string{
			"createAccessPolicy", "createAgent", "createApiKey", "createInboundWebhook", "createMailbox", "createModelConnection", "createOAuthClient", "createServiceAccount", "createWebhookSubscription",
			"deleteAccessPolicy", "publishAgent", "resetUserMfa", "rotateApiKey", "rotateInboundWebhookSecret", "rotateMailboxPassword", "rotateWebhookSecret", "sendWorkflowCall",
			"updateAccessPolicy", "updateAgent", "updateCompany",
			"updateInboundWebhook", "updateMailbox", "updateModelConnection", "updateOAuthClient", "updateServiceAccount", "updateWebhookSubscription",
		}, refused)

		refused = nil
		member := s.World.A.Users[principal.Member].ID
		other := s.World.AddUser(t, s.World.A, "other@a.test", principal.Admin).ID
		ask(t, s, s.Session(t, s.World.A.Owner), `mutation($id: ID!) { deactivateUser(input: {id: $id}) { user { id } } }`, vars{"id": other})
		for name, query := range map[string]string{
			"invite":     `mutation { inviteUser(input: {email: "boss@a.test", role: admin}) { user { id } } }`,
			"promote":    `mutation($id: ID!) { updateUser(input: {id: $id, role: admin}) { user { id } } }`,
			"reactivate": `mutation($other: ID!) { reactivateUser(input: {id: $other}) { user { id } } }`,
			"mfa":        `mutation { updateCompany(input: {mfaRequired: false}) { company { id } } }`,
			"jit":        `mutation { updateCompany(input: {jitUsers: true}) { company { id } } }`,
			"secret":     `mutation { createSecret(input: {allowedHosts: ["*"], name: "S", value: "v"}) { secret { id } } }`,
			"export":     `mutation { exportAudit(input: {format: csv}) { export { count } } }`,
		} {
			v := vars{}
			if strings.Contains(query, "$id") {
				v["id"] = member
			}
			if strings.Contains(query, "$other") {
				v["other"] = other
			}
			attempt(name, query, v)
		}
		slices.Sort(refused)
		require.Equal(t, []string{"export", "invite", "jit", "mfa", "promote", "reactivate", "secret"}, refused)
	})
}

// An admin can neither end an owner's sessions nor revoke an owner's keys.
func TestAdminsLeaveOwnersAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		admin, owner := s.Session(t, s.World.A.Users[principal.Admin]), s.Session(t, s.World.A.Owner)
		session := ask(t, s, owner, `{ sessions { edges { node { id } } } }`, nil).Text("data.sessions.edges.0.node.id")
		key := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{}).KeyID
		for query, v := range map[string]vars{
			`mutation($id: ID!) { endSession(input: {id: $id}) { session { id } } }`:      {"id": session},
			`mutation($id: ID!) { endAllSessions(input: {userId: $id}) { user { id } } }`: {"id": s.A.Owner.UserID},
			`mutation($id: ID!) { revokeApiKey(input: {id: $id}) { apiKey { id } } }`:     {"id": key},
		} {
			a := send(t, s, admin, query, v)
			require.Equal(t, "forbidden", a.Text("errors.0.extensions.code"), "%s: %s", query, a.Body)
			require.Equal(t, "admin", a.Text("errors.0.extensions.reason"))
		}
		ask(t, s, owner, `mutation($id: ID!) { revokeApiKey(input: {id: $id}) { apiKey { id } } }`, vars{"id": key})
		ask(t, s, owner, `mutation($id: ID!) { endSession(input: {id: $id}) { session { id } } }`, vars{"id": session})
	})
}

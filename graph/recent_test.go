package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/apitest"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/policies"
)

// stale lists the operations of the admin layer that need no recent proof of identity, with the reason: they grant nothing and
// open no way to the outside. All others are in policies/data.json, themselves or by a finer right.
var stale = map[string]string{
	"accesspolicy.validate": "changes nothing", "accesspolicy.explain": "changes nothing", "accesspolicy.replay": "changes nothing",
	"apikey.revoke": "takes away", "oauthclient.delete": "takes away", "serviceaccount.delete": "takes away", "user.deactivate": "takes away from all but owners",
	"session.end": "takes away", "session.end_all": "takes away", "session.switch": "goes where one may go", "session.create": "is a proof",
	"user.invite": "members and agents grant little", "user.resend_invitation": "as the first one", "user.reactivate": "as inviting",
	"billing.change": "money, and owners alone", "company.update": "a name", "calendar.create": "no right", "calendar.update": "no right", "calendar.delete": "no right",
	"savedview.create": "no right", "savedview.update": "no right", "savedview.delete": "no right", "savedview.share": "no right",
	"routingrule.create": "no right", "routingrule.update": "no right", "routingrule.delete": "no right",
	"agent.evaluate": "keeps nothing of what it tries", "agent.test": "keeps nothing", "agentrun.replay": "keeps nothing", "modelconnection.delete": "takes away",
	"agent.delete": "takes away", "agent.pause": "takes away", "agent.stop_all": "takes away", "agent.resume": "what was published with a proof",
	"webhooksubscription.delete": "takes away", "webhooksubscription.test": "to where events go already", "webhooksubscription.replay": "to where events go already",
	"webhookdelivery.replay": "to where events go already",
	"inboundwebhook.delete":  "takes away", "inboundcall.replay": "starts what the call has started already",
}

// recent returns the verbs that require a recent proof of identity.
func recent(t *testing.T) []string {
	t.Helper()
	raw, err := policies.Files.ReadFile("data.json")
	require.NoError(t, err)
	var data struct{ Recent []string }
	require.NoError(t, json.Unmarshal(raw, &data))
	return data.Recent
}

// Every operation of the admin layer that changes something requires a recent proof, or is in stale.
func TestAdminOperationsAreHeldAgainstTheListOfProofs(t *testing.T) {
	t.Parallel()
	list := recent(t)
	require.True(t, slices.IsSorted(list))
	for _, o := range op.All() {
		if !o.AdminLayer || o.Action == op.Read || strings.HasPrefix(o.Name, "test.") {
			continue
		}
		_, known := stale[o.Name]
		require.NotEqual(t, slices.Contains(list, o.Name), known, "%s: does it grant a right or open a way out?", o.Name)
	}
}

// A session without a recent proof is refused what the policies list, and may do the rest.
func TestStaleSessionsGrantNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		admin := s.Session(t, s.World.A.Users[principal.Admin])
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
			"createAccessPolicy", "createAgent", "createApiKey", "createInboundWebhook", "createModelConnection", "createOAuthClient", "createServiceAccount", "createWebhookSubscription",
			"deleteAccessPolicy", "publishAgent", "resetUserMfa", "rotateApiKey", "rotateInboundWebhookSecret", "rotateWebhookSecret", "updateAccessPolicy", "updateAgent", "updateCompany",
			"updateInboundWebhook", "updateModelConnection", "updateOAuthClient", "updateServiceAccount", "updateWebhookSubscription",
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
			"secret":     `mutation { createSecret(input: {name: "S", value: "v"}) { secret { id } } }`,
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
		require.Equal(t, []string{"invite", "jit", "mfa", "promote", "reactivate", "secret"}, refused)
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

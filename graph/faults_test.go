package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// wrong are inputs with faults of different kinds: a broken rule, what belongs together, and rows that there are not. An update is tried on
// the row that the mutation before it has made with the input right.
var wrong = []struct {
	mutation string
	right    vars // of the row to update
	in       vars
	fields   []string
}{
	{"createService", nil, vars{"name": " ", "ownerTeamId": "team_1", "organizationId": "org_1"}, []string{"name", "ownerTeamId", "organizationId"}},
	{"updateService", vars{"name": "Right"}, vars{"name": " ", "ownerTeamId": "team_1"}, []string{"name", "ownerTeamId"}},
	{"createTeam", nil, vars{"name": " ", "organizationId": "org_1", "memberIds": []string{"usr_1"}}, []string{"name", "organizationId", "memberIds[0]"}},
	{"updateTeam", vars{"name": "Right"}, vars{"slug": "A B", "memberIds": []string{"usr_1"}}, []string{"slug", "memberIds[0]"}},
	{"createOrganization", nil, vars{"name": " ", "parentId": "org_1"}, []string{"name", "parentId"}},
	{"updateOrganization", vars{"name": "Right"}, vars{"name": " ", "parentId": "org_1"}, []string{"name", "parentId"}},
	{"createMailbox", nil, vars{"address": "a", "offeringId": "off_1", "teamId": "team_1"}, []string{"address", "offeringId", "teamId"}},
	{
		"createWebhookSubscription", nil, vars{"url": "https://hooks.example/", "events": []string{"nothing"}, "description": strings.Repeat("x", 2001)},
		[]string{"description", "events"},
	},
	{
		"updateWebhookSubscription", vars{"url": "https://hooks.example.com/", "events": []string{"request.created"}},
		vars{"events": []string{"nothing"}, "description": strings.Repeat("x", 2001)}, []string{"description", "events"},
	},
	{"createInboundWebhook", nil, vars{"name": " ", "workflowId": "wf_1", "preset": "nothing", "when": "("}, []string{"name", "workflowId", "preset", "when"}},
	{"createSchedule", nil, vars{"name": " ", "workflowId": "wf_1", "cron": "x", "timeZone": "Nowhere"}, []string{"name", "workflowId", "cron", "timeZone"}},
	{"createRoutingRule", nil, vars{"name": " ", "when": "request.nothing", "teamId": "team_1"}, []string{"name", "when", "teamId"}},
	{
		"updateRoutingRule", vars{"name": "Right", "when": "true", "priority": "HIGH"},
		vars{"name": " ", "when": "request.nothing", "teamId": "team_1"}, []string{"name", "when", "teamId"},
	},
	{
		"createAgent", nil, vars{"name": " ", "type": "QUEUE_INTAKE", "source": "MANAGED", "autonomy": "SUGGEST", "ownerId": "usr_1", "filter": "request.nothing"},
		[]string{"name", "ownerId", "filter"},
	},
	{
		"createModelConnection", nil, vars{"name": " ", "kind": "openai", "baseUrl": "https://models.example/", "models": []string{"m", "m"}, "secretName": "NONE"},
		[]string{"name", "models", "secretName"},
	},
	{"createCalendar", nil, vars{"name": " ", "timeZone": "Nowhere", "holidays": []string{"x"}}, []string{"name", "timeZone", "holidays[0]"}},
	{"updateCalendar", vars{"name": "Right"}, vars{"name": " ", "timeZone": "Nowhere"}, []string{"name", "timeZone"}},
	{
		"createOAuthClient", nil, vars{"name": " ", "redirectUris": []string{"https://a.example/*"}, "scopes": []string{"nothing:read"}},
		[]string{"name", "redirectUris[0]", "scopes[0]"},
	},
	{"createApiKey", nil, vars{"name": " ", "scopes": []string{"nothing:read"}, "allowedIps": []string{"x"}}, []string{"name", "scopes[0]", "allowedIps"}},
	{"createWorkflow", nil, vars{"name": " ", "definition": vars{"phases": []any{}}}, []string{"name", "definition.transitions"}},
	{"createSecret", nil, vars{"name": "lower", "value": "x", "allowedHosts": []string{"https://a.example/"}}, []string{"name", "allowedHosts"}},
	{
		"updateSecret", vars{"name": "RIGHT", "value": "x", "allowedHosts": []string{"a.example"}},
		vars{"allowedHosts": []string{"https://a.example/"}, "description": strings.Repeat("x", 10001)}, []string{"allowedHosts", "description"},
	},
	{"createSavedView", nil, vars{"name": " ", "scope": "team", "teamId": "team_1"}, []string{"name", "teamId"}},
	{"createSavedReply", nil, vars{"name": " ", "scope": "team", "body": "{{nothing}}"}, []string{"name", "teamId", "body"}},
	{"updateSavedReply", vars{"name": "Right", "scope": "me", "body": "x"}, vars{"name": " ", "body": "{{nothing}}"}, []string{"name", "body"}},
	{"createReportSubscription", nil, vars{"name": " ", "query": "from=2026-01-01"}, []string{"name", "query"}},
	{"inviteUser", nil, vars{"name": " ", "email": "a@b..example"}, []string{"name", "email"}},
	{
		"updateModelConnection", vars{"name": "Right", "kind": "openai", "baseUrl": "https://models.example/", "models": []string{"m"}},
		vars{"name": " ", "secretName": "NONE"}, []string{"name", "secretName"},
	},
	{
		"updateAgent", vars{"name": "Right", "type": "QUEUE_INTAKE", "source": "MANAGED", "autonomy": "SUGGEST"},
		vars{"name": " ", "ownerId": "usr_1", "filter": "request.nothing", "modelConnectionId": "mcn_1"},
		[]string{"name", "ownerId", "filter", "modelConnectionId"},
	},
	{
		"createAccessPolicy", nil, vars{"name": " ", "effect": "Allow", "action": "nothing", "resource": "Nothing"},
		[]string{"name", "action", "resource"},
	},
	{
		"updateAccessPolicy", vars{"name": "Right", "effect": "Allow", "action": "read", "resource": "Service", "condition": vars{"resource.slug": "x"}},
		vars{"name": " ", "condition": vars{"resource.nothing": 1}}, []string{"name", "condition.resource.nothing"},
	},
	{
		"createMailbox", nil, vars{"address": "help@example.com", "kind": "smtp", "offeringId": "off_1", "server": "imap.example.com", "authservId": strings.Repeat("x", 300)},
		[]string{"authservId", "offeringId", "server"},
	},
}

// One answer names everything that is wrong with an input, whatever kind of fault it is.
func TestOneAnswerNamesAllFaults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		for _, c := range wrong {
			if c.right != nil {
				create := strings.Replace(c.mutation, "update", "create", 1)
				noun := strings.ToLower(c.mutation[6:7]) + c.mutation[7:]
				c.in["id"] = ask(t, s, owner, mutationOf(create, noun+" { id }"), vars{"in": c.right}).Text("data." + create + "." + noun + ".id")
			}
			a := send(t, s, owner, mutationOf(c.mutation, "__typename"), vars{"in": c.in})
			assert.ElementsMatch(t, c.fields, faults(a), "%s: %s", c.mutation, a.Body)
		}
		member := s.World.A.Users[principal.Member].ID
		a := send(t, s, owner, mutationOf("updateUser", "__typename"), vars{"in": vars{"id": member, "name": " ", "timeZone": "Nowhere", "teamIds": []string{"team_1"}}})
		require.ElementsMatch(t, []string{"name", "timeZone", "teamIds[0]"}, faults(a), "%s", a.Body)
		a = send(t, s, owner, mutationOf("updateCompany", "__typename"), vars{"in": vars{"name": " ", "timeZone": "Nowhere"}})
		require.ElementsMatch(t, []string{"name", "timeZone"}, faults(a), "%s", a.Body)
	})
}

func mutationOf(name, selection string) string {
	return fmt.Sprintf("mutation($in: %s%sInput!) { %s(input: $in) { %s } }", strings.ToUpper(name[:1]), name[1:], name, selection)
}

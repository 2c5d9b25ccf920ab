package transfer_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/agent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/reportmail"
	"atrium/internal/desk/request"
	"atrium/internal/desk/routing"
	"atrium/internal/desk/savedview"
	"atrium/internal/desk/sla"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow"
)

// What operations have made, with all that they take, is what the product would have written.
func TestWhatOperationsMadeMoves(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, from *testkit.World) {
		ctx := from.As(from.A, principal.Owner)
		later, test := from.Clock.Now().Add(48*time.Hour), true
		ship := testkit.Run(t, from, ctx, people.CreateOrganization, people.CreateOrganizationInput{Name: "Ship"})
		deck := testkit.Run(t, from, ctx, people.CreateOrganization, people.CreateOrganizationInput{Name: "Deck", ParentID: &ship.ID})
		crew := testkit.Run(t, from, ctx, people.CreateTeam, people.CreateTeamInput{
			Name: "Crew", Description: new("Who works"), OrganizationID: &deck.ID, MemberIDs: []string{from.A.Users[principal.Agent].ID},
		})
		account := testkit.Run(t, from, ctx, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Robot", Role: new("agent")})
		for _, in := range []apikey.CreateInput{
			{Name: "Mine", Scopes: []string{"requests:read"}, ExpiresAt: &later, AllowedIPs: []string{"192.0.2.0/24"}},
			{Name: "Robot's", Scopes: principal.ScopeNames, ServiceAccountID: &account.ID, Test: &test},
		} {
			testkit.Run(t, from, ctx, apikey.Create, in)
		}
		kept := testkit.Run(t, from, ctx, secret.CreateSecret, secret.CreateSecretInput{Name: "ANSWER", Value: "forty-two", Description: new("Of all"), AllowedHosts: []string{"*.example"}})
		hours := testkit.Run(t, from, ctx, workflow.CreateCalendar, workflow.CreateCalendarInput{
			Name:     "Office",
			TimeZone: new("Europe/Berlin"), Holidays: []string{"2026-12-25"},
			WorkingHours: &workflow.WorkingHours{Mon: []workflow.WorkingTime{{From: "09:00", To: "17:00"}}},
			Exceptions:   []workflow.Exception{{Date: "2026-12-24", Hours: []workflow.WorkingTime{{From: "09:00", To: "12:00"}}}},
		})
		service := testkit.Run(t, from, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT", Tags: map[string]string{"floor": "2"}})
		offering := testkit.Run(t, from, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{
			ByID: op.ByID{ID: service.ID}, Name: "Laptop", Description: new("To work with"), Tags: map[string]string{"kind": "a"},
			Form: &form.Definition{Fields: []form.Field{{Key: "model", Label: "Which?", Type: "select", Options: []string{"14 inch", "16 inch"}, Required: true}}},
			SLA:  &catalog.SLA{ResponseMinutes: new(60), ResolutionMinutes: new(600), WarnAtPercent: op.SetTo(70), CalendarID: &hours.ID, Escalations: []sla.Escalation{{AfterMinutes: 30, Of: "response", Do: sla.Notify}}},
		})
		testkit.Run(t, from, ctx, routing.Create, routing.CreateInput{Name: "Urgent", When: "request.priority == 'URGENT'", TeamID: &crew.ID, AssignTo: new("roundRobin")})
		mailed := testkit.Run(t, from, ctx, reportmail.Create, reportmail.CreateInput{Name: "Desk", Query: "by=team"})
		testkit.Run(t, from, ctx, savedview.Create, savedview.CreateInput{Name: "Open", Scope: "company", Query: "status=PENDING"})
		testkit.Run(t, from, ctx, request.Create, request.CreateInput{
			ServiceID: service.ID, OfferingID: offering.ID, Title: "A laptop", Fields: map[string]any{"model": "14 inch"}, Tags: map[string]string{"for": "Ana"},
		})
		flow := testkit.Run(t, from, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Alerts", Definition: workflow.NewDefinition([]byte(
			`{"phases":[{"id":"s","type":"START"},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"e"}]}`))})
		testkit.Run(t, from, ctx, workflow.PublishWorkflow, op.ByID{ID: flow.ID})
		var asked inbound.Mapping
		require.NoError(t, json.Unmarshal([]byte(`{"fields":{"model":"'14 inch'"}}`), &asked))
		testkit.Run(t, from, ctx, inbound.CreateWebhook, inbound.CreateWebhookInput{Name: "Monitoring", WorkflowID: flow.ID, Headers: []string{"X-Source"},
			OfferingID: &offering.ID, FieldMapping: &asked})
		testkit.Run(t, from, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://hooks.example/in", Events: []string{"request.created"}})
		testkit.Run(t, from, ctx, agent.CreateConnection, agent.CreateConnectionInput{
			Name: "Models", Kind: "openai", BaseURL: "https://models.example/v1", SecretName: new("ANSWER"), Models: []string{"small"},
		})
		testkit.Run(t, from, ctx, agent.Create, agent.CreateInput{Name: "Intake", Type: "QUEUE_INTAKE", Source: "CUSTOM", Autonomy: "SUGGEST", Filter: new("request.priority == 'HIGH'")})
		condition := policy.NewCondition([]byte(`{"resource.tags.floor": "2"}`))
		testkit.Run(t, from, ctx, policy.Create, policy.CreateInput{Name: "Upstairs", Effect: "Deny", Action: "delete", Resource: "Service", Condition: &condition})
		testkit.Run(t, from, ctx, identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"com.example.app:/callback"}, Scopes: []string{"requests:read"}})

		to := testkit.SQLiteWorld(t)
		_, err := importer(to).Import(system(t), export(t, from), passphrase)
		require.NoError(t, err)
		subscription := to.Store.Reader().ReportSubscription.GetX(system(t), mailed.ID)
		require.Equal(t, "by=team", subscription.Query)
		waits := to.Unfinished(t, subscription.CompanyID)
		require.True(t, slices.ContainsFunc(waits, func(j jobs.Moved) bool { return j.Kind == "report_mail" && strings.Contains(string(j.Args), mailed.ID) }), "it goes on there")
		moved := to.Store.Reader().Organization.GetX(system(t), deck.ID)
		require.Equal(t, ship.ID, *moved.ParentID)
		require.Equal(t, []string{"*.example"}, to.Store.Reader().Secret.GetX(system(t), kept.ID).AllowedHosts)
		forged := fileOf(t, from).with("secrets", "", "allowed_hosts", `["https://evil.example"]`)
		_, err = importer(testkit.SQLiteWorld(t)).Import(system(t), sealed(t, forged), passphrase)
		require.ErrorContains(t, err, "allowed_hosts of secrets must be names")
	})
}

package authz

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	wording "atrium/internal/platform/text"
)

// Every column of an entity that policies cover is an attribute, or is listed with the reason why not. Nothing else is listed.
func TestEveryColumnIsAnAttribute(t *testing.T) {
	t.Parallel()
	entities := map[string]reflect.Type{
		"Service": reflect.TypeFor[ent.Service](), "Offering": reflect.TypeFor[ent.Offering](), "Request": reflect.TypeFor[ent.Request](),
		"Comment": reflect.TypeFor[ent.Comment](), "Attachment": reflect.TypeFor[ent.Attachment](),
		"Workflow": reflect.TypeFor[ent.Workflow](), "User": reflect.TypeFor[ent.User](), "Team": reflect.TypeFor[ent.Team](),
		"Organization": reflect.TypeFor[ent.Organization](), "Secret": reflect.TypeFor[ent.Secret](), AuditEntry: reflect.TypeFor[ent.AuditEntry](),
		"APIKey": reflect.TypeFor[ent.APIKey](), "ServiceAccount": reflect.TypeFor[ent.ServiceAccount](), "OAuthClient": reflect.TypeFor[ent.OAuthClient](),
		"WebhookSubscription": reflect.TypeFor[ent.WebhookSubscription](), "WebhookDelivery": reflect.TypeFor[ent.WebhookDelivery](),
		"InboundWebhook": reflect.TypeFor[ent.InboundWebhook](), "InboundCall": reflect.TypeFor[ent.InboundCall](),
		"AgentRun": reflect.TypeFor[ent.AgentRun](), "AgentAction": reflect.TypeFor[ent.AgentAction](),
		"Agent": reflect.TypeFor[ent.Agent](), "ModelConnection": reflect.TypeFor[ent.ModelConnection](), "RoutingRule": reflect.TypeFor[ent.RoutingRule](), "Calendar": reflect.TypeFor[ent.Calendar](), "Schedule": reflect.TypeFor[ent.Schedule](), "Invoice": reflect.TypeFor[ent.Invoice](),
		"Execution": reflect.TypeFor[ent.Execution](), "Task": reflect.TypeFor[ent.Task](), "Approval": reflect.TypeFor[ent.Approval](), "Incident": reflect.TypeFor[ent.Incident](),
		"AccessPolicy": reflect.TypeFor[ent.AccessPolicy](), "AccessDecision": reflect.TypeFor[ent.AccessDecision](),
	}
	for name, r := range resources {
		if r.table == "" {
			continue
		}
		typ, ok := entities[name]
		require.True(t, ok, "%s: list its entity here", name)
		columns, seen := map[string]bool{}, map[string]bool{}
		for _, a := range r.byDoc {
			columns[a.column] = true
		}
		for f := range typ.Fields() {
			column, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || f.Anonymous || f.Name == "Edges" || column == "-" {
				continue
			}
			attr := wording.Camel(column)
			seen[attr] = true
			if unaddressable[""][attr] != "" || unaddressable[name][attr] != "" {
				require.False(t, columns[column])
				continue
			}
			require.True(t, columns[column], "%s.%s is no attribute: make it one, or list it as unaddressable with a reason", name, attr)
		}
		for attr := range unaddressable[name] {
			require.True(t, seen[attr], "%s.%s is listed and not there", name, attr)
		}
		for attr := range renamed[name] {
			require.True(t, seen[attr], "%s.%s is renamed and not there", name, attr)
		}
	}
	for name := range unaddressable {
		require.True(t, name == "" || resources[name] != nil, name)
	}
}

// A row's document holds every attribute under the same path as a condition uses.
func TestDocumentsHoldAttributes(t *testing.T) {
	t.Parallel()
	minutes, calendar := 30, "cal_1"
	row, ok := RowOf(&ent.Offering{ID: "off_1", Name: "Laptop", ResponseMinutes: &minutes, CalendarID: &calendar, Tags: map[string]string{"a.b": "c"}}, nil)
	require.True(t, ok)
	doc := row.Document()
	require.Equal(t, map[string]any{"responseMinutes": int64(30), "calendarId": "cal_1"}, doc["sla"])
	require.NotContains(t, doc, "workflowId", "what is null is left out")
	require.NotContains(t, doc, "description", "and what the doors show as null")
	for _, r := range []Row{row, RowOfInput("Offering", "off_1", map[string]any{
		"name": "Laptop", "sla": map[string]any{"responseMinutes": 30.0}, "tags": map[string]any{"a.b": "c"},
	})} {
		on := resources["Offering"]
		require.Equal(t, "30", r.value(on, []string{"sla", "responseMinutes"}).String())
		require.Equal(t, `"c"`, r.value(on, []string{"tags", "a.b"}).String())
		require.Nil(t, r.value(on, []string{"tags", "a"}))
		require.Nil(t, r.value(on, []string{"workflowId"}))
		require.Nil(t, r.value(on, []string{"nothing"}))
	}
	_, ok = RowOf(&ent.Company{ID: "co_1"}, nil)
	require.False(t, ok)
	_, ok = RowOf(ent.Service{ID: "svc_1"}, nil)
	require.False(t, ok, "an entity is a pointer")
}

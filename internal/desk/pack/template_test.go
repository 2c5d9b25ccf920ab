package pack_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/pack"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

// A template of a service makes the same service in a company that has nothing, whose template is the same text.
func TestTemplateRoundTrip(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, other := owner(w), w.As(w.B, principal.Owner)
		templates := map[string]string{}
		for _, in := range []pack.Input{of(small, "de"), {Pack: new("it-service-desk"), Language: new("de")}} {
			made, err := install(w, ctx, in)
			require.NoError(t, err)
			for _, it := range made.Items {
				if it.Kind == "Service" {
					templates[it.Key] = testkit.Run(t, w, ctx, pack.Template, op.ByID{ID: *it.ID}).Source
				}
			}
		}
		require.Len(t, templates, 2)
		require.Equal(t, template, templates["it"])
		for key, source := range templates {
			made, err := install(w, other, pack.Input{Source: &source})
			require.NoError(t, err, source)
			for _, it := range made.Items {
				if it.Kind == "Service" {
					require.Equal(t, source, testkit.Run(t, w, other, pack.Template, op.ByID{ID: *it.ID}).Source, key)
				}
			}
			again, err := install(w, ctx, pack.Input{Source: &source})
			require.NoError(t, err)
			for _, it := range again.Items {
				require.Equal(t, pack.Keep, it.Action, "the company has all of it")
			}
		}
		none, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ActionHasPrefix("servicetemplate")).Exist(ctx)
		require.NoError(t, err)
		require.False(t, none, "what is only read is not audited")
	})
}

// template is that of the service of small.
const template = `kind: Pack
key: it
spec:
  name: EDV
---
kind: Team
key: desk
spec:
  name: Servicedesk
---
kind: Calendar
key: burozeiten
spec:
  name: Bürozeiten
  timeZone: Europe/Berlin
  workingHours:
    mon:
      - from: "09:00"
        to: "17:00"
  holidays:
    - "2026-12-25"
---
kind: Workflow
key: order
spec:
  name: Ein Notebook bestellen
  definition:
    phases:
      - id: start
        type: START
      - id: order
        type: PROCESS
        name: Bestellen
        participants:
          - role: responsible
            type: team
            id: Team/desk
        sla:
          resolutionMinutes: 60
          calendarId: Calendar/burozeiten
        config:
          title: ${request.title} bestellen
      - id: done
        type: END
        requestAction: complete
    transitions:
      - from: start
        name: next
        to: order
      - from: order
        name: next
        to: done
---
kind: Service
key: it
spec:
  name: EDV
  ownerTeamId: Team/desk
  tags:
    name: IT
---
kind: Offering
key: laptop
spec:
  serviceId: Service/it
  name: Notebook
  form:
    fields:
      - key: model
        label: Welches Modell?
        type: select
        required: true
        options:
          - klein
          - large
  workflowId: Workflow/order
  reopenDays: 7
  askSatisfaction: false
  sla:
    resolutionMinutes: 480
    warnAtPercent: 80
    calendarId: Calendar/burozeiten
    escalations:
      - afterMinutes: 60
        of: resolution
        do: reassign
        teamId: Team/desk
`

// People are left out, and a comment says where. What cannot do without them is refused.
func TestTemplateLeavesPeopleOut(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := owner(w)
		org := testkit.Run(t, w, ctx, people.CreateOrganization, people.CreateOrganizationInput{Name: "Plant"})
		team := testkit.Run(t, w, ctx, people.CreateTeam, people.CreateTeamInput{Name: "Desk", OrganizationID: &org.ID, MemberIDs: []string{w.A.Owner.ID}})
		publish := func(name, approvers string) string {
			def := `{"phases":[{"id":"start","type":"START"},{"id":"ask","type":"APPROVAL","config":{"approvers":[` + approvers + `],"mode":"any"}},
				{"id":"work","type":"PROCESS","participants":[{"role":"responsible","type":"user","id":"` + w.A.Owner.ID + `"}]},
				{"id":"done","type":"END","requestAction":"complete"},{"id":"no","type":"END","requestAction":"cancel"}],
				"transitions":[{"from":"start","name":"next","to":"ask"},{"from":"ask","name":"approved","to":"work"},{"from":"ask","name":"rejected","to":"no"},{"from":"work","name":"next","to":"done"}]}`
			wf := testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: name, Definition: workflow.NewDefinition([]byte(def))})
			return testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: wf.ID}).ID
		}
		ofService := func(name, workflowID string) string {
			s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: name, OwnerTeamID: &team.ID, OrganizationID: &org.ID})
			testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Ask", WorkflowID: &workflowID})
			return s.ID
		}
		user, of := `{"type":"user","id":"`+w.A.Owner.ID+`"}`, `{"type":"team","id":"`+team.ID+`"}`

		got := testkit.Run(t, w, ctx, pack.Template, op.ByID{ID: ofService("Both", publish("Both", user+","+of))}).Source
		require.Contains(t, got, "# Left out: users in definition.phases[ask].config.approvers, users in definition.phases[work].participants.\nkind: Workflow\n")
		require.Contains(t, got, "# Left out: its organization.\nkind: Team\n")
		require.Contains(t, got, "# Left out: its organization.\nkind: Service\n")
		for _, secret := range []string{w.A.Owner.ID, team.ID, org.ID, "participants:", "memberIds"} {
			require.NotContains(t, got, secret)
		}
		_, err := install(w, w.As(w.B, principal.Owner), pack.Input{Source: &got})
		require.NoError(t, err)

		byRule := testkit.Run(t, w, ctx, pack.Template, op.ByID{ID: ofService("Rules", publish("Rules", user+`,{"type":"serviceTeam"}`))}).Source
		require.Contains(t, byRule, "approvers:\n            - type: serviceTeam\n", "a rule names nobody")

		_, _, err = op.Run(ctx, w.Engine, pack.Template, op.ByID{ID: ofService("People", publish("People", user))}, nil)
		require.Regexp(t, "^conflict: Workflow/people cannot do without the people whom a template leaves out. Give what they do to a team first. definition.phases.ask..config.approvers: ", refused(t, err))
	})
}

// Texts are what they were, however they look.
func TestTemplateKeepsTexts(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	ctx, other := owner(w), w.As(w.B, principal.Owner)
	for _, text := range []string{
		"yes", "No", "null", "~", "12", "1e3", "0x1F", "2026-12-25", "- a", "a: b", "a #b", "#", "'", `"`, "&a", "*a", "!x", "| x", "%", "@", "`", "{a}", "[", ",", "?", "<<", "=", "---", "...",
		" padded ", "two\nlines", "two\nlines\n", "\n\nlines", "  in\n deep\n", "tab\there", "\tfirst", "line \nend ", "ümläut ✓ 😀", "a\u2028b", "a\u0085b", "\ufeffx", "C:\\dir\\n", strings.Repeat("long ", 100), "Team/desk", "${request.title}",
	} {
		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "N" + text[:min(len(text), 100)], Description: &text, Tags: map[string]string{"t": text[:min(len(text), 100)]}})
		written, _, err := op.Run(ctx, w.Engine, pack.Template, op.ByID{ID: s.ID}, nil)
		require.NoError(t, err, "%q", text)
		source := written.Source
		made, err := install(w, other, pack.Input{Source: &source})
		require.NoError(t, err, source)
		row, err := w.Store.Reader().Service.Get(other, *made.Items[0].ID)
		require.NoError(t, err)
		require.Equal(t, []any{s.Name, s.Description, s.Tags}, []any{row.Name, row.Description, row.Tags}, source)
		testkit.Run(t, w, ctx, catalog.DeleteService, op.ByID{ID: s.ID})
		testkit.Run(t, w, other, catalog.DeleteService, op.ByID{ID: row.ID})
	}
}

// Who may read a template of a service is who may read all that stands in it.
func TestTemplateAsksRights(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := owner(w)
		made, err := install(w, ctx, of(small, "en"))
		require.NoError(t, err)
		var id string
		for _, it := range made.Items {
			if it.Kind == "Service" {
				id = *it.ID
			}
		}
		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			_, _, err := op.Run(w.As(w.A, role), w.Engine, pack.Template, op.ByID{ID: id}, nil)
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), role)
		}
		_, _, err = op.Run(w.As(w.B, principal.Owner), w.Engine, pack.Template, op.ByID{ID: id}, nil)
		require.Equal(t, "not_found: Service not found.", refused(t, err))
		key := *mustFrom(t, ctx)
		key.Method, key.Scopes = principal.MethodAPIKey, principal.ScopeOf("services:read")
		_, _, err = op.Run(principal.With(t.Context(), &key), w.Engine, pack.Template, op.ByID{ID: id}, nil)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), "teams and workflows take their own scopes")
	})
}

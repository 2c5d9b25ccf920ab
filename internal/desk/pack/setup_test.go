package pack_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/desk/pack"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const head = "kind: Pack\nkey: small\nspec: {name: Small, description: A desk.}\n"

// small is a pack with a document of each kind.
const small = head + `---
kind: Offering
key: laptop
spec:
  name: Laptop
  serviceId: Service/it
  workflowId: Workflow/order
  form: {fields: [{key: model, type: select, label: "Which model?", required: true, options: [small, large]}]}
  sla: {resolutionMinutes: 480, calendarId: Calendar/hours, escalations: [{afterMinutes: 60, of: resolution, do: reassign, teamId: Team/desk}]}
---
kind: Service
key: it
spec: {name: IT, ownerTeamId: Team/desk, tags: {name: IT}}
---
kind: Team
key: desk
spec: {name: Desk}
---
kind: Calendar
key: hours
spec: {name: Office hours, timeZone: Europe/Berlin, holidays: [2026-12-25], workingHours: {mon: [{from: "09:00", to: "17:00"}]}}
---
kind: Workflow
key: order
spec:
  name: Order a laptop
  definition:
    phases:
      - {id: start, type: START}
      - id: order
        type: PROCESS
        name: Order it
        participants: [{role: responsible, type: team, id: Team/desk}]
        sla: {resolutionMinutes: 60, calendarId: Calendar/hours}
        config: {title: "Order ${request.title}"}
      - {id: done, type: END, requestAction: complete}
    transitions:
      - {from: start, name: next, to: order}
      - {from: order, name: next, to: done}
---
kind: RoutingRule
key: urgent
spec: {name: Urgent, when: "request.priority == 'URGENT' && has(request.fields.model)", teamId: Team/desk}
---
kind: SavedReply
key: hello
spec: {name: Hello, scope: team, teamId: Team/desk, body: "Hello {{requester.name}}"}
---
kind: Schedule
key: weekly
spec: {name: Weekly laptop, offeringId: Offering/laptop, request: {title: A laptop, fields: {model: small}}, cron: "0 9 * * MON", timeZone: Europe/Berlin, calendarId: Calendar/hours}
---
kind: InboundWebhook
key: shop
spec:
  name: Orders of the shop
  workflowId: Workflow/order
  offeringId: Offering/laptop
  when: "webhook.body.size == 'small'"
  fieldMapping: {title: webhook.body.title, fields: {model: "webhook.body.size == 's' ? 'small' : 'large'"}}
---
kind: AccessPolicy
key: quiet
spec: {name: Nobody deletes requests, effect: Deny, action: delete, resource: Request}
---
kind: Texts
key: de
spec:
  Small: Klein
  A desk.: Ein Servicedesk.
  Desk: Servicedesk
  IT: EDV
  Laptop: Notebook
  "Which model?": "Welches Modell?"
  Office hours: Bürozeiten
  Order a laptop: Ein Notebook bestellen
  Order it: Bestellen
  "Order ${request.title}": "${request.title} bestellen"
  Urgent: Dringend
  Hello: Hallo
  "Hello {{requester.name}}": "Hallo {{requester.name}}"
  Weekly laptop: Wöchentliches Notebook
  A laptop: Ein Notebook
  Orders of the shop: Bestellungen des Ladens
  Nobody deletes requests: Niemand löscht Anfragen
  next: weiter
  small: klein
`

func of(source, language string) pack.Input {
	return pack.Input{Source: &source, Language: &language}
}

// refused returns the error of a call as a caller reads it: each detail on a line of its own, or the code and the message.
func refused(t testing.TB, err error) string {
	t.Helper()
	require.Error(t, err)
	e, ok := errors.AsType[*apperr.Error](err)
	require.True(t, ok, "%v", err)
	if len(e.Details) == 0 {
		return string(e.Code) + ": " + e.Message
	}
	var lines []string
	for _, d := range e.Details {
		lines = append(lines, d.Field+": "+d.Message)
	}
	return strings.Join(lines, "\n")
}

func install(w *testkit.World, ctx context.Context, in pack.Input) (*pack.Plan, error) {
	out, _, err := op.Run(ctx, w.Engine, pack.Install, in, nil)
	return out, err
}

func planOf(w *testkit.World, ctx context.Context, in pack.Input) (*pack.Plan, error) {
	out, _, err := op.Run(ctx, w.Engine, pack.PlanOf, in, nil)
	return out, err
}

// lines writes what becomes of a pack's documents.
func lines(p *pack.Plan) (out []string) {
	for _, it := range p.Items {
		out = append(out, it.Action+" "+it.Kind+"/"+it.Key+" "+it.Name)
	}
	return out
}

// rows counts what a company has of what packs make.
func rows(t testing.TB, w *testkit.World, ctx context.Context) map[string]int {
	t.Helper()
	db := w.Store.Reader()
	out := map[string]int{}
	for kind, count := range map[string]func(context.Context) (int, error){
		"Team": db.Team.Query().Count, "Calendar": db.Calendar.Query().Count, "Workflow": db.Workflow.Query().Count, "Service": db.Service.Query().Count,
		"Offering": db.Offering.Query().Count, "RoutingRule": db.RoutingRule.Query().Count, "SavedReply": db.SavedReply.Query().Count,
		"Schedule": db.Schedule.Query().Count, "InboundWebhook": db.InboundWebhook.Query().Count, "AccessPolicy": db.AccessPolicy.Query().Count,
	} {
		n, err := count(ctx)
		require.NoError(t, err)
		if n > 0 {
			out[kind] = n
		}
	}
	return out
}

func owner(w *testkit.World) context.Context { return w.As(w.A, principal.Owner) }

func mustFrom(t testing.TB, ctx context.Context) *principal.Principal {
	t.Helper()
	p, ok := principal.From(ctx)
	require.True(t, ok)
	return p
}

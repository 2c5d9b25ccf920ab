package doors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
)

const graphql = "POST /graphql"

// gql is a GraphQL mutation with an input.
func gql(name, input, ask string, vars any) any {
	return map[string]any{"query": "mutation($in: " + input + "!) { " + name + "(input: $in) { " + ask + " } }", "variables": map[string]any{"in": vars}}
}

// bodies returns what costs much because its bodies are long.
func (n *neighbours) bodies(t *testing.T) []dear {
	t.Helper()
	keeps := n.workflow(t, "Keeps", `{"phases": [{"id": "begin", "type": "START"}, {"id": "keep", "type": "DATA", "config": {"kind": "enrich",
		"set": {"body": "webhook.body"}}}, {"id": "done", "type": "END"}], "transitions": [{"from": "begin", "name": "next", "to": "keep"},
		{"from": "keep", "name": "next", "to": "done"}]}`)
	hook := "POST /v1/webhooks/inbound/" + n.mutate(t, "createInboundWebhook", "CreateInboundWebhookInput", "inboundWebhook { id }",
		map[string]any{"name": "Calls", "workflowId": keeps, "verifySignature": false}, "inboundWebhook", "id")
	formed := n.formed(t)
	return []dear{
		{name: "inbound calls", path: hook, done: n.executionsEnd, body: func(i int) any { return map[string]any{"text": filler(i, 950_000)} }},
		{name: "inbound calls of lists", path: hook, done: n.executionsEnd, body: func(i int) any {
			return map[string]any{"list": slices.Repeat([]any{map[string]any{"a": i, "b": true, "c": "x"}}, 35_000)}
		}},
		{name: "requests", path: "POST /v1/requests", body: func(i int) any { return with(formed, "fields", fields(i)) }},
		{name: "changes of a request", path: "PATCH /v1/requests/" + n.filedBy(t, formed), body: func(i int) any {
			return map[string]any{"fields": fields(i)}
		}},
		{name: "definitions", path: "PATCH /v1/workflows/" + n.workflow(t, "Draft", string(definitionOf(0))), body: func(i int) any {
			return map[string]any{"definition": definitionOf(i)}
		}},
	}
}

// calls returns what costs much by what it does.
func (n *neighbours) calls(t *testing.T) []dear {
	t.Helper()
	formed := n.formed(t)
	one, finished := n.filedBy(t, with(formed, "fields", fields(0))), n.filedBy(t, formed)
	many := make([]string, 100)
	for i := range many {
		many[i] = testkit.Run(t, n.World, n.World.As(n.World.A, principal.Owner), request.Create, request.CreateInput{
			ServiceID: fmt.Sprint(formed["serviceId"]), OfferingID: fmt.Sprint(formed["offeringId"]), Title: "One of many",
		}).ID
	}
	for _, status := range []string{"IN_PROGRESS", "COMPLETED"} { // evaluations learn from what is finished
		n.make(t, n.A.OwnerKey, "PATCH /v1/requests/"+finished, map[string]any{"status": status}, "data", "id")
	}
	calendar := n.mutate(t, "createCalendar", "CreateCalendarInput", "calendar { id }", calendarOf(0), "calendar", "id")
	slow := n.mutate(t, "createAccessPolicy", "CreateAccessPolicyInput", "accessPolicy { id }", policyOf(0), "accessPolicy", "id")
	tried := n.mutate(t, "createAgent", "CreateAgentInput", "agent { id }",
		map[string]any{"name": "Tried", "type": "QUEUE_INTAKE", "source": "MANAGED", "autonomy": "SUGGEST"}, "agent", "id")
	previews := n.previews(t, n.most(3, 6), one)
	return []dear{
		{name: "reports", path: "GET /v1/reports/requests?by=service,offering,team,assignee,organization,priority", body: func(int) any { return nil }},
		{name: "imports", path: "POST /v1/requests/import", limit: n.most(2, 12), done: n.importsEnd, body: func(i int) any { return tableOf(i, formed) }},
		{name: "service levels", path: "PATCH /v1/offerings/" + fmt.Sprint(formed["offeringId"]), done: n.jobsEnd, body: func(i int) any {
			return map[string]any{"sla": levelsOf(i, calendar)}
		}},
		{name: "previews", paths: previews, limit: len(previews), body: func(int) any { return nil }},
		{name: "comments", path: "POST /v1/requests/" + one + "/comments", body: func(i int) any { return map[string]any{"body": filler(i, 9_900)} }},
		{name: "many at once", path: "POST /v1/requests/bulk", body: func(i int) any {
			return map[string]any{"ids": many, "change": map[string]any{"description": filler(i, 9_900)}}
		}},
		{name: "tables", path: "GET /v1/requests.csv", body: func(int) any { return nil }},
		{name: "exports", path: graphql, body: func(int) any {
			return gql("exportAudit", "ExportAuditInput", "export { content }", map[string]any{"format": "jsonl"})
		}},
		{name: "calendars", path: graphql, body: func(i int) any {
			return gql("updateCalendar", "UpdateCalendarInput", "calendar { id }", with(calendarOf(i), "id", calendar))
		}},
		{name: "policies", path: graphql, body: func(i int) any {
			return gql("updateAccessPolicy", "UpdateAccessPolicyInput", "accessPolicy { id }", with(policyOf(i), "id", slow))
		}},
		{name: "changes under policies", path: "PATCH /v1/requests/" + one, body: func(i int) any {
			return map[string]any{"description": strings.Repeat("a", 9_990) + fmt.Sprint(i)}
		}},
		{name: "evaluations", path: graphql, limit: n.most(1, 12), done: n.evaluationsEnd, body: func(int) any {
			return gql("evaluateAgent", "EvaluateAgentInput", "evaluation { id }", map[string]any{"id": tried, "cases": cases()})
		}},
		{name: "queries", path: graphql, body: func(int) any { return map[string]any{"query": costly} }},
	}
}

// most returns how many calls are made of what is limited otherwise: few, or many where A spends its whole allowance.
func (n *neighbours) most(few, many int) int {
	if n.full {
		return many
	}
	return few
}

// rare returns what people do seldom, and what costs more the more there is: it comes last.
func (n *neighbours) rare(t *testing.T) []dear {
	t.Helper()
	r := receiver.New(t, nil)
	hook := n.mutate(t, "createWebhookSubscription", "CreateWebhookSubscriptionInput", "webhookSubscription { id }",
		map[string]any{"url": r.URL, "events": []string{"request.created"}}, "webhookSubscription", "id")
	since := n.World.Clock.Now().Add(-10 * time.Minute).UTC().Format(time.RFC3339)
	one := n.filedBy(t, n.formed(t))
	uploads := make([]string, n.most(4, 12))
	for i := range uploads {
		in := map[string]any{"requestId": one, "name": "file.txt", "size": upload}
		uploads[i] = "PUT /v1/attachments/" + n.make(t, n.callers()[i%len(n.callers())], "POST /v1/attachments", in, "data", "id") + "/content"
	}
	return []dear{
		{name: "uploads", paths: uploads, limit: len(uploads), raw: func(i int) []byte { return []byte(filler(i, upload) + strings.Repeat(" ", upload))[:upload] }},
		{name: "searches", path: "GET /v1/search?q=lorem+ipsum&first=20", body: func(int) any { return nil }},
		{name: "trials", path: "POST /v1/workflows/try", body: func(i int) any {
			return map[string]any{"definition": decisions(i), "webhook": map[string]any{"body": map[string]any{"text": filler(i, 9_000)}}}
		}},
		{name: "packs", path: "POST /v1/packs/install", limit: n.most(3, 40), body: func(i int) any { return map[string]any{"source": packOf(i)} }},
		{name: "replays", path: graphql, limit: n.most(2, 10), done: n.jobsEnd, body: func(int) any {
			return gql("replayWebhookEvents", "ReplayWebhookEventsInput", "events", map[string]any{"subscriptionId": hook, "since": since})
		}},
		{name: "proofs of the log", path: graphql, body: func(int) any { return map[string]any{"query": "{ verifyAudit { size intact } }"} }},
	}
}

// upload is the size of a file that is uploaded, in bytes.
const upload = 1_400_000

// decisions returns a definition with as many long expressions as one may have.
func decisions(i int) json.RawMessage {
	var phases, transitions []string
	for d := range 150 {
		when := strings.Repeat(fmt.Sprintf("webhook.body.text == '%d' || ", i), 14) + "true"
		phases = append(phases, fmt.Sprintf(`{"id": "d%d", "type": "DECISION", "config": {"rules": [{"when": %q, "transition": "a"}], "default": "b"}}`, d, when))
		next := fmt.Sprintf("d%d", d+1)
		if d == 149 {
			next = "end"
		}
		transitions = append(transitions, fmt.Sprintf(`{"from": "d%d", "name": "a", "to": %q}, {"from": "d%d", "name": "b", "to": "end"}`, d, next, d))
	}
	return json.RawMessage(fmt.Sprintf(`{"phases": [{"id": "start", "type": "START"}, %s, {"id": "end", "type": "END"}],
		"transitions": [{"from": "start", "name": "next", "to": "d0"}, %s]}`, strings.Join(phases, ", "), strings.Join(transitions, ", ")))
}

// packOf returns a pack that makes as much as one may.
func packOf(i int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "kind: Pack\nkey: pack%d\nspec: {name: Pack %d}\n", i, i)
	for d := range 190 {
		fmt.Fprintf(&out, "---\nkind: Team\nkey: team%d-%d\nspec: {name: Team %d of %d, description: %q}\n", i, d, d, i, strings.Repeat("words ", 150))
	}
	return out.String()
}

// previews uploads pictures to a request, of nearly as many pixels as previews are made of, and returns the calls that make them.
func (n *neighbours) previews(t *testing.T, many int, requestID string) (out []string) {
	t.Helper()
	for i := range many {
		var picture bytes.Buffer
		img := image.NewGray(image.Rect(0, 0, 6_000, 6_000))
		img.Pix[i] = 255
		require.NoError(t, png.Encode(&picture, img))
		in := map[string]any{"requestId": requestID, "name": "picture.png", "size": picture.Len()}
		id := n.make(t, n.A.OwnerKey, "POST /v1/attachments", in, "data", "id")
		status, answer := n.send(t, n.A.OwnerKey, "PUT /v1/attachments/"+id+"/content", picture.Bytes())
		require.Equal(t, http.StatusOK, status, "%s", answer)
		out = append(out, "GET /v1/attachments/"+id+"/preview?size=320")
	}
	return out
}

// tableOf returns an import of many rows.
func tableOf(i int, of map[string]any) any {
	var rows strings.Builder
	rows.WriteString("key,title,description\n")
	for row := range 500 {
		fmt.Fprintf(&rows, "%d-%d,Row,%q\n", i, row, strings.Repeat("words ", 200))
	}
	return map[string]any{"csv": rows.String(), "serviceId": of["serviceId"], "offeringId": of["offeringId"]}
}

// levelsOf returns service levels with as many escalations as an offering may have.
func levelsOf(i int, calendar string) any {
	escalations := make([]any, 20)
	for e := range escalations {
		escalations[e] = map[string]any{"afterMinutes": 900 + (e+i)%40, "of": "resolution", "do": "notify"}
	}
	return map[string]any{"responseMinutes": 600 + i, "resolutionMinutes": 950, "calendarId": calendar, "escalations": escalations}
}

// formed makes an offering of A whose form has ten long texts, and returns the request that is filed against it.
func (n *neighbours) formed(t *testing.T) map[string]any {
	t.Helper()
	texts := make([]map[string]any, 10)
	for i := range texts {
		texts[i] = map[string]any{"key": fmt.Sprint("text", i), "label": "Text", "type": "textarea"}
	}
	return n.catalog(t, n.A.OwnerKey, map[string]any{"fields": texts})
}

// fields are answers of nearly a mebibyte to that form.
func fields(i int) map[string]any {
	out := map[string]any{}
	for f := range 10 {
		out[fmt.Sprint("text", f)] = filler(i, 95_000)
	}
	return out
}

// filedBy files a request as A, and returns its id.
func (n *neighbours) filedBy(t *testing.T, request map[string]any) string {
	t.Helper()
	return n.make(t, n.A.OwnerKey, "POST /v1/requests", request, "data", "id")
}

// catalog makes a service and an offering, and returns the request that is filed against it.
func (n *neighbours) catalog(t testing.TB, as apitest.Caller, form any) map[string]any {
	t.Helper()
	service := n.make(t, as, "POST /v1/services", map[string]any{"name": fmt.Sprint("Service ", time.Now().UnixNano())}, "data", "id")
	offering := n.make(t, as, "POST /v1/services/"+service+"/offerings", map[string]any{"name": "Laptop", "form": form}, "data", "id")
	return map[string]any{"serviceId": service, "offeringId": offering, "title": "A laptop"}
}

// filler is a text of so many bytes that no two calls share.
func filler(i, bytes int) string {
	line := fmt.Sprintf("%d lorem ipsum dolor sit amet, consectetur adipiscing elit\n", i)
	return strings.Repeat(line, bytes/len(line))
}

// costly is a query of nearly the cost that is allowed.
const costly = `{ requests(first: 100) { edges { node { id title description fields tags service { name } offering { name } creator { id }
	people { name } comments(first: 50) { edges { node { body } } } } } } }`

func with(m map[string]any, key string, value any) map[string]any {
	out := maps.Clone(m)
	out[key] = value
	return out
}

// workflow makes and publishes a workflow of A, and returns its id.
func (n *neighbours) workflow(t testing.TB, name, definition string) string {
	t.Helper()
	id := n.make(t, n.A.OwnerKey, "POST /v1/workflows", map[string]any{"name": name, "definition": json.RawMessage(definition)}, "data", "id")
	return n.make(t, n.A.OwnerKey, "POST /v1/workflows/"+id+"/publish", map[string]any{}, "data", "id")
}

// mutate makes a GraphQL mutation as A, and returns the text at a path of its payload.
func (n *neighbours) mutate(t testing.TB, name, input, ask string, vars any, at ...string) string {
	t.Helper()
	return n.make(t, n.owner, "POST /graphql", gql(name, input, ask, vars), append([]string{"data", name}, at...)...)
}

// definitionOf returns a definition of nearly 256 KiB.
func definitionOf(i int) json.RawMessage {
	var phases, transitions strings.Builder
	at := "start"
	for p := range 18 {
		id := fmt.Sprint("work", p)
		fmt.Fprintf(&phases, `{"id": %q, "type": "PROCESS", "config": {"instructions": %q}},`, id, filler(i, 9_500))
		fmt.Fprintf(&transitions, `{"from": %q, "name": "next", "to": %q},`, at, id)
		at = id
	}
	return json.RawMessage(`{"phases": [{"id": "start", "type": "START"},` + phases.String() + `{"id": "end", "type": "END"}], "transitions": [` +
		transitions.String() + fmt.Sprintf(`{"from": %q, "name": "next", "to": "end"}]}`, at))
}

// calendarOf returns the calendar in which a moment is farthest away: a minute a week, and as many days as one may have without any.
func calendarOf(i int) map[string]any {
	var holidays, exceptions []any
	monday := time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC)
	for d := range 1000 {
		holidays = append(holidays, monday.AddDate(0, 0, 7*d+2).Format(time.DateOnly))
		exceptions = append(exceptions, map[string]any{"date": monday.AddDate(0, 0, 7*d+1).Format(time.DateOnly)})
	}
	minute := []any{map[string]any{"from": "09:00", "to": "09:01"}}
	if i%2 == 1 {
		minute = []any{map[string]any{"from": "10:00", "to": "10:01"}}
	}
	return map[string]any{"name": "A minute a week", "workingHours": map[string]any{"mon": minute}, "holidays": holidays, "exceptions": exceptions}
}

// policyOf returns a policy with as many of the slowest conditions as a company may have.
func policyOf(i int) map[string]any {
	glob := strings.Repeat("*"+strings.Repeat("a", 24), 8)[:190]
	condition := map[string]any{"resource.title": "nobody", "resource.description": map[string]any{"glob": glob}}
	for t := range 40 {
		condition[fmt.Sprint("resource.tags.t", t)] = map[string]any{"glob": fmt.Sprint(glob, t)}
	}
	return map[string]any{"name": fmt.Sprint("Slow ", i), "effect": "Deny", "action": "update", "resource": "Request", "condition": condition}
}

// cases are as many for an evaluation as a call may bring.
func cases() []any {
	out := make([]any, 60)
	for i := range out {
		out[i] = map[string]any{"request": map[string]any{"title": fmt.Sprint("Case ", i), "description": filler(i, 9_900)}, "mustNotCall": []string{"declineRequest"}}
	}
	return out
}

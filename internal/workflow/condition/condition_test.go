package condition_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/inboundcall"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/strictjson"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/preset"
	"atrium/internal/workflow"
	"atrium/internal/workflow/condition"
	"atrium/internal/workflow/definition"
)

const reviewed = `{"phases":[{"id":"start","type":"START"},{"id":"check","type":"DECISION","config":{"rules":[],"default":"review"}},
 {"id":"review","name":"Review it","type":"PROCESS","config":{"form":{"fields":[{"key":"costs","label":"Costs","type":"number"}]}}},
 {"id":"later","type":"DATA","config":{"kind":"enrich","set":{"total":"1"}}},{"id":"end","type":"END"}],
 "transitions":[{"from":"start","name":"next","to":"check"},{"from":"check","name":"review","to":"review"},{"from":"review","name":"ok","to":"later"},{"from":"review","name":"back","to":"check"},{"from":"later","name":"next","to":"end"}]}`

type desk struct {
	w     *testkit.World
	owner context.Context
	off   *ent.Offering
	flow  *ent.Workflow
}

func setup(t *testing.T, w *testkit.World) *desk {
	t.Helper()
	d := &desk{w: w, owner: w.As(w.A, principal.Owner)}
	d.flow = testkit.Run(t, w, d.owner, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Flow", Definition: workflow.NewDefinition([]byte(reviewed))})
	s := testkit.Run(t, w, d.owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	d.off = testkit.Run(t, w, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", Form: &form.Definition{Fields: []form.Field{
		{Key: "model", Label: "Which model?", Type: form.Select, Options: []string{"14", "16"}}, {Key: "amount", Type: form.Number}, {Key: "in", Type: form.Text},
		{Key: "proof", Type: form.File, MaxFiles: new(2)},
	}}})
	return d
}

func (d *desk) file(t *testing.T, title string, fields strictjson.Object) *ent.Request {
	t.Helper()
	return testkit.Run(t, d.w, d.owner, request.Create, request.CreateInput{ServiceID: d.off.ServiceID, OfferingID: d.off.ID, Title: title, Fields: fields})
}

// byExpression runs Fields and returns what it lists by expression.
func byExpression(t *testing.T, w *testkit.World, ctx context.Context, in condition.FieldsInput) map[string]*condition.Field {
	t.Helper()
	out := map[string]*condition.Field{}
	for _, f := range testkit.Run(t, w, ctx, condition.Fields, in) {
		require.Nil(t, out[f.Expression], "listed twice: %s", f.Expression)
		out[f.Expression] = f
	}
	return out
}

// Rules and filters compare the request and the questions of all offerings; decisions, what phases before them have left.
func TestFieldsOfPlaces(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		rules := byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Routing})
		require.Equal(t, &condition.Field{
			Expression: "request.fields.model", Label: "Which model?", Group: "Laptop", Type: condition.Text, Optional: true, Values: []condition.Value{{Value: "14", Label: "14"}, {Value: "16", Label: "16"}},
		}, rules["request.fields.model"])
		require.Equal(t, condition.Number, rules["request.fields.amount"].Type)
		require.Equal(t, condition.Text, rules[`request.fields["in"]`].Type, "a word of CEL")
		require.Equal(t, condition.Team, rules["request.teamId"].Type)
		require.Equal(t, condition.List, rules["request.fields.proof"].Type, "the ids of files")
		require.Nil(t, rules["request.status"], "each was just filed")

		// Tags are those of requests that the caller may read.
		testkit.Run(t, w, d.owner, request.Create, request.CreateInput{ServiceID: d.off.ServiceID, OfferingID: d.off.ID, Title: "Tagged", Tags: map[string]string{"site": "berlin", "cost-centre": "7"}})
		tagged := byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Routing})
		require.Equal(t, &condition.Field{Expression: "request.tags.site", Label: "Tag site", Group: "Request", Type: condition.Text, Optional: true}, tagged["request.tags.site"])
		require.Contains(t, tagged, `request.tags["cost-centre"]`)
		require.Contains(t, byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Decision, ID: &d.flow.ID}), "request.tags.site")
		hidden := policy.NewCondition([]byte(`{"resource.title": "Tagged"}`))
		hide := testkit.Run(t, w, d.owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hidden})
		require.NotContains(t, byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Routing}), "request.tags.site")
		testkit.Run(t, w, d.owner, policy.Delete, op.ByID{ID: hide.ID})

		other := testkit.Run(t, w, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: d.off.ServiceID}, Name: "Phone", Form: &form.Definition{Fields: []form.Field{
			{Key: "model", Type: form.Select, Options: []string{"16", "XL"}}, {Key: "amount", Type: form.Text},
		}}})
		rules = byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Agent})
		require.Len(t, rules["request.fields.model"].Values, 3, "those of both")
		require.Equal(t, condition.Any, rules["request.fields.amount"].Type, "a number here, a text there")

		id := d.flow.ID
		require.NotContains(t, byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Decision, ID: &id}), "request.fields.model", "no offering runs through it")
		testkit.Run(t, w, d.owner, workflow.PublishWorkflow, op.ByID{ID: id})
		testkit.Run(t, w, d.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: other.ID}, WorkflowID: op.SetTo(id)})
		all := byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Decision, ID: &id})
		for _, name := range []string{"request.status", "request.number", "request.firstResponseAt", "request.fields.model", "phases.review.outcome", "phases.review.costs", "phases.later.total"} {
			require.Contains(t, all, name)
		}
		require.Equal(t, "Review it", all["phases.review.costs"].Group)
		require.Equal(t, []condition.Value{{Value: "ok", Label: "Ok"}, {Value: "back", Label: "Back"}}, all["phases.review.outcome"].Values)
		here := byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Decision, ID: &id, PhaseID: new("check")})
		require.Contains(t, here, "phases.review.outcome", "a way leads back")
		require.NotContains(t, here, "phases.later.total", "it comes later")
		drawn := strictjson.Object{"phases": []any{map[string]any{"id": "ask", "type": "APPROVAL"}, "no phase", map[string]any{"id": 5}}}
		require.Contains(t, byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Data, ID: &id, Definition: drawn}), "phases.ask.outcome", "as it is being written")

		asked := byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Form, ID: &d.off.ID})
		require.Equal(t, "Which model?", asked["model"].Label)
		require.NotContains(t, asked, "proof", "files are not compared with anything")
	})
}

// Every field that is listed compiles where it is listed.
func TestFieldsCompile(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		for _, in := range []condition.FieldsInput{{For: condition.Routing}, {For: condition.Decision, ID: &d.flow.ID}} {
			for expression := range byExpression(t, w, d.owner, in) {
				e, fault := definition.Check(t.Context(), map[string]definition.Place{condition.Routing: definition.OnRequest}[in.For], expression, []string{"review", "later", "check"}, false)
				require.Nil(t, fault, expression)
				require.NotEmpty(t, e.Type())
			}
		}
	})
}

// A condition of a workflow compares what began its execution: the last call of its webhook that was accepted, for whoever may read calls,
// and what workflows give that call it.
func TestFieldsOfWhatBeganAnExecution(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		testkit.Run(t, w, d.owner, workflow.PublishWorkflow, op.ByID{ID: d.flow.ID})
		testkit.Run(t, w, d.owner, inbound.CreateWebhook, inbound.CreateWebhookInput{Name: "Pages", WorkflowID: d.flow.ID, Preset: new("pagerduty")})
		caller := workflow.NewDefinition([]byte(`{"phases":[{"id":"s","type":"START"},{"id":"call","type":"CALL_WORKFLOW","config":{"workflowId":"` + d.flow.ID +
			`","input":{"amount":7,"urgent":true,"names":["a"],"who":"Ada","title":"${request.title}"}}},{"id":"e","type":"END"}],` +
			`"transitions":[{"from":"s","name":"next","to":"call"},{"from":"call","name":"next","to":"e"}]}`))
		made := testkit.Run(t, w, d.owner, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Caller", Definition: caller})
		testkit.Run(t, w, d.owner, workflow.PublishWorkflow, op.ByID{ID: made.ID})
		drawn := strictjson.Object{"phases": []any{map[string]any{"id": "check", "type": "DECISION", "config": map[string]any{"rules": []any{map[string]any{"when": "input.level > 1 && xinput.no"}}}}}}
		all := byExpression(t, w, d.owner, condition.FieldsInput{For: condition.Decision, ID: &d.flow.ID, Definition: drawn})
		for expression, of := range map[string]string{
			"webhook.body.event.data.title": condition.Text, "webhook.body.event.data.number": condition.Number, "webhook.body.event.data.assignees": condition.List,
			"webhook.receivedAt": condition.Time, "input.amount": condition.Number, "input.urgent": condition.Boolean, "input.names": condition.List,
			"input.who": condition.Text, "input.title": condition.Any, "input.level": condition.Any,
		} {
			require.Contains(t, all, expression)
			require.Equal(t, of, all[expression].Type, expression)
		}
		require.NotContains(t, all, "input.no")
		_, fault := definition.Check(t.Context(), definition.InWorkflow, `has(input.amount) && input.amount > 5 && has(webhook.body.event.data.title)`, nil, true)
		require.Nil(t, fault, "as rows write them")
	})
}

// What is no condition is checked as it is when the workflow is saved: by what it may read there, and by what it must give.
func TestValuesAreCheckedAtTheirPlaces(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		for _, c := range []struct{ place, expression, says string }{
			{"VALUE", "request.title + '!'", ""}, {"VALUE", "phases.review.costs * 2", ""}, {"VALUE", "input.amount", ""},
			{"VALUE", "request.titel", "undefined field 'titel'"}, {"VALUE", "phases.gone.x", `No phase has the id "gone"`}, {"VALUE", "secrets.TOKEN", "secrets"}, {"VALUE", "response.body.x", "response"},
			{"MOMENT", "request.createdAt + duration('1h')", ""}, {"MOMENT", "request.reopenCount", "must give a"}, {"LIST", "request.fields.names", ""}, {"LIST", "request.title", "must give a"},
			{"CALL", "secrets.TOKEN", ""}, {"CALL", "secrets.lower", "secret"}, {"RESPONSE", "response.body.id", ""}, {"RESPONSE", "secrets.TOKEN", "secrets"},
			{"DECISION", "request.title", "must give a bool"},
		} {
			got := testkit.Run(t, w, d.owner, condition.Check, condition.CheckInput{FieldsInput: condition.FieldsInput{For: c.place, ID: &d.flow.ID}, Expression: c.expression})
			if c.says == "" {
				require.Nil(t, got.Fault, "%v", c)
				continue
			}
			require.NotNil(t, got.Fault, "%v", c)
			require.Contains(t, got.Fault.Message, c.says, c.expression)
		}
	})
}

func TestCheckTriesAnExpression(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		var last *ent.Request
		for i := range 3 {
			last = d.file(t, fmt.Sprintf("VPN %d", i), strictjson.Object{"amount": json.Number(fmt.Sprint(i))})
		}
		d.file(t, "No amount", nil)
		check := func(in condition.CheckInput) condition.Checked {
			return testkit.Run(t, w, d.owner, condition.Check, in)
		}
		at := func(place, expression string) condition.CheckInput {
			return condition.CheckInput{FieldsInput: condition.FieldsInput{For: place}, Expression: expression}
		}
		out := check(at(condition.Routing, `request.fields.amount >= 1`))
		require.Equal(t, "boolean", *out.Type)
		require.Equal(t, []int{2, 4}, []int{*out.Matches, *out.Examined})
		require.Nil(t, out.Result)

		in := at(condition.Agent, `request.fields.amount >= 2`)
		in.RequestID = &last.ID
		require.JSONEq(t, `true`, string(check(in).Result))
		out = check(at(condition.Agent, `request.titel == 1`))
		require.Equal(t, []int{1, 8}, []int{*out.Fault.Line, *out.Fault.Column})
		require.Contains(t, out.Fault.Message, "Did you mean title?")
		require.Nil(t, out.Matches)
		require.Nil(t, out.Type)

		in = at(condition.Decision, `phases.review.outcome == "ok"`)
		in.ID, in.Sample = &d.flow.ID, strictjson.Object{"phases": map[string]any{"review": map[string]any{"outcome": "ok"}}}
		out = check(in)
		require.JSONEq(t, `true`, string(out.Result))
		require.Nil(t, out.Matches, "a decision chooses no requests")
		in.Sample = strictjson.Object{}
		require.JSONEq(t, `false`, string(check(in).Result), "what is not there is null, as in a run")
		in.Expression = `phases.review.outcome.startsWith("ok")`
		out = check(in)
		require.Nil(t, out.Result)
		require.Contains(t, *out.Error, "not given: phases.review.outcome")
		in.Expression = `phases.gone.x == 1`
		require.Contains(t, check(in).Fault.Message, "No phase has the id")

		in = at(condition.Form, `{"model": ["16"]}`)
		in.ID, in.Sample = &d.off.ID, strictjson.Object{"request": map[string]any{"fields": map[string]any{"model": "16"}}}
		require.JSONEq(t, `true`, string(check(in).Result))
		in.Expression = `{"model": "14"}`
		require.JSONEq(t, `false`, string(check(in).Result))
		for _, bad := range []string{`{"colour": "red"}`, `{"model": "15"}`, `no JSON`} {
			in.Expression = bad
			require.NotEmpty(t, check(in).Fault.Message)
		}
	})
}

// What costs too much is no fault of the server: it matches nothing, and what is left when the time is up is not examined.
func TestCostlyExpressionsEnd(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		s := testkit.Run(t, w, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: d.off.ServiceID}, Name: "Free"})
		list := make([]any, 500)
		for i := range list {
			list[i] = 1.0
		}
		for range 12 {
			testkit.Run(t, w, d.owner, request.Create, request.CreateInput{ServiceID: s.ServiceID, OfferingID: s.ID, Title: "Many", Fields: strictjson.Object{"list": list}})
		}
		out := testkit.Run(t, w, d.owner, condition.Check, condition.CheckInput{
			FieldsInput: condition.FieldsInput{For: condition.Routing},
			Expression:  `request.fields.list.all(a, request.fields.list.all(b, request.fields.list.all(c, a + b + c > 0)))`,
		})
		require.Zero(t, *out.Matches)
		require.LessOrEqual(t, *out.Examined, 12)
	})
}

// A row of another company, a hidden one and none are answered alike, and what policies hide is not counted.
func TestConditionsTellNothingOfOthers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d, theirs := setup(t, w), w.As(w.B, principal.Owner)
		secret := d.file(t, "Secret", strictjson.Object{"amount": json.Number("7")})
		refusal := func(ctx context.Context, place, id string, requestID *string) string {
			in := condition.CheckInput{FieldsInput: condition.FieldsInput{For: place, ID: &id}, Expression: `{}`, RequestID: requestID}
			if place != condition.Form {
				in.Expression = `"a" == "b"`
			}
			_, _, err := op.Run(ctx, w.Engine, condition.Check, in, nil)
			require.Error(t, err)
			return fmt.Sprint(apperr.CodeOf(err), apperr.From(err).Message)
		}
		for place, id := range map[string]string{condition.Decision: d.flow.ID, condition.Data: d.flow.ID, condition.Form: d.off.ID} {
			absent := id[:len(id)-4] + "0000"
			require.Equal(t, refusal(theirs, place, absent, nil), refusal(theirs, place, id, nil), place)
			testkit.Refused(t, w, theirs, condition.Fields, condition.FieldsInput{For: place, ID: &id}, apperr.NotFound, place)
		}
		absent := secret.ID[:len(secret.ID)-4] + "0000"
		require.Equal(t, refusal(theirs, condition.Routing, "x", &absent), refusal(theirs, condition.Routing, "x", &secret.ID))
		require.Empty(t, byExpression(t, w, theirs, condition.FieldsInput{For: condition.Routing})["request.fields.model"], "nor their questions")

		count := func(ctx context.Context) [2]int {
			out := testkit.Run(t, w, ctx, condition.Check, condition.CheckInput{FieldsInput: condition.FieldsInput{For: condition.Routing}, Expression: `request.fields.amount == 7`})
			return [2]int{*out.Matches, *out.Examined}
		}
		admin := w.As(w.A, principal.Admin)
		require.Equal(t, [2]int{0, 0}, count(theirs))
		require.Equal(t, [2]int{1, 1}, count(admin))
		c := policy.NewCondition([]byte(`{"principal.role": "admin", "resource.title": "Secret"}`))
		testkit.Run(t, w, d.owner, policy.Create, policy.CreateInput{Name: "Hidden", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
		require.Equal(t, [2]int{0, 0}, count(admin))
		require.Equal(t, refusal(admin, condition.Routing, "x", &absent), refusal(admin, condition.Routing, "x", &secret.ID))
	})
}

// What an inbound webhook's expressions read is that of its last call, and before there is one, that of the sender's sample; they are
// tried on it. Its condition gives true or false, its mapping anything.
func TestConditionsOfCalls(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		testkit.Run(t, w, d.owner, workflow.PublishWorkflow, op.ByID{ID: d.flow.ID})
		hook := testkit.Run(t, w, d.owner, inbound.CreateWebhook, inbound.CreateWebhookInput{Name: "GitHub", WorkflowID: d.flow.ID, Preset: new("github_issues"), SignatureStyle: new("github")}).Webhook
		at := condition.FieldsInput{For: condition.Call, ID: &hook.ID}
		try := func(place, expression string) condition.Checked {
			return testkit.Run(t, w, d.owner, condition.Check, condition.CheckInput{FieldsInput: condition.FieldsInput{For: place, ID: &hook.ID}, Expression: expression, LastCall: true})
		}
		require.Contains(t, byExpression(t, w, d.owner, at), "webhook.body.issue.title")
		require.JSONEq(t, `true`, string(try(condition.Call, preset.Of("github_issues").When).Result))
		require.JSONEq(t, `"Printer on floor 3 is on fire"`, string(try(condition.Inbound, `webhook.body.issue.title`).Result))
		require.NotNil(t, try(condition.Call, `webhook.body.issue.title`).Result, "its type is known only when it is evaluated")
		require.NotNil(t, try(condition.Call, `request.title == ""`).Fault)
		require.NotNil(t, try(condition.Call, `webhook.method`).Fault)

		require.NoError(t, w.Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
			for outcome, body := range map[string]string{"REJECTED": `{"rejected":1}`, "IGNORED": `{"level":"low"}`} {
				if err := tx.InboundCall.Create().SetWebhookID(hook.ID).SetOutcome(inboundcall.Outcome(outcome)).SetBody(body).SetBodyBytes(len(body)).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		}))
		fields := byExpression(t, w, d.owner, at)
		require.Contains(t, fields, "webhook.body.level")
		require.NotContains(t, fields, "webhook.body.rejected")
		require.JSONEq(t, `"low"`, string(try(condition.Inbound, `webhook.body.level`).Result))
		require.JSONEq(t, `null`, string(try(condition.Inbound, `webhook.body.other`).Result))
		require.Contains(t, *try(condition.Inbound, `webhook.body.level.other`).Error, "no such key")
	})
}

// The roles that may read what stands at a place may try conditions there; a key never may.
func TestWhoMayTryConditions(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		for _, c := range []struct {
			as    principal.Role
			place string
			may   bool
		}{
			{principal.Member, condition.Routing, false}, {principal.Member, condition.Decision, false}, {principal.Member, condition.Form, false},
			{principal.Agent, condition.Decision, true}, {principal.Agent, condition.Routing, false}, {principal.Agent, condition.Agent, false}, {principal.Agent, condition.Inbound, false},
			{principal.Admin, condition.Routing, true}, {principal.Admin, condition.Agent, true},
		} {
			in := condition.FieldsInput{For: c.place}
			if c.place == condition.Decision {
				in.ID = &d.flow.ID
			}
			_, _, err := op.Run(w.As(w.A, c.as), w.Engine, condition.Fields, in, nil)
			require.Equal(t, c.may, err == nil, "%s %s: %v", c.as, c.place, err)
			if !c.may {
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
			}
		}
	})
}

package trial_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	"atrium/internal/workflow/trial"
)

// refusal returns how a trial is refused.
func refusal(t *testing.T, w *testkit.World, ctx context.Context, in trial.Input) error {
	t.Helper()
	_, _, err := op.Run(ctx, w.Engine, trial.Try, in, nil)
	require.Error(t, err)
	return err
}

// with returns the owner's context with these scopes alone.
func with(w *testkit.World, scopes ...string) context.Context {
	ctx := w.AsUser(w.A.Owner)
	p, _ := principal.From(ctx)
	narrow := *p
	narrow.Method, narrow.Scopes = principal.MethodAPIKey, 0
	for _, s := range scopes {
		narrow.Scopes |= principal.ScopeOf(s)
	}
	return principal.With(context.Background(), &narrow)
}

func file(t *testing.T, w *testkit.World, title string) *ent.Request {
	t.Helper()
	owner := w.As(w.A, principal.Owner)
	s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: title})
	o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: title})
	return testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: title, Fields: object(t, body{"n": 5})})
}

var numbers = between(phase("set", "DATA", body{"kind": "enrich", "set": body{"v": "request.title + request.status"}}), "next")

// Who may change workflows may try them; a key needs the scope, and another one for requests.
func TestWhoMayTry(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		flow, r := save(t, w, w.As(w.A, principal.Owner), numbers), file(t, w, "Laptop")
		for role, may := range map[principal.Role]bool{principal.Owner: true, principal.Admin: true, principal.Agent: false, principal.Member: false} {
			_, _, err := op.Run(w.As(w.A, role), w.Engine, trial.Try, trial.Input{ID: &flow.ID}, nil)
			require.Equal(t, may, err == nil, "%s: %v", role, err)
			if !may {
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
			}
		}
		testkit.Run(t, w, with(w, "workflows:write"), trial.Try, trial.Input{ID: &flow.ID})
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(refusal(t, w, with(w, "workflows:read", "requests:read"), trial.Input{ID: &flow.ID})))
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(refusal(t, w, with(w, "workflows:write"), trial.Input{ID: &flow.ID, On: trial.On{Request: &r.ID}})))

		out := testkit.Run(t, w, with(w, "workflows:write", "requests:read"), trial.Try, trial.Input{ID: &flow.ID, On: trial.On{Request: &r.ID}})
		require.JSONEq(t, `{"v": "LaptopPENDING"}`, string(step(t, out, "set").Output))
	})
}

// Workflows and requests of others, hidden ones and those that do not exist are answered alike.
func TestTrialsTellNothingOfOthers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin, theirs := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin), w.As(w.B, principal.Owner)
		flow, mine := save(t, w, owner, numbers), save(t, w, theirs, numbers)
		r := file(t, w, "Secret")
		absent := func(id string) *string { return new(id[:len(id)-4] + "0000") }
		said := func(ctx context.Context, in trial.Input) string {
			err := refusal(t, w, ctx, in)
			require.Equal(t, apperr.NotFound, apperr.CodeOf(err))
			return apperr.From(err).Message
		}
		require.Equal(t, said(theirs, trial.Input{ID: absent(flow.ID)}), said(theirs, trial.Input{ID: &flow.ID}))
		require.Equal(t, said(theirs, trial.Input{ID: absent(flow.ID), On: trial.On{Definition: setTo(t, numbers)}}), said(theirs, trial.Input{ID: &flow.ID, On: trial.On{Definition: setTo(t, numbers)}}))
		none := said(theirs, trial.Input{ID: &mine.ID, On: trial.On{Request: absent(r.ID)}})
		require.Equal(t, none, said(theirs, trial.Input{ID: &mine.ID, On: trial.On{Request: &r.ID}}))

		testkit.Run(t, w, admin, trial.Try, trial.Input{ID: &flow.ID, On: trial.On{Request: &r.ID}})
		c := policy.NewCondition([]byte(`{"principal.role": "admin", "resource.title": "Secret"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Hidden", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
		require.Equal(t, none, said(admin, trial.Input{ID: &flow.ID, On: trial.On{Request: &r.ID}}))
	})
}

// Who is asked is named to those who see them.
func TestNamesAreShownToThoseWhoSeeThem(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin, lead := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin), w.A.Users[principal.Agent]
		flow := save(t, w, owner, between(phase("ask", "APPROVAL", body{"approvers": []body{person(lead)}, "mode": "any"}), "approved", "rejected"))
		name := func(ctx context.Context) string {
			who := step(t, testkit.Run(t, w, ctx, trial.Try, trial.Input{ID: &flow.ID}), "ask").Asks[0].Who
			require.Len(t, who, 1)
			require.Equal(t, lead.ID, who[0].ID)
			return op.Or(who[0].Name, "")
		}
		require.Equal(t, lead.Name, name(admin))
		require.Empty(t, name(with(w, "workflows:write")), "a key that reads nothing")
		c := policy.NewCondition([]byte(`{"principal.role": "admin"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Hidden", Effect: "Deny", Action: "read", Resource: "User", Condition: &c})
		require.Empty(t, name(admin))
		require.Equal(t, lead.Name, name(owner))
	})
}

// A definition that could not be published is refused with the faults that saving and publishing it give.
func TestFaultyDefinitions(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		for name, d := range map[string]body{
			"an expression": between(phase("set", "DATA", body{"kind": "enrich", "set": body{"v": "request.titel"}}), "next"),
			"a way":         between(phase("do", "PROCESS", nil)),
			"a foreign row": between(phase("ask", "APPROVAL", body{"approvers": []body{person(w.B.Owner)}, "mode": "any"}), "approved", "rejected"),
			"a secret":      between(phase("call", "API_CALL", body{"method": "GET", "url": "https://a.example", "headers": body{"X": "${secrets.NONE}"}}), "next"),
			"no definition": {},
		} {
			_, _, saved := op.Run(owner, w.Engine, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Process", Definition: definitionOf(t, d)}, nil)
			require.Error(t, saved, name)
			require.Equal(t, faults(t, saved), faults(t, refusal(t, w, owner, trial.Input{On: trial.On{Definition: setTo(t, d)}})), name)
		}
		require.Equal(t, []string{"id"}, fields(faults(t, refusal(t, w, owner, trial.Input{}))))

		team := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Leads"})
		flow := save(t, w, owner, between(phase("ask", "APPROVAL", body{"approvers": []body{{"type": "team", "id": team.ID}}, "mode": "any"}), "approved", "rejected"))
		out := testkit.Run(t, w, owner, trial.Try, trial.Input{ID: &flow.ID})
		require.Equal(t, "participant_missing", out.Error.Code, "a team without members decides nothing")
		testkit.Run(t, w, owner, people.DeleteTeam, op.ByID{ID: team.ID})
		_, _, published := op.Run(owner, w.Engine, workflow.PublishWorkflow, op.ByID{ID: flow.ID}, nil)
		require.Equal(t, faults(t, published), faults(t, refusal(t, w, owner, trial.Input{ID: &flow.ID})), "a row that was deleted since the draft was saved")
	})
}

// An answer that no phase takes is refused by its path, wherever the trial would go.
func TestFaultyAnswers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		world(t, w)
		for n, c := range []struct {
			answers body
			field   string
		}{
			{body{"nowhere": body{}}, "answers.nowhere"},
			{body{"start": body{}}, "answers.start"},
			{body{"remind": body{}}, "answers.remind"},
			{body{"review": "ok"}, "answers.review"},
			{body{"review": []any{reviewed, 7}}, "answers.review[1]"},
			{body{"review": body{"outcome": "maybe", "variables": body{"serial": "x"}}}, "answers.review.outcome"},
			{body{"review": body{"outcome": 7, "variables": body{"serial": "x"}}}, "answers.review.outcome"},
			{body{"review": body{"outcome": "ok"}}, "answers.review.variables.serial"},
			{body{"review": body{"outcome": "ok", "variables": body{"serial": 3}}}, "answers.review.variables.serial"},
			{body{"review": body{"outcome": "ok", "variables": body{"serial": "x"}, "signOff": "APPROVE"}}, "answers.review.signOff"},
			{body{"board": body{}}, "answers.board.decision"},
			{body{"board": body{"decision": "YES"}}, "answers.board.decision"},
			{body{"board": body{"decision": ""}}, "answers.board.decision"},
			{body{"board": body{"decisions": body{"usr_x": "APPROVE"}}}, "answers.board.decisions.usr_x"},
			{body{"board": body{"decisions": body{w.A.Users[principal.Agent].ID: "EXPIRE"}}}, "answers.board.decisions." + w.A.Users[principal.Agent].ID},
			{body{"buy": body{}}, "answers.buy.status"},
			{body{"buy": body{"status": 99}}, "answers.buy.status"},
			{body{"buy": body{"status": "200"}}, "answers.buy.status"},
			{body{"buy": body{"status": 200, "failure": "x"}}, "answers.buy.failure"},
			{body{"buy": body{"status": 200, "headers": body{"X": 1}}}, "answers.buy.headers.X"},
		} {
			err := refusal(t, w, w.As(w.A, principal.Owner), trial.Input{On: trial.On{Definition: setTo(t, order(w)), Answers: object(t, c.answers)}})
			shown, _ := json.Marshal(c.answers)
			require.Contains(t, fields(faults(t, err)), c.field, fmt.Sprint(n, " ", string(shown)))
		}
		owner := w.As(w.A, principal.Owner)
		require.Equal(t, []string{"until"}, fields(faults(t, refusal(t, w, owner, trial.Input{On: trial.On{Definition: setTo(t, numbers)}, Until: new("nowhere")}))))
		require.Equal(t, []string{"fields"}, fields(faults(t, refusal(t, w, owner, trial.Input{On: trial.On{Definition: setTo(t, numbers), Request: new("req_x"), Fields: object(t, body{"n": 1})}}))))
		require.Equal(t, []string{"webhook.path"}, fields(faults(t, refusal(t, w, owner, trial.Input{On: trial.On{Definition: setTo(t, numbers), Webhook: object(t, body{"path": "/"})}}))))
		require.Equal(t, []string{"webhook.receivedAt"}, fields(faults(t, refusal(t, w, owner, trial.Input{On: trial.On{Definition: setTo(t, numbers), Webhook: object(t, body{"receivedAt": "now"})}}))))
	})
}

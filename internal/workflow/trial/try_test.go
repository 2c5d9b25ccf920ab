package trial_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/engine"
	"atrium/internal/workflow/trial"
)

// An order of a laptop: a lead reviews it, two people approve what is dear, it is ordered from a shop, and a reminder follows.
func order(w *testkit.World) body {
	lead, board := w.A.Users[principal.Agent], w.A.Users[principal.Admin]
	review := phase("review", "PROCESS", body{"title": "Review ${request.fields.model}", "dueMinutes": 60, "form": body{"fields": []body{{"key": "serial", "type": "text", "required": true}}}})
	review["name"], review["requestAction"] = "Review it", "accept"
	review["participants"] = []body{{"role": "responsible", "type": "user", "id": lead.ID}, {"role": "informed", "type": "user", "id": board.ID}}
	return body{
		"phases": []body{
			phase("start", "START", nil), review,
			phase("dear", "DECISION", body{"rules": []body{
				{"when": "request.fields.amount > 5000", "transition": "board"}, {"when": "request.fields.amount > 1000", "transition": "board"},
			}, "default": "cheap"}),
			phase("board", "APPROVAL", body{"approvers": []body{person(lead), person(board)}, "mode": "all", "deadline": "2d"}),
			phase("buy", "API_CALL", body{
				"method": "POST", "url": "https://shop.example/${phases.review.serial}?key=${secrets.TOKEN}", "headers": body{"Authorization": "Bearer ${secrets.TOKEN}"},
				"body": body{"model": "${request.fields.model}"}, "response": body{"number": "response.body.number"}, "retries": body{"max": 1},
			}),
			phase("remind", "TIMER", body{"duration": "3d"}),
			func() body { p := phase("done", "END", nil); p["requestAction"] = "complete"; return p }(),
		},
		"transitions": []body{
			{"from": "start", "name": "next", "to": "review"}, {"from": "review", "name": "ok", "to": "dear"}, {"from": "review", "name": "no", "to": "done"},
			{"from": "dear", "name": "board", "to": "board"}, {"from": "dear", "name": "cheap", "to": "buy"},
			{"from": "board", "name": "approved", "to": "buy"}, {"from": "board", "name": "rejected", "to": "done"}, {"from": "board", "name": "expired", "to": "done"},
			{"from": "buy", "name": "next", "to": "remind"}, {"from": "remind", "name": "next", "to": "done"},
		},
	}
}

const token = "s3cret-canary-9f2c1e"

// world makes the secret that the order names.
func world(t *testing.T, w *testkit.World) {
	t.Helper()
	testkit.Run(t, w, w.As(w.A, principal.Owner), secret.CreateSecret, secret.CreateSecretInput{Name: "TOKEN", Value: token, AllowedHosts: []string{"shop.example"}})
}

var (
	laptop   = body{"model": "14 inch", "amount": 2500}
	reviewed = body{"outcome": "ok", "variables": body{"serial": "X 1"}}
	ordered  = body{"status": 201, "body": body{"number": 7}}
)

// Answers lead to different ends, and the trial shows the way to each.
func TestTrialTakesTheWayOfItsAnswers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		world(t, w)
		for name, c := range map[string]struct {
			fields, answers body
			path            string
			status          engine.Status
			stop            string // reason and missing answer
		}{
			"all answered":            {laptop, body{"review": reviewed, "board": body{"decision": "APPROVE"}, "buy": ordered}, "start next, review ok, dear board, board approved, buy next, remind next, done", engine.Completed, ""},
			"nothing to approve":      {body{"model": "m", "amount": 10}, body{"review": reviewed, "buy": ordered}, "start next, review ok, dear cheap, buy next, remind next, done", engine.Completed, ""},
			"refused":                 {laptop, body{"review": reviewed, "board": body{"decision": "REJECT"}}, "start next, review ok, dear board, board rejected, done", engine.Completed, ""},
			"too late":                {laptop, body{"review": reviewed, "board": body{"decision": "EXPIRE"}}, "start next, review ok, dear board, board expired, done", engine.Completed, ""},
			"no answer":               {laptop, nil, "start next, review", engine.Waiting, "ANSWER answers.review"},
			"no decision":             {laptop, body{"review": reviewed}, "start next, review ok, dear board, board", engine.Waiting, "ANSWER answers.board"},
			"one decision":            {laptop, body{"review": reviewed, "board": body{"decisions": body{w.A.Users[principal.Agent].ID: "APPROVE"}}}, "start next, review ok, dear board, board", engine.Waiting, "ANSWER answers.board.decisions." + w.A.Users[principal.Admin].ID},
			"another is used up":      {laptop, body{"review": []body{}}, "start next, review", engine.Waiting, "ANSWER answers.review[0]"},
			"no answer from the shop": {body{"model": "m", "amount": 10}, body{"review": reviewed}, "start next, review ok, dear cheap, buy", engine.Waiting, "ANSWER answers.buy"},
			"the shop is down":        {body{"model": "m", "amount": 10}, body{"review": reviewed, "buy": body{"failure": "The call failed."}}, "start next, review ok, dear cheap, buy", engine.Waiting, "INCIDENT"},
			"it comes back":           {body{"model": "m", "amount": 10}, body{"review": reviewed, "buy": []body{{"status": 503}, ordered}}, "start next, review ok, dear cheap, buy next, remind next, done", engine.Completed, ""},
			"an expression fails":     {body{"model": "m", "amount": []int{10}}, body{"review": reviewed}, "start next, review ok, dear", engine.Waiting, "INCIDENT"},
			"no amount is not dear":   {body{"model": "m"}, body{"review": reviewed, "buy": ordered}, "start next, review ok, dear cheap, buy next, remind next, done", engine.Completed, ""},
			"an answer lacks a value": {body{"model": "m", "amount": 10}, body{"review": reviewed, "buy": body{"status": 200, "body": body{}}}, "start next, review ok, dear cheap, buy next, remind next, done", engine.Completed, ""},
			"an answer is no object":  {body{"model": "m", "amount": 10}, body{"review": reviewed, "buy": body{"status": 200, "body": "sold"}}, "start next, review ok, dear cheap, buy", engine.Waiting, "INCIDENT"},
		} {
			t.Run(name, func(t *testing.T) {
				r := run(t, w, order(w), c.fields, c.answers)
				require.Equal(t, c.path, strings.Join(path(r), ", "))
				require.Equal(t, string(c.status), r.Status)
				stop := ""
				if r.Stopped != nil {
					stop = r.Stopped.Reason
					if r.Stopped.Answer != nil {
						stop += " " + *r.Stopped.Answer
					}
					require.Equal(t, r.Steps[len(r.Steps)-1].PhaseID, r.Stopped.PhaseID)
				}
				require.Equal(t, c.stop, stop)
				require.Equal(t, stop == "INCIDENT", r.Error != nil)
			})
		}
	})
}

// Each step says who is asked, what is sent, why a decision goes where it goes, and what becomes of the request.
func TestStepsShowWhatWouldHappen(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		world(t, w)
		lead, board := w.A.Users[principal.Agent], w.A.Users[principal.Admin]
		r := run(t, w, order(w), laptop, body{"review": reviewed, "board": body{"decision": "APPROVE"}, "buy": []body{{"status": 503}, ordered}})
		require.Nil(t, r.Stopped)

		review := step(t, r, "review")
		require.Equal(t, "Review it", review.Name)
		require.JSONEq(t, `{"title": "Review 14 inch"}`, string(review.Input))
		require.JSONEq(t, `{"outcome": "ok", "serial": "X 1"}`, string(review.Output))
		require.Equal(t, "dear", *review.To)
		require.Equal(t, "IN_PROGRESS", *review.RequestStatus)
		require.Len(t, review.Asks, 1)
		ask := review.Asks[0]
		require.Equal(t, []*trial.Participant{{Role: "responsible", Type: "user", ID: lead.ID, Name: &lead.Name}}, ask.Who)
		require.Equal(t, []any{"TASK", "Review 14 inch", []string{"ok", "no"}, "GIVEN"}, []any{ask.Kind, ask.Title, ask.Outcomes, *ask.Source})
		require.Equal(t, review.StartedAt.Add(time.Hour), *ask.DueAt)
		require.Equal(t, []*trial.Participant{{Role: "informed", Type: "user", ID: board.ID, Name: &board.Name}}, review.Told)

		yes, no := true, false
		require.Equal(t, []*trial.Rule{
			{When: "request.fields.amount > 5000", Transition: "board", Holds: &no}, {When: "request.fields.amount > 1000", Transition: "board", Holds: &yes},
		}, step(t, r, "dear").Rules)

		ask = step(t, r, "board").Asks[0]
		require.Equal(t, []any{"APPROVAL", "all", []string{"APPROVE", "REJECT", "EXPIRE"}}, []any{ask.Kind, *ask.Mode, ask.Outcomes})
		require.Len(t, ask.Who, 2)
		require.JSONEq(t, `{"outcome": "approved", "decisions": [{"by": "`+lead.ID+`", "approve": true}, {"by": "`+board.ID+`", "approve": true}]}`, string(step(t, r, "board").Output))

		buy := step(t, r, "buy")
		require.Len(t, buy.Calls, 2)
		require.JSONEq(t, `{"method": "POST", "url": "https://shop.example/X%201?key=***", "headers": {"Authorization": "Bearer ***"}, "body": {"model": "14 inch"}}`, string(buy.Calls[1].Sent))
		require.Equal(t, buy.Calls[0].At.Add(time.Second), buy.Calls[1].At, "the second attempt follows after the delay")
		require.Equal(t, 2, buy.Attempts)
		require.JSONEq(t, `{"status": 201, "number": 7}`, string(buy.Output))

		remind := step(t, r, "remind")
		require.Equal(t, remind.StartedAt.Add(72*time.Hour), *remind.FinishedAt, "a timer passes at once")
		require.Equal(t, "COMPLETED", *step(t, r, "done").RequestStatus)

		var vars struct {
			Request struct{ Status, Title, Format, Priority string }
			Phases  map[string]any
		}
		require.NoError(t, json.Unmarshal(r.Variables, &vars))
		require.Equal(t, "COMPLETED", vars.Request.Status)
		require.NotEmpty(t, vars.Request.Format)
		require.Equal(t, "MEDIUM", vars.Request.Priority)
		require.Contains(t, vars.Phases, "buy")
	})
}

// A trial stops at a phase: where it waits, or with what it leaves behind.
func TestUntil(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		world(t, w)
		for until, last := range map[string]string{"start": "start next", "review": "review", "dear": "dear board", "board": "board", "buy": "buy", "remind": "remind"} {
			in := trial.Input{On: trial.On{Definition: setTo(t, order(w)), Fields: object(t, laptop), Answers: object(t, body{"review": reviewed, "board": body{"decision": "APPROVE"}, "buy": ordered})}, Until: &until}
			r := testkit.Run(t, w, w.As(w.A, principal.Owner), trial.Try, in)
			all := path(r)
			require.Equal(t, last, all[len(all)-1])
			require.Equal(t, trial.StopUntil, r.Stopped.Reason, until)
			if until == "buy" {
				require.NotEmpty(t, r.Steps[len(r.Steps)-1].Calls[0].Sent)
			}
		}
	})
}

// A secret is shown nowhere, and no expression tells anything about one: a trial does not open it.
func TestSecretsStayClosed(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		world(t, w)
		url := "https://shop.example/${secrets.TOKEN.startsWith('s3cret') ? 'guessed' : 'no'}/${secrets.TOKEN.substring(0, 6)}"
		d := between(phase("call", "API_CALL", body{"method": "GET", "url": url, "headers": body{"X": "${secrets.TOKEN}", "Y": "${request.fields.pasted}"}}), "next")
		r := run(t, w, d, body{"pasted": "my " + token}, body{"call": body{"status": 200}})
		raw, err := json.Marshal(r.Steps)
		require.NoError(t, err)
		require.NotContains(t, string(raw), token[:6])
		require.NotContains(t, string(raw), "guessed")
		require.Contains(t, string(r.Steps[1].Calls[0].Sent), `"X":"***"`)
		require.Contains(t, string(r.Steps[1].Calls[0].Sent), `"Y":"my ***"`, "what somebody pasted is masked as a run masks it")

		d = between(phase("call", "API_CALL", body{"method": "GET", "url": "https://${request.fields.host}/x", "headers": body{"X": "${secrets.TOKEN}"}}), "next")
		r = run(t, w, d, body{"host": "attacker.test"}, nil)
		require.Equal(t, "secret_host", r.Error.Code, "the hosts of a secret hold as in a run")
	})
}

// A workflow that goes in a circle ends at a limit, by itself or for want of people who change their minds.
func TestCirclesEnd(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		circle := body{"phases": []body{
			phase("start", "START", nil), phase("again", "DECISION", body{"rules": []body{{"when": "true", "transition": "back"}}, "default": "out"}), phase("end", "END", nil),
		}, "transitions": []body{
			{"from": "start", "name": "next", "to": "again"}, {"from": "again", "name": "back", "to": "again"}, {"from": "again", "name": "out", "to": "end"},
		}}
		r := run(t, w, circle, nil, nil)
		require.Equal(t, trial.StopLimit, r.Stopped.Reason)
		require.LessOrEqual(t, len(r.Steps), 1_000)

		signed := phase("do", "PROCESS", nil)
		signed["participants"] = []body{{"role": "accountable", "type": "user", "id": w.A.Users[principal.Admin].ID}}
		r = run(t, w, between(signed, "next"), nil, body{"do": body{"signOff": "REJECT"}})
		require.Equal(t, "answers.do[1]", *r.Stopped.Answer, "an answer is given once in a visit")
		r = run(t, w, between(signed, "next"), nil, body{"do": []body{{"signOff": "REJECT"}, {"signOff": "APPROVE"}}})
		require.Nil(t, r.Stopped)
		require.Len(t, step(t, r, "do").Asks, 4)
		r = run(t, w, between(signed, "next"), nil, body{"do": body{}})
		require.Equal(t, "answers.do.signOff", *r.Stopped.Answer)

		grows := body{"phases": []body{
			phase("start", "START", nil), phase("more", "DATA", body{"kind": "enrich", "set": body{"v": "has(phases.more) && size(phases.more.v) < 60000 ? phases.more.v + phases.more.v : 'ab'"}}), phase("end", "END", nil),
			phase("again", "DECISION", body{"rules": []body{{"when": "true", "transition": "back"}}, "default": "out"}),
		}, "transitions": []body{
			{"from": "start", "name": "next", "to": "more"}, {"from": "more", "name": "next", "to": "again"}, {"from": "again", "name": "back", "to": "more"}, {"from": "again", "name": "out", "to": "end"},
		}}
		r = run(t, w, grows, nil, nil)
		require.Equal(t, trial.StopLimit, r.Stopped.Reason)
		require.Less(t, len(r.Steps), 900, "bytes count, too")
	})
}

// Corrections are taken as their task takes them.
func TestCorrections(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		check := phase("check", "DATA", body{"kind": "validate", "rules": []body{{"check": "request.fields.n > 2", "field": "n", "message": "Too few."}}, "onInvalid": "ask"})
		d := between(check, "next")
		r := run(t, w, d, body{"n": 1}, body{"check": body{"variables": body{"n": 3}}})
		require.Nil(t, r.Stopped)
		require.Equal(t, trial.AskCorrection, step(t, r, "check").Asks[0].Kind)
		require.Contains(t, string(r.Variables), `"fields":{"n":3}`)
		r = run(t, w, d, body{"n": 1}, body{"check": []body{{"variables": body{"n": 2}}, {"variables": body{"n": 5}}}})
		require.Nil(t, r.Stopped)
		require.Len(t, step(t, r, "check").Asks, 2)
		require.Equal(t, "answers.check", *run(t, w, d, body{"n": 1}, nil).Stopped.Answer)
		require.Empty(t, step(t, run(t, w, d, body{"n": 3}, nil), "check").Asks)
	})
}

// A webhook starts the workflow without a request, or with one.
func TestWebhook(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := between(phase("set", "DATA", body{"kind": "enrich", "set": body{"what": "webhook.headers.x-github-event + ' ' + webhook.body.action + ' ' + webhook.method"}}), "next")
		in := trial.Input{On: trial.On{Definition: setTo(t, d), Webhook: object(t, body{"body": body{"action": "opened"}, "headers": body{"X-GitHub-Event": "issues"}})}}
		owner := w.As(w.A, principal.Owner)
		r := testkit.Run(t, w, owner, trial.Try, in)
		require.JSONEq(t, `{"what": "issues opened POST"}`, string(step(t, r, "set").Output))
		require.Contains(t, string(r.Variables), `"request":null`)
		in.Fields = object(t, body{"a": 1})
		require.Contains(t, string(testkit.Run(t, w, owner, trial.Try, in).Variables), `"fields":{"a":1}`)
	})
}

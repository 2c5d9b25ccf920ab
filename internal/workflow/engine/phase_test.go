package engine_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

func TestSmallestWorkflowCompletesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"phases":[{"id":"s","type":"START"},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"e"}]}`)
	require.Equal(t, engine.Completed, w.state.Status)
	require.Len(t, w.history, 2)
	require.Equal(t, "next", w.history[0].Transition)
	require.ErrorIs(t, w.try(engine.Begin{}), engine.ErrStale)
	require.ErrorIs(t, w.try(engine.Cancel{}), engine.ErrStale)
}

func TestProcessOpensATaskAndFollowsItsOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"PROCESS","name":"Check","requestAction":"accept","config":{"title":"Check ${request.title}","dueMinutes":60}`, "fine", "broken"))
	require.Equal(t, engine.Waiting, w.state.Status)
	task := effect[engine.OpenTask](w)
	require.Equal(t, "Check A laptop", task.Title)
	require.Equal(t, noon.Add(time.Hour), *task.DueAt)
	require.Equal(t, definition.Accept, effect[engine.ActOnRequest](w).Action)

	require.ErrorIs(t, w.try(engine.TaskDone{Visit: w.visit(), Outcome: "other"}), engine.ErrNoWay)
	require.ErrorIs(t, w.try(engine.TaskDone{Visit: w.visit()}), engine.ErrNoWay, "the phase has no next")
	require.ErrorIs(t, w.try(engine.TaskDone{Visit: w.visit() - 1, Outcome: "fine"}), engine.ErrStale)
	require.ErrorIs(t, w.try(engine.Woke{Visit: w.visit()}), engine.ErrStale)
	w.step(engine.TaskDone{Visit: w.visit(), Outcome: "fine", Variables: map[string]any{"n": json.Number("0.30")}})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Equal(t, "fine", w.history[1].Transition)
	require.Equal(t, map[string]any{"outcome": "fine", "n": json.Number("0.30")}, w.state.Phases["p"])
}

func TestAccountableSignTheOutcomeOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"PROCESS","participants":[{"role":"accountable","type":"user","id":"usr_1"}]`, "next"))
	w.step(engine.TaskDone{Visit: w.visit()})
	require.True(t, effect[engine.OpenApproval](w).SignOff)
	w.step(engine.Decided{Visit: w.visit(), Vote: engine.Vote{By: "usr_1"}})
	effect[engine.OpenTask](w)
	require.Equal(t, 2, w.state.Visit.Attempts, "a refusal opens the task again")
	w.step(engine.TaskDone{Visit: w.visit()})
	w.step(engine.Decided{Visit: w.visit(), Vote: engine.Vote{By: "usr_1", Approve: true}})
	require.Equal(t, engine.Completed, w.state.Status)
}

func TestDecisionTakesTheFirstRuleThatHolds(t *testing.T) {
	t.Parallel()
	const config = `"type":"DECISION","config":{"rules":[{"when":"request.fields.amount > 1000","transition":"large"},` +
		`{"when":"request.fields.amount > 100","transition":"medium"}],"default":"small"}`
	w := newWorld(t, workflow(config, "large", "medium", "small"))
	require.Equal(t, "medium", w.history[1].Transition)
}

func TestFailedExpressionIsAnIncidentThatCanBeRetriedOrSkipped(t *testing.T) {
	t.Parallel()
	const config = `"type":"DECISION","config":{"rules":[{"when":"phases.p.ready && true","transition":"yes"}],"default":"no"}`
	w := newWorld(t, workflow(config, "yes", "no"))
	require.Equal(t, engine.ForIncident, w.state.Wait.For)
	require.Equal(t, engine.ExpressionFailed, effect[engine.OpenIncident](w).Fault.Code)
	require.ErrorIs(t, w.try(engine.TaskDone{Visit: w.visit()}), engine.ErrStale)
	w.step(engine.Retry{Visit: w.visit()})
	require.Equal(t, engine.ForIncident, w.state.Wait.For, "nothing has changed")
	w.step(engine.Retry{Visit: w.visit(), Variables: map[string]any{"p": map[string]any{"ready": true}}})
	require.Equal(t, "yes", w.history[1].Transition)
	require.Equal(t, 3, w.history[1].Attempts)

	w = newWorld(t, workflow(config, "yes", "no"))
	w.step(engine.Skip{Visit: w.visit()})
	effect[engine.ResolveIncident](w)
	require.Equal(t, engine.Skipped, w.history[1].Status)
	require.Equal(t, "no", w.history[1].Transition, "a decision is skipped by its default")
	require.Equal(t, engine.Completed, w.state.Status)
}

func TestDataEnriches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"DATA","config":{"kind":"enrich","set":{"total":"request.fields.amount * 2.0","same":"request.fields.amount"}}`, "next"))
	require.Equal(t, map[string]any{"total": json.Number("240"), "same": json.Number("120")}, w.state.Phases["p"])
}

func TestDataValidates(t *testing.T) {
	t.Parallel()
	const rules = `"type":"DATA","config":{"kind":"validate","rules":[{"check":"request.fields.amount < 100","message":"Too much.","field":"amount"}]`
	t.Run("fail", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, workflow(rules+`}`, "next"))
		require.Equal(t, engine.Failed, w.state.Status)
		require.Equal(t, engine.Fault{PhaseID: "p", Code: engine.ValidationFailed, Message: "Too much."}, *w.state.Fault)
	})
	t.Run("route", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, workflow(rules+`,"onInvalid":"route"}`, "next", "invalid"))
		require.Equal(t, "invalid", w.history[1].Transition)
	})
	t.Run("ask", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, workflow(rules+`,"onInvalid":"ask"}`, "next"))
		require.Equal(t, []engine.Invalid{{Field: "amount", Message: "Too much."}}, effect[engine.OpenTask](w).Correct)
		w.step(engine.TaskDone{Visit: w.visit(), Variables: map[string]any{"amount": 500.0}})
		require.Equal(t, engine.ForTask, w.state.Wait.For, "the rules run again")
		w.step(engine.TaskDone{Visit: w.visit(), Variables: map[string]any{"amount": 50.0}})
		require.Equal(t, map[string]any{"amount": 50.0, "due": "2026-05-22T13:00:00Z"}, effect[engine.SetFields](w).Fields)
		require.Equal(t, engine.Completed, w.state.Status)
	})
}

func TestTimerWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		until  time.Time
	}{
		"length":                          {`{"duration":"2h30m"}`, noon.Add(150 * time.Minute)},
		"moment":                          {`{"until":"timestamp('2026-05-23T00:00:00Z')"}`, noon.Add(12 * time.Hour)},
		"working time":                    {`{"duration":"2h","calendarId":"cal_1"}`, time.Date(2026, 5, 25, 11, 0, 0, 0, time.UTC)},
		"next working time":               {`{"until":"timestamp('2026-05-23T00:00:00Z')","calendarId":"cal_1"}`, time.Date(2026, 5, 25, 9, 0, 0, 0, time.UTC)},
		"a moment in a text":              {`{"until":"request.fields.due"}`, noon.Add(time.Hour)},
		"a day":                           {`{"until":"dyn('2026-05-25')"}`, time.Date(2026, 5, 25, 0, 0, 0, 0, time.UTC)},
		"a day of a calendar in New York": {`{"until":"dyn('2026-05-25')","calendarId":"cal_ny"}`, time.Date(2026, 5, 25, 4, 0, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, workflow(`"type":"TIMER","config":`+c.config, "next"))
			require.True(t, effect[engine.Sleep](w).Until.Equal(c.until))
			require.ErrorIs(t, w.try(engine.Woke{Visit: w.visit()}), engine.ErrStale, "too early")
			w.env.Now = c.until
			w.step(engine.Woke{Visit: w.visit()})
			require.Equal(t, engine.Completed, w.state.Status)
		})
	}
	past := newWorld(t, workflow(`"type":"TIMER","config":{"until":"timestamp('2020-01-01T00:00:00Z')"}`, "next"))
	require.Equal(t, engine.Completed, past.state.Status, "what has passed is not waited for")
}

func TestCallRetriesThenAsksPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"API_CALL","config":{"method":"POST","url":"https://a.example","retries":{"max":2,"backoffSeconds":5},
		"response":{"ticket":"response.body.id"},"statusRules":[{"status":"404","transition":"none"}]}`, "next", "none"))
	key := engine.Key("exe_1", w.state.Visit)
	for n, failure := range []string{"no answer", "no answer"} {
		call := effect[engine.Call](w)
		require.Equal(t, n+1, call.Attempt)
		w.step(engine.Answered{Visit: w.visit(), Attempt: call.Attempt, Failure: failure})
		require.Equal(t, w.env.Now.Add(5*time.Second<<n), effect[engine.Call](w).At)
	}
	w.step(engine.Answered{Visit: w.visit(), Attempt: 3, Answer: &engine.Answer{Status: 500}})
	require.Equal(t, engine.CallFailed, effect[engine.OpenIncident](w).Fault.Code)
	w.step(engine.Retry{Visit: w.visit()})
	call := effect[engine.Call](w)
	require.Equal(t, 4, call.Attempt, "no answer of an earlier attempt is taken for it")
	require.Equal(t, key, engine.Key("exe_1", w.state.Visit), "the receiver sees one key")
	require.ErrorIs(t, w.try(engine.Answered{Visit: w.visit(), Attempt: 3, Answer: &engine.Answer{Status: 200}}), engine.ErrStale)
	w.step(engine.Answered{Visit: w.visit(), Attempt: 4, Answer: &engine.Answer{
		Status: 201, Header: http.Header{"X-A": {"1"}}, Body: map[string]any{"id": json.Number("123456789012345678")},
	}})
	require.Equal(t, map[string]any{"status": json.Number("201"), "ticket": json.Number("123456789012345678")}, w.state.Phases["p"])
	require.Equal(t, "next", w.history[1].Transition)
}

func TestCallFollowsStatusRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"API_CALL","config":{"method":"GET","url":"https://a.example","statusRules":[{"status":"4xx","transition":"none"}]}`, "next", "none"))
	w.step(engine.Answered{Visit: w.visit(), Attempt: 1, Answer: &engine.Answer{Status: 410}})
	require.Equal(t, "none", w.history[1].Transition)
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	const three = `"approvers":[{"type":"user","id":"usr_a"},{"type":"user","id":"usr_b"},{"type":"team","id":"team_c"}]`
	yes, no := true, false
	for name, c := range map[string]struct {
		config string
		votes  []bool // of the approvers 0, 1, 2 in turn
		want   string
	}{
		"any approves":                {`"mode":"any"`, []bool{yes}, "approved"},
		"any rejects":                 {`"mode":"any"`, []bool{no}, "rejected"},
		"all approve":                 {`"mode":"all"`, []bool{yes, yes, yes}, "approved"},
		"one of all rejects":          {`"mode":"all"`, []bool{yes, no}, "rejected"},
		"all but one":                 {`"mode":"all"`, []bool{yes, yes}, ""},
		"quorum is reached":           {`"mode":"quorum","quorum":2`, []bool{yes, yes}, "approved"},
		"quorum in the end":           {`"mode":"quorum","quorum":2`, []bool{yes, no, yes}, "approved"},
		"quorum is out of reach":      {`"mode":"quorum","quorum":2`, []bool{no, no}, "rejected"},
		"quorum is open":              {`"mode":"quorum","quorum":2`, []bool{no, yes}, ""},
		"all approve in their turns":  {`"mode":"all","order":"sequential"`, []bool{yes, yes, yes}, "approved"},
		"the first in turn settles":   {`"mode":"all","order":"sequential"`, []bool{no}, "rejected"},
		"sequential quorum goes on":   {`"mode":"quorum","quorum":2,"order":"sequential"`, []bool{yes, no}, ""},
		"sequential quorum ends soon": {`"mode":"quorum","quorum":3,"order":"sequential"`, []bool{yes, no}, "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, workflow(`"type":"APPROVAL","config":{`+three+`,`+c.config+`,"deadline":"1h"}`, "approved", "rejected", "expired"))
			for i, approve := range c.votes {
				w.step(engine.Decided{Visit: w.visit(), Vote: engine.Vote{Approver: i, By: "usr", Approve: approve}})
			}
			if c.want != "" {
				require.Equal(t, c.want, w.history[1].Transition)
				require.Equal(t, engine.Completed, w.state.Status)
				return
			}
			require.ErrorIs(t, w.try(engine.Decided{Visit: w.visit(), Vote: engine.Vote{Approver: 0, By: "usr"}}), engine.ErrNotTheirTurn, "once each")
			w.env.Now = noon.Add(time.Hour)
			w.step(engine.Woke{Visit: w.visit()})
			require.Equal(t, "expired", w.history[1].Transition)
			require.Equal(t, engine.ApprovalExpired, effect[engine.CloseApproval](w).Status)
		})
	}
	w := newWorld(t, workflow(`"type":"APPROVAL","config":{`+three+`,"mode":"all","order":"sequential"}`, "approved", "rejected"))
	require.ErrorIs(t, w.try(engine.Decided{Visit: w.visit(), Vote: engine.Vote{Approver: 1, By: "usr_b", Approve: true}}), engine.ErrNotTheirTurn)
}

func TestRequestActions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status, action string
		want           []definition.RequestAction
		incident       bool
	}{
		"accept":                            {"PENDING", "accept", []definition.RequestAction{definition.Accept}, false},
		"accepted already":                  {"IN_PROGRESS", "accept", nil, false},
		"accept what is done":               {"COMPLETED", "accept", nil, false},
		"accept what was stopped":           {"CANCELLED", "accept", nil, true},
		"complete":                          {"IN_PROGRESS", "complete", []definition.RequestAction{definition.Complete}, false},
		"complete what nobody has accepted": {"PENDING", "complete", []definition.RequestAction{definition.Accept, definition.Complete}, false},
		"completed already":                 {"COMPLETED", "complete", nil, false},
		"cancel":                            {"IN_PROGRESS", "cancel", []definition.RequestAction{definition.Cancel}, false},
		"cancel what is done":               {"COMPLETED", "cancel", nil, true},
		"no request":                        {"", "cancel", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, faults := definition.Parse([]byte(workflow(`"type":"PROCESS","requestAction":"`+c.action+`"`, "next")))
			require.Empty(t, faults)
			env := engine.Env{Now: noon, ExecutionID: "exe_1"}
			if c.status != "" {
				env.Request = map[string]any{"status": c.status}
			}
			result, err := engine.Step(t.Context(), d, engine.State{}, engine.Begin{}, env)
			require.NoError(t, err)
			var got []definition.RequestAction
			for _, e := range result.Effects {
				if act, ok := e.(engine.ActOnRequest); ok {
					got = append(got, act.Action)
				}
			}
			require.Equal(t, c.want, got)
			require.Equal(t, c.incident, result.State.Wait.For == engine.ForIncident)
			require.Equal(t, c.status != "", env.Request["status"] == c.status && env.Request != nil, "the caller's map is not changed")
		})
	}
}

func TestCancelEndsWhatIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"PROCESS"`, "next"))
	w.step(engine.Cancel{})
	require.Equal(t, engine.Cancelled, w.state.Status)
	require.Equal(t, 2, effect[engine.CloseOpen](w).Visit)
	require.Equal(t, engine.Skipped, w.history[1].Status)
	require.ErrorIs(t, w.try(engine.TaskDone{Visit: 2}), engine.ErrStale)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	loop := `{"phases":[{"id":"s","type":"START"},{"id":"p","type":"DECISION","config":{"rules":[{"when":"request.title == 'x'","transition":"out"}],"default":"again"}},
		{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"p"},{"from":"p","name":"again","to":"p"},{"from":"p","name":"out","to":"e"}]}`
	w := newWorld(t, loop)
	require.Equal(t, engine.Failed, w.state.Status)
	require.Equal(t, engine.TooManySteps, w.state.Fault.Code)
	require.Len(t, w.history, engine.MaxVisits+1)

	big := newWorld(t, workflow(`"type":"PROCESS"`, "next"))
	big.step(engine.TaskDone{Visit: big.visit(), Variables: map[string]any{"text": string(make([]byte, engine.MaxVariables))}})
	require.Equal(t, engine.Failed, big.state.Status)
	require.Equal(t, engine.VariablesTooLarge, big.state.Fault.Code)
}

func TestMissingParticipantIsAnIncident(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"PROCESS"`, "next"))
	w.step(engine.Stuck{Visit: w.visit(), Code: engine.ParticipantMissing, Message: "usr_1 was deactivated."})
	require.Equal(t, engine.ForIncident, w.state.Wait.For)
	effect[engine.CloseOpen](w)
	w.step(engine.Retry{Visit: w.visit()})
	effect[engine.OpenTask](w)
}

// The response is read of every answer that a way leads on from. What an object does not have is null; what is no object at all stops a
// workflow where the answer is well.
func TestResponseOfAnAnswerThatARuleTakes(t *testing.T) {
	t.Parallel()
	const call = `"type":"API_CALL","config":{"method":"POST","url":"https://a.example","retries":{"max":0},
		"response":{"ticket":"response.body.id","why":"response.body.error"},"statusRules":[{"status":"404","transition":"none"},{"status":"202","transition":"none"}]}`
	for name, c := range map[string]struct {
		answer engine.Answer
		want   map[string]any // nil for an incident
	}{
		"nothing of a 404":        {engine.Answer{Status: 404, Body: ""}, map[string]any{"status": json.Number("404")}},
		"what a 404 says":         {engine.Answer{Status: 404, Body: map[string]any{"error": "gone"}}, map[string]any{"status": json.Number("404"), "ticket": nil, "why": "gone"}},
		"a 202 that says less":    {engine.Answer{Status: 202, Body: map[string]any{"id": "t"}}, map[string]any{"status": json.Number("202"), "ticket": "t", "why": nil}},
		"a 202 that is no object": {engine.Answer{Status: 202, Body: "t"}, nil},
		"a 200 that is no object": {engine.Answer{Status: 200, Body: "t"}, nil},
		"a 202 that says it all":  {engine.Answer{Status: 202, Body: map[string]any{"id": "t", "error": nil}}, map[string]any{"status": json.Number("202"), "ticket": "t", "why": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, workflow(call, "next", "none"))
			w.step(engine.Answered{Visit: w.visit(), Attempt: 1, Answer: &c.answer})
			if c.want == nil {
				require.Equal(t, engine.ExpressionFailed, effect[engine.OpenIncident](w).Fault.Code)
				return
			}
			require.Equal(t, "none", w.history[1].Transition)
			require.Equal(t, c.want, w.state.Phases["p"])
		})
	}
}

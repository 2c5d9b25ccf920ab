package execution_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/phasevisit"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/workflow"
	run "atrium/internal/workflow/execution"
	"atrium/internal/workflow/trial"
)

// drawn is a random definition with an answer for each phase that asks.
type drawn struct {
	definition body
	answers    body
}

// draw makes phases each of which leads on to the next one by its first way, and to any later one by its others.
func draw(rng *rand.Rand, url string, approver *ent.User) drawn {
	out := drawn{answers: body{}}
	phases, transitions := []body{phase("s", "START", nil)}, []body{{"from": "s", "name": "next", "to": "p0"}}
	n := 2 + rng.IntN(5)
	for i := range n {
		id := fmt.Sprintf("p%d", i)
		p, ways, answer := drawPhase(rng, id, url, approver)
		if phases = append(phases, p); answer != nil {
			out.answers[id] = answer
		}
		for w, way := range ways {
			to := i + 1
			if w > 0 {
				to += rng.IntN(n - i)
			}
			transitions = append(transitions, body{"from": id, "name": way, "to": fmt.Sprintf("p%d", to)})
		}
	}
	out.definition = body{"phases": append(phases, phase(fmt.Sprintf("p%d", n), "END", nil)), "transitions": transitions}
	return out
}

func drawPhase(rng *rand.Rand, id, url string, approver *ent.User) (p body, ways []string, answer body) {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	switch rng.IntN(9) {
	case 0:
		p, ways, answer = phase(id, "PROCESS", body{"title": "Do ${request.fields.n}"}), []string{"a", "b"}, body{"outcome": pick("a", "b"), "variables": body{"v": "x"}}
	case 1:
		p, ways = phase(id, "DECISION", body{"rules": []body{{"when": "request.fields.n > 3", "transition": "big"}}, "default": "small"}), []string{"small", "big"}
	case 2:
		p, ways = phase(id, "DATA", body{"kind": "enrich", "set": body{"v": pick("request.fields.n * 2", "string(request.fields.n)", "request.fields.missing + 1")}}), []string{"next"}
	case 3:
		p, ways = phase(id, "DATA", body{"kind": "validate", "rules": []body{{"check": "request.fields.n > 2"}}, "onInvalid": "route"}), []string{"next", "invalid"}
	case 4:
		p, ways = phase(id, "DATA", body{"kind": "validate", "rules": []body{{"check": "request.fields.n > 1"}}}), []string{"next"}
	case 5:
		p, ways = phase(id, "APPROVAL", body{"approvers": []body{person(approver)}, "mode": "all"}), []string{"approved", "rejected"}
		answer = body{"decision": pick("APPROVE", "REJECT")}
	case 6, 7:
		status := pick("200", "404", "418")
		p = phase(id, "API_CALL", body{
			"method": "GET", "url": url + "/" + status + "?n=${request.fields.n}", "retries": body{"max": 0}, "response": body{"got": "response.body.n"},
			"statusRules": []body{{"status": "404", "transition": "none"}},
		})
		ways, answer = []string{"next", "none"}, body{"status": json.Number(status), "body": body{"n": 5}}
	default:
		p, ways = phase(id, "TIMER", body{"until": "timestamp('2020-01-01T00:00:00Z')"}), []string{"next"}
	}
	p["requestAction"] = pick("accept", "complete", "accept")
	return p, ways, answer
}

// finish gives a real execution the answers until it ends or is stuck.
func (s *shop) finish(r *ent.Request, answers body, approver *ent.User) *ent.Execution {
	s.t.Helper()
	for {
		row := s.rests(r)
		if row.FinishedAt != nil || row.Error != nil {
			return row
		}
		if tasks := s.tasks(r, "OPEN"); len(tasks) > 0 {
			answer := answers[tasks[0].PhaseID].(body)
			s.complete(r, answer["outcome"].(string), answer["variables"].(body))
			continue
		}
		if open := s.undecided(r); open != nil {
			testkit.Run(s.t, s.World, s.AsUser(approver), run.DecideApproval, run.DecideApprovalInput{ByID: op.ByID{ID: open.ID}, Decision: answers[open.PhaseID].(body)["decision"].(string)})
		}
	}
}

func (s *shop) undecided(r *ent.Request) *ent.Approval {
	s.t.Helper()
	row, err := s.Store.Reader().Approval.Query().Where(approval.RequestID(r.ID), approval.StatusEQ(approval.StatusPENDING)).Only(s.ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	require.NoError(s.t, err)
	return row
}

// rests waits until an execution ends, is stuck, or waits for people.
func (s *shop) rests(r *ent.Request) (row *ent.Execution) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var err error
		row, err = s.Store.Reader().Execution.Get(s.ctx, *r.ExecutionID)
		require.NoError(s.t, err)
		return row.FinishedAt != nil || row.Error != nil || len(s.tasks(r, "OPEN")) > 0 || s.undecided(r) != nil
	}, patience, tick)
	return row
}

// history returns what a real execution has left behind, phase by phase.
func (s *shop) history(r *ent.Request) (out []string) {
	s.t.Helper()
	visits, err := s.Store.Reader().PhaseVisit.Query().Where(phasevisit.ExecutionID(*r.ExecutionID)).Order(phasevisit.ByNumber()).All(s.ctx)
	require.NoError(s.t, err)
	for _, v := range visits {
		out = append(out, entry(v.PhaseID, string(v.Status), v.Transition, v.Attempts, v.Input, v.Output, v.Error))
	}
	return out
}

func entry(id, status, way string, attempts int, input, output, fault json.RawMessage) string {
	return strings.Join([]string{id, status, way, fmt.Sprint(attempts), string(input), string(output), string(fault)}, " | ")
}

// object returns a JSON object as a door reads it.
func (s *shop) object(v body) (out strictjson.Object) {
	raw, err := json.Marshal(v)
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(raw, &out))
	return out
}

// try tries a definition as a trial of the shop's workflow.
func (s *shop) try(definition, answers body, r *ent.Request) *trial.Result {
	s.t.Helper()
	in := trial.Input{ID: &s.workflow.ID, On: trial.On{Request: &r.ID, Answers: s.object(answers)}}
	if definition != nil {
		raw, err := json.Marshal(definition)
		require.NoError(s.t, err)
		in.Definition = op.SetTo(workflow.NewDefinition(raw))
	}
	return testkit.Run(s.t, s.World, s.ctx, trial.Try, in)
}

func tried(t *testing.T, r *trial.Result) (out []string) {
	for _, v := range r.Steps {
		var fault json.RawMessage
		if v.Error != nil {
			var err error
			fault, err = json.Marshal(v.Error)
			require.NoError(t, err)
		}
		out = append(out, entry(v.PhaseID, v.Status, op.Or(v.Transition, ""), v.Attempts, v.Input, v.Output, fault))
	}
	return out
}

// A trial enters the phases that a run enters, with the same inputs, outputs and failures, for random definitions and answers.
func TestTrialsGoTheWayOfRuns(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		there := receiver.New(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			status := map[string]int{"/200": http.StatusOK, "/404": http.StatusNotFound, "/418": http.StatusTeapot}[r.URL.Path]
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(`{"n": 5}`))
		}))
		approver := w.A.Users[principal.Agent]
		s := open(t, w, line([]body{phase("s", "START", nil), phase("e", "END", nil)}))
		s.work()
		rng := rand.New(rand.NewPCG(38, 3))
		ends := map[string]int{}
		for n := range 15 {
			d := draw(rng, there.URL, approver)
			s.publish(d.definition)
			r := s.file(body{"n": rng.IntN(6)})
			row := s.finish(r, d.answers, approver)
			result := s.try(nil, d.answers, r)
			raw, _ := json.Marshal(d)
			require.Equal(t, s.history(r), tried(t, result), "%d: %s", n, raw)
			require.Equal(t, string(row.Status), result.Status)
			ends[result.Status]++
			if row.Error != nil {
				var fault body
				require.NoError(t, json.Unmarshal(row.Error, &fault))
				require.Equal(t, fault["message"], result.Error.Message)
			}
		}
		require.Len(t, ends, 3, "some end, some fail, some wait for somebody to resolve an incident: %v", ends)
	})
}

// Where the caller answers nothing, the last answers of the workflow's executions do: of those that the caller may read, and as far as the
// definition takes them.
func TestTrialsTakeTheLastAnswers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		there := receiver.New(t, receiver.Status(http.StatusOK, `{"n": 5}`))
		approver := w.A.Users[principal.Agent]
		d := func(response body) body {
			return body{"phases": []body{
				phase("s", "START", nil), phase("do", "PROCESS", nil), phase("ok", "APPROVAL", body{"approvers": []body{person(approver)}, "mode": "all"}),
				phase("call", "API_CALL", body{"method": "GET", "url": there.URL, "response": response}), phase("e", "END", nil),
			}, "transitions": []body{
				{"from": "s", "name": "next", "to": "do"}, {"from": "do", "name": "a", "to": "ok"}, {"from": "do", "name": "b", "to": "e"},
				{"from": "ok", "name": "approved", "to": "call"}, {"from": "ok", "name": "rejected", "to": "e"}, {"from": "call", "name": "next", "to": "e"},
			}}
		}
		was := d(body{"got": "response.body.n"})
		s := open(t, w, was)
		s.work()
		r := s.file(nil)
		require.Equal(t, "answers.do", *s.try(nil, nil, r).Stopped.Answer, "nothing was ever answered")
		s.finish(r, body{"do": body{"outcome": "a", "variables": body{"v": "x"}}, "ok": body{"decision": "APPROVE"}}, approver)

		result := s.try(nil, nil, r)
		require.Nil(t, result.Stopped)
		require.Equal(t, s.history(r)[1], tried(t, result)[1])
		require.Equal(t, trial.Last, *result.Steps[1].Asks[0].Source)
		require.JSONEq(t, `{"status": 200, "variables": {"got": 5}}`, string(result.Steps[3].Calls[0].Answer))
		require.JSONEq(t, `{"status": 200, "got": 5}`, string(result.Steps[3].Output), "what the response expressions gave then")

		require.Equal(t, "answers.ok", *s.try(nil, body{"ok": nil}, r).Stopped.Answer, "null stops")
		require.Equal(t, "answers.call", *s.try(d(body{"other": "response.body.m"}), nil, r).Stopped.Answer, "the body was not kept")
		admin := w.As(w.A, principal.Admin)
		of := trial.Input{ID: &s.workflow.ID}
		require.Nil(t, testkit.Run(t, w, admin, trial.Try, of).Stopped)
		hidden := policy.NewCondition([]byte(`{"principal.role": "admin", "resource.title": "A laptop"}`))
		testkit.Run(t, w, s.ctx, policy.Create, policy.CreateInput{Name: "Hidden", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hidden})
		require.Equal(t, "answers.do", *testkit.Run(t, w, admin, trial.Try, of).Stopped.Answer, "what was answered about a request that the caller does not see")
		require.Equal(t, trial.Given, *s.try(nil, body{"do": body{"outcome": "b"}}, r).Steps[1].Asks[0].Source)
	})
}

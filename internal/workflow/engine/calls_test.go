package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

func TestACallWaitsForTheEndOfWhatItHasStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"CALL_WORKFLOW","config":{"workflowId":"wf_1","input":{"amount":"${request.fields.amount}","list":["a",1,true,null]}}`, "next"))
	start := effect[engine.StartWorkflow](w)
	require.Equal(t, engine.CalledID("exe_1", 2, 1), start.ExecutionID)
	require.JSONEq(t, `{"amount":120,"list":["a",1,true,null]}`, asText(t, start.Input))
	require.Equal(t, engine.ForWorkflow, w.state.Wait.For)
	require.ErrorIs(t, w.try(engine.Returned{Visit: 2, Attempt: 1, Status: engine.Waiting}), engine.ErrStale)
	require.ErrorIs(t, w.try(engine.Returned{Visit: 2, Attempt: 2, Status: engine.Completed}), engine.ErrStale)
	w.step(engine.Returned{Visit: 2, Attempt: 1, Status: engine.Completed, Phases: map[string]any{"x": map[string]any{"v": "1"}}})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Equal(t, map[string]any{"executionId": start.ExecutionID, "status": "COMPLETED", "phases": map[string]any{"x": map[string]any{"v": "1"}}}, w.state.Phases["p"])
}

func TestACallThatDoesNotWaitGoesOnWhenTheExecutionIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"CALL_WORKFLOW","config":{"workflowId":"wf_1","wait":false}`, "next"))
	require.Equal(t, engine.ForStart, w.state.Wait.For)
	w.step(engine.Returned{Visit: 2, Attempt: 1, Status: engine.Running})
	require.Equal(t, map[string]any{"executionId": engine.CalledID("exe_1", 2, 1)}, w.state.Phases["p"])
	require.Equal(t, engine.Completed, w.state.Status)
}

func TestFaultsOfACalledWorkflowComeUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, workflow(`"type":"CALL_WORKFLOW","config":{"workflowId":"wf_1"}`, "next"))
	w.step(engine.Returned{Visit: 2, Attempt: 1, Status: engine.Failed, Why: "No."})
	require.Equal(t, engine.WorkflowFailed, w.state.Visit.Fault.Code)
	require.Contains(t, w.state.Visit.Fault.Message, "has failed: No.")
	w.step(engine.Retry{Visit: 2})
	again := effect[engine.StartWorkflow](w)
	require.Equal(t, engine.CalledID("exe_1", 2, 2), again.ExecutionID)
	require.ErrorIs(t, w.try(engine.Returned{Visit: 2, Attempt: 1, Status: engine.Completed}), engine.ErrStale)
	w.step(engine.Returned{Visit: 2, Attempt: 2, Status: engine.Cancelled})
	require.Equal(t, engine.WorkflowFailed, w.state.Visit.Fault.Code)
	w.step(engine.Skip{Visit: 2})
	require.Equal(t, engine.Completed, w.state.Status)

	w = newWorld(t, workflow(`"type":"CALL_WORKFLOW","config":{"workflowId":"wf_1","input":{"a":"${phases.p.none * 2}"}}`, "next"))
	require.Equal(t, engine.ExpressionFailed, w.state.Visit.Fault.Code)
	require.Contains(t, w.state.Visit.Fault.Message, "a: ")
}

func TestACalledExecutionLeavesTheRequestAlone(t *testing.T) {
	t.Parallel()
	d, faults := definition.Parse([]byte(workflow(`"type":"DATA","requestAction":"complete","config":{"kind":"enrich","set":{"v":"input.n + 1","there":"has(input.m)"}}`, "next")))
	require.Empty(t, faults)
	w := &world{t: t, d: d, env: engine.Env{Now: noon, ExecutionID: "exe_2", Called: true, Input: map[string]any{"n": json.Number("2")}, Request: map[string]any{"status": "PENDING"}}}
	w.step(engine.Begin{})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Empty(t, w.effects)
	require.JSONEq(t, `{"v":3,"there":false}`, asText(t, w.state.Phases["p"]))
}

func asText(t require.TestingT, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// house runs executions that call one another, as the database and its workers would.
type house struct {
	t      *rapid.T
	defs   map[string]*definition.Definition
	guests map[string]*guest
	order  []string // ids, in the order in which they were started
}

type guest struct {
	id, workflow string
	input        map[string]any
	parent       string
	visit        int
	attempt      int
	state        engine.State
}

func (h *house) start(r *guest) {
	require.Nil(h.t, h.guests[r.id], "an execution is started once")
	h.guests[r.id], h.order = r, append(h.order, r.id)
}

// inputs returns what has arrived for an execution.
func (h *house) inputs(r *guest) (list []engine.Input) {
	switch {
	case r.state.Status.Final():
		return nil
	case r.state.Visit == nil:
		return []engine.Input{engine.Begin{}}
	case r.state.Status == engine.Running:
		return []engine.Input{engine.Continue{Visit: r.state.Visit.Number}}
	}
	for _, at := range r.state.Open() {
		switch {
		case at.Wait == nil:
		case at.Wait.For == engine.ForTask:
			list = append(list, engine.TaskDone{Visit: at.Visit.Number})
		case at.Wait.For == engine.ForIncident:
			list = append(list, engine.Retry{Visit: at.Visit.Number})
		default:
			called := h.guests[engine.CalledID(r.id, at.Visit.Number, at.Visit.Attempts)]
			if at.Wait.For == engine.ForStart || called.state.Status.Final() {
				list = append(list, engine.Returned{Visit: at.Visit.Number, Attempt: at.Visit.Attempts, Status: called.state.Status, Phases: called.state.Phases})
			}
		}
	}
	return list
}

// step takes a step and commits it, or is killed before.
func (h *house) step(r *guest, in engine.Input) {
	env := engine.Env{Now: noon, ExecutionID: r.id, Called: r.parent != "", Input: r.input}
	before := r.state
	res, err := engine.Step(h.t.Context(), h.defs[r.workflow], r.state, in, env)
	require.NoError(h.t, err, "%T", in)
	if rapid.IntRange(0, 5).Draw(h.t, "killed") == 0 {
		return
	}
	r.state = stored(h.t, res.State)
	for _, e := range res.Effects {
		switch e := e.(type) {
		case engine.StartWorkflow:
			h.start(&guest{id: e.ExecutionID, workflow: e.Phase.Calls.WorkflowID, input: e.Input, parent: r.id, visit: e.Visit, attempt: e.Attempt})
		case engine.CloseOpen:
			if at := before.At(e.Visit); at != nil && at.Wait != nil && at.Wait.For == engine.ForWorkflow {
				h.end(h.guests[engine.CalledID(r.id, e.Visit, at.Visit.Attempts)])
			}
		}
	}
}

// end cancels an execution, and what it waits for.
func (h *house) end(r *guest) {
	if r.state.Status.Final() {
		return
	}
	for _, at := range r.state.Open() {
		if at.Wait != nil && at.Wait.For == engine.ForWorkflow {
			h.end(h.guests[engine.CalledID(r.id, at.Visit.Number, at.Visit.Attempts)])
		}
	}
	res, err := engine.Step(h.t.Context(), nil, r.state, engine.Cancel{Why: &engine.Fault{Code: engine.CallerEnded}}, engine.Env{Now: noon, ExecutionID: r.id})
	require.NoError(h.t, err)
	for _, v := range res.History {
		require.Equal(h.t, engine.CallerEnded, v.Fault.Code)
		require.Equal(h.t, v.PhaseID, v.Fault.PhaseID)
	}
	r.state = stored(h.t, res.State)
}

// drawWorkflow makes a workflow that computes, works and calls those after it; race makes it a race of its calls.
func drawWorkflow(t *rapid.T, n, last int, race bool) string {
	phases := []string{`{"id":"s","type":"START"}`, `{"id":"d","type":"DATA","config":{"kind":"enrich","set":{"v":"has(input.n) ? input.n + 1 : 0"}}}`}
	ways := []string{`{"from":"s","name":"next","to":"d"}`}
	var list []string
	for i := range rapid.IntRange(0, 3).Draw(t, "length") {
		id := fmt.Sprint("p", i)
		list = append(list, id)
		if n == last || rapid.IntRange(0, 3).Draw(t, "task") == 0 {
			phases = append(phases, fmt.Sprintf(`{"id":%q,"type":"PROCESS"}`, id))
			continue
		}
		to, wait := rapid.IntRange(n+1, last).Draw(t, "to"), rapid.IntRange(0, 3).Draw(t, "wait") > 0
		phases = append(phases, fmt.Sprintf(`{"id":%q,"type":"CALL_WORKFLOW","config":{"workflowId":"w%d","wait":%t,"input":{"n":"${phases.d.v}"}}}`, id, to, wait))
	}
	at := "d"
	if race && len(list) > 1 {
		var branches []string
		for _, id := range list {
			branches = append(branches, fmt.Sprintf(`{"name":%q,"start":%q}`, id, id))
			ways = append(ways, fmt.Sprintf(`{"from":%q,"name":"next","to":"j"}`, id))
		}
		phases = append(phases, fmt.Sprintf(`{"id":"b","type":"PARALLEL","join":"any","branches":[%s],"end":"j"}`, strings.Join(branches, ",")), `{"id":"j","type":"JOIN","next":"e"}`)
		ways = append(ways, `{"from":"d","name":"next","to":"b"}`)
		list, at = nil, ""
	}
	for _, id := range list {
		ways = append(ways, fmt.Sprintf(`{"from":%q,"name":"next","to":%q}`, at, id))
		at = id
	}
	if at != "" {
		ways = append(ways, fmt.Sprintf(`{"from":%q,"name":"next","to":"e"}`, at))
	}
	return fmt.Sprintf(`{"phases":[%s,{"id":"e","type":"END"}],"transitions":[%s]}`, strings.Join(phases, ","), strings.Join(ways, ","))
}

// expected is what an execution of a workflow without races leaves behind, without ids: the plainest program that does the same.
func (h *house) expected(workflow string, n int) map[string]any {
	out := map[string]any{"s": map[string]any{}, "d": map[string]any{"v": n}}
	for _, p := range h.defs[workflow].Phases {
		switch {
		case p.Process != nil:
			out[p.ID] = map[string]any{"outcome": "next"}
		case p.Calls != nil && p.Calls.Wait:
			out[p.ID] = map[string]any{"status": "COMPLETED", "phases": h.expected(p.Calls.WorkflowID, n+1)}
		case p.Calls != nil:
			out[p.ID] = map[string]any{}
		}
	}
	return out
}

// withoutIDs drops the ids of executions.
func withoutIDs(v any) any {
	if m, ok := v.(map[string]any); ok {
		delete(m, "executionId")
		for _, one := range m {
			withoutIDs(one)
		}
	}
	return v
}

// Random trees of calls in random orders, with steps that are killed before they are committed: each call starts one execution, the caller
// gets what that left behind, and nothing is left waiting for nobody.
func TestTreesOfCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, races := &house{t: t, defs: map[string]*definition.Definition{}, guests: map[string]*guest{}}, rapid.Bool().Draw(t, "races")
		for n := range 4 {
			raw := drawWorkflow(t, n, 3, races)
			d, faults := definition.Parse([]byte(raw))
			require.Empty(t, faults, raw)
			h.defs[fmt.Sprint("w", n)] = d
		}
		h.start(&guest{id: "exe_root", workflow: "w0"})
		for {
			var open []*guest
			for _, id := range h.order {
				if len(h.inputs(h.guests[id])) > 0 {
					open = append(open, h.guests[id])
				}
			}
			if len(open) == 0 {
				break
			}
			r := rapid.SampledFrom(open).Draw(t, "execution")
			h.step(r, rapid.SampledFrom(h.inputs(r)).Draw(t, "input"))
		}
		require.Equal(t, engine.Completed, h.guests["exe_root"].state.Status)
		for _, r := range h.guests {
			require.True(t, r.state.Status.Final(), "%s of %s", r.id, r.workflow)
			require.True(t, races || r.state.Status == engine.Completed)
		}
		if !races {
			require.JSONEq(t, asText(t, h.expected("w0", 0)), asText(t, withoutIDs(h.guests["exe_root"].state.Phases)))
		}
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(h.order))), len(h.guests))
	})
}

package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// office is a workflow of three branches: a task with one more after it, an approval, and a timer.
const office = `{"phases":[{"id":"s","type":"START"},
	{"id":"prepare","type":"PARALLEL","branches":[{"name":"Laptop","start":"order"},{"name":"Access","start":"access"},{"name":"Desk","start":"rest"}],SETTINGS"end":"prepared"},
	{"id":"order","type":"PROCESS"},{"id":"unpack","type":"PROCESS"},
	{"id":"access","type":"APPROVAL","config":{"approvers":[{"type":"user","id":"usr_1"}],"mode":"any"}},
	{"id":"rest","type":"TIMER","config":{"duration":"1h"}},
	{"id":"prepared","type":"JOIN","next":"after"FAILED},
	{"id":"after","type":"DATA","config":{"kind":"enrich","set":{"outcome":"has(phases.order) ? phases.order.outcome : 'none'"}}},{"id":"e","type":"END"}],
	"transitions":[{"from":"s","name":"next","to":"prepare"},{"from":"order","name":"next","to":"unpack"},{"from":"unpack","name":"next","to":"prepared"},
	{"from":"access","name":"approved","to":"prepared"},{"from":"access","name":"rejected","to":"prepared"},{"from":"rest","name":"next","to":"prepared"},{"from":"after","name":"next","to":"e"}]}`

// of returns the office with settings of its block.
func of(join, failed string) string { return replaced(office, "SETTINGS", join, "FAILED", failed) }

// visitOf returns the number of the last visit of a phase.
func (w *world) visitOf(phase string) int {
	for i := len(w.history) - 1; i >= 0; i-- {
		if w.history[i].PhaseID == phase {
			return w.history[i].Number
		}
	}
	w.t.Errorf("the execution was never in %s", phase)
	return 0
}

func (w *world) at(phase string) engine.Visit { return w.history[w.visitOf(phase)-1] }

func TestBranchesRunAtOnceAndJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, of("", ""))
	require.Equal(t, engine.Waiting, w.state.Status)
	require.Equal(t, "prepare", w.state.Visit.PhaseID)
	require.Equal(t, []string{"order", "access", "rest"}, w.state.Standing())
	require.Equal(t, "Access", w.at("access").Branch)
	require.ErrorIs(t, w.try(engine.Continue{Visit: w.visit()}), engine.ErrStale)
	require.ErrorIs(t, w.try(engine.TaskDone{Visit: w.visitOf("access")}), engine.ErrStale)
	w.step(engine.Decided{Visit: w.visitOf("access"), Vote: engine.Vote{By: "usr_1", Approve: true}})
	w.step(engine.TaskDone{Visit: w.visitOf("order"), Variables: map[string]any{"n": json.Number("1.50")}})
	require.Equal(t, []string{"unpack", "rest"}, w.state.Standing())
	require.Empty(t, w.state.Phases["order"], "no other branch sees it before the join")
	w.step(engine.TaskDone{Visit: w.visitOf("unpack")})
	w.env.Now = *w.state.Block.Branches[2].State.Wait.Until
	w.step(engine.Woke{Visit: w.visitOf("rest")})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Nil(t, w.state.Block)
	require.Equal(t, map[string]any{"completed": []any{"Laptop", "Access", "Desk"}, "cancelled": []any{}}, w.state.Phases["prepared"])
	require.Equal(t, "next", w.state.Phases["after"].(map[string]any)["outcome"])
	require.Equal(t, json.Number("1.50"), w.state.Phases["order"].(map[string]any)["n"])
	require.Equal(t, "end", w.at("prepare").Transition)
	require.Empty(t, w.at("prepared").Branch)
}

func TestAnyCancelsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, of(`"join":"any",`, ""))
	order, rest := w.visitOf("order"), w.visitOf("rest")
	w.step(engine.Decided{Visit: w.visitOf("access"), Vote: engine.Vote{By: "usr_1"}})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Contains(t, w.effects, engine.CloseOpen{Visit: order})
	require.Contains(t, w.effects, engine.CloseOpen{Visit: rest})
	for _, id := range []string{"order", "rest"} {
		require.Equal(t, engine.Skipped, w.at(id).Status)
		require.Equal(t, engine.BranchCancelled, w.at(id).Fault.Code)
	}
	require.Equal(t, map[string]any{"completed": []any{"Access"}, "cancelled": []any{"Laptop", "Desk"}}, w.state.Phases["prepared"])
	require.Equal(t, "none", w.state.Phases["after"].(map[string]any)["outcome"])

	w = newWorld(t, of(`"join":2,`, ""))
	w.step(engine.Decided{Visit: w.visitOf("access"), Vote: engine.Vote{By: "usr_1"}})
	require.Equal(t, engine.Waiting, w.state.Status)
	w.env.Now = *w.state.Block.Branches[2].State.Wait.Until
	w.step(engine.Woke{Visit: w.visitOf("rest")})
	require.Equal(t, engine.Completed, w.state.Status)
}

func TestAnIncidentStopsItsBranchAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, of("", ""))
	w.step(engine.Stuck{Visit: w.visitOf("order"), Code: engine.ParticipantMissing, Message: "Nobody is there."})
	require.Equal(t, engine.ParticipantMissing, w.state.Trouble().Code)
	w.step(engine.Decided{Visit: w.visitOf("access"), Vote: engine.Vote{By: "usr_1"}})
	require.ErrorIs(t, w.try(engine.Retry{Visit: w.visit()}), engine.ErrStale)
	w.step(engine.Retry{Visit: w.visitOf("order")})
	require.Nil(t, w.state.Trouble())
	require.Equal(t, w.visitOf("order"), effect[engine.OpenTask](w).Visit)
	w.step(engine.Stuck{Visit: w.visitOf("order"), Code: engine.ParticipantMissing})
	w.step(engine.Skip{Visit: w.visitOf("order")})
	require.Equal(t, []string{"unpack", "rest"}, w.state.Standing())
	w.step(engine.Cancel{})
	require.Equal(t, engine.Cancelled, w.state.Status)
	for _, id := range []string{"unpack", "rest", "prepare"} {
		require.Equal(t, engine.Skipped, w.at(id).Status)
		require.Contains(t, w.effects, engine.CloseOpen{Visit: w.visitOf(id)})
	}
}

func TestOnFaultCancelLeavesByFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, of(`"onFault":"cancel",`, `,"failed":"e"`))
	order := w.visitOf("order")
	w.step(engine.Stuck{Visit: order, Code: engine.ParticipantMissing, Message: "Nobody is there."})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Equal(t, "failed", w.at("prepared").Transition)
	require.Equal(t, map[string]any{"fault": map[string]any{"phaseId": "order", "code": "participant_missing", "message": "Nobody is there."}}, w.state.Phases["prepared"])
	require.Equal(t, engine.Failed, w.at("order").Status)
	require.Contains(t, w.effects, engine.CloseOpen{Visit: w.visitOf("rest")})
	for _, e := range w.effects {
		require.NotEqual(t, "engine.OpenIncident", typeOf(e))
	}
}

// rooms has a task for each room of the request.
const rooms = `{"phases":[{"id":"s","type":"START"},
	{"id":"each","type":"FOR_EACH","in":"request.fields.rooms","as":"room","start":"clean","end":"cleaned"KEYS},
	{"id":"clean","type":"PROCESS","config":{"title":"${phases.each.index}: ${phases.each.room.name}"}},
	{"id":"cleaned","type":"JOIN","next":"e"},{"id":"e","type":"END"}],
	"transitions":[{"from":"s","name":"next","to":"each"},{"from":"clean","name":"next","to":"cleaned"}]}`

func roomsOf(t *testing.T, keys string, list any) *world {
	t.Helper()
	d, faults := definition.Parse([]byte(replaced(rooms, "KEYS", keys)))
	require.Empty(t, faults)
	w := &world{t: t, d: d, env: engine.Env{Now: noon, ExecutionID: "exe_1", Request: map[string]any{"fields": map[string]any{"rooms": list}}}}
	return w.step(engine.Begin{})
}

func room(name string) any { return map[string]any{"name": name} }

func TestForEachRunsItemsAFewAtATime(t *testing.T) {
	t.Parallel()
	w := roomsOf(t, `,"maxParallel":2`, []any{room("A"), room("B"), room("C")})
	require.Len(t, w.state.Open(), 2)
	require.Equal(t, "1: B", w.at("clean").Input.(map[string]any)["title"])
	require.Equal(t, "2", w.at("clean").Branch)
	b := w.visitOf("clean")
	w.step(engine.TaskDone{Visit: b, Variables: map[string]any{"by": "b"}})
	require.Equal(t, "2: C", w.at("clean").Input.(map[string]any)["title"])
	require.Equal(t, "3", w.at("clean").Branch)
	w.step(engine.TaskDone{Visit: w.visitOf("clean"), Variables: map[string]any{"by": "c"}})
	w.step(engine.TaskDone{Visit: b - 1, Variables: map[string]any{"by": "a"}})
	require.Equal(t, engine.Completed, w.state.Status)
	var by []any
	for _, one := range w.state.Phases["cleaned"].(map[string]any)["results"].([]any) {
		by = append(by, one.(map[string]any)["clean"].(map[string]any)["by"])
	}
	require.Equal(t, []any{"a", "b", "c"}, by, "in the order of the items")
}

func TestForEachOfNothingOrOfNoList(t *testing.T) {
	t.Parallel()
	w := roomsOf(t, "", []any{})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Equal(t, map[string]any{"results": []any{}}, w.state.Phases["cleaned"])

	w = roomsOf(t, `,"join":5`, []any{room("A")})
	w.step(engine.TaskDone{Visit: w.visitOf("clean")})
	require.Equal(t, engine.Completed, w.state.Status, "fewer items than the number: all of them")

	for _, list := range []any{"no list", make([]any, definition.MaxItems+1)} {
		w = roomsOf(t, "", list)
		require.Equal(t, engine.ExpressionFailed, w.state.Trouble().Code)
		w.env.Request = map[string]any{"fields": map[string]any{"rooms": []any{room("A")}}}
		w.step(engine.Retry{Visit: w.visit()})
		require.Len(t, w.state.Open(), 1)
		w = roomsOf(t, "", list).step(engine.Skip{Visit: 2})
		require.Equal(t, engine.Completed, w.state.Status)
	}
}

func TestMoveInABlock(t *testing.T) {
	t.Parallel()
	stuck := func() *world {
		w := newWorld(t, of("", ""))
		return w.step(engine.Stuck{Visit: w.visitOf("order"), Code: engine.ParticipantMissing})
	}
	w := stuck()
	w.becomes(t, replaced(of("", ""), `"duration":"1h"`, `"duration":"2h"`))
	for _, to := range []string{"access", "after", "s", "prepared"} {
		require.ErrorIs(t, w.try(engine.Move{Visit: w.visitOf("order"), PhaseID: to}), engine.ErrNoWay, "out of its branch")
	}
	w.step(engine.Move{Visit: w.visitOf("order"), PhaseID: "unpack"})
	require.Equal(t, []string{"unpack", "access", "rest"}, w.state.Standing())

	for old, now := range map[string]string{`"name":"Desk"`: `"name":"Chair"`, `"TIMER","config":{"duration":"1h"}`: `"PROCESS"`, `"id":"prepare"`: `"id":"p2"`} {
		w = stuck()
		w.becomes(t, replaced(of("", ""), old, now, `"to":"prepare"}`, `"to":"`+map[bool]string{true: "p2", false: "prepare"}[now == `"id":"p2"`]+`"}`))
		require.NotEmpty(t, engine.Misfit(w.d, w.state, w.visitOf("order"), w.d.Phase("order")), now)
		require.ErrorIs(t, w.try(engine.Move{Visit: w.visitOf("order"), PhaseID: "order"}), engine.ErrNoWay)
	}
}

// Branches that compute go on over several steps, like everything else.
func TestBranchesShareTheStepsLimit(t *testing.T) {
	t.Parallel()
	w := roomsOf(t, `,"maxParallel":10`, []any{room("A"), room("B"), room("C")})
	w.env.Most = 1
	w.becomes(t, replaced(replaced(rooms, "KEYS", ""), `"PROCESS","config":{"title":"${phases.each.index}: ${phases.each.room.name}"}`, `"DATA","config":{"kind":"enrich","set":{"n":"phases.each.index"}}`))
	w.state, w.history = engine.State{}, nil
	w.step(engine.Begin{})
	require.Equal(t, engine.Completed, w.state.Status)
	require.Len(t, w.history, 7)
}

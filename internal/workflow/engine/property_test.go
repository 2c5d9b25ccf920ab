package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/desk/sla"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// drawDefinition makes a definition that passes the checks: every phase leads on to the one after it by its first way,
// and anywhere by its others.
func drawDefinition(t *rapid.T) *definition.Definition {
	n := rapid.IntRange(1, 6).Draw(t, "phases")
	phases, transitions := []string{`{"id":"s","type":"START"}`}, []string{`{"from":"s","name":"next","to":"p0"}`}
	for i := range n {
		keys, ways := drawPhase(t)
		phases = append(phases, fmt.Sprintf(`{"id":"p%d",%s}`, i, keys))
		for w, way := range ways {
			to := fmt.Sprintf("p%d", i+1)
			if w > 0 {
				to = rapid.SampledFrom(append([]string{"e"}, ids(n)...)).Draw(t, "to")
			}
			if to == fmt.Sprintf("p%d", n) {
				to = "e"
			}
			transitions = append(transitions, fmt.Sprintf(`{"from":"p%d","name":%q,"to":%q}`, i, way, to))
		}
	}
	phases = append(phases, `{"id":"e","type":"END"}`)
	raw := fmt.Sprintf(`{"phases":[%s],"transitions":[%s]}`, strings.Join(phases, ","), strings.Join(transitions, ","))
	d, faults := definition.Parse([]byte(raw))
	require.Empty(t, faults, raw)
	return d
}

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("p%d", i)
	}
	return out
}

// drawPhase returns the keys of a phase and its ways out.
func drawPhase(t *rapid.T) (string, []string) {
	action := rapid.SampledFrom([]string{"", `,"requestAction":"accept"`, `,"requestAction":"complete"`, `,"requestAction":"cancel"`}).Draw(t, "action")
	kinds := []struct {
		keys string
		ways []string
	}{
		{`"type":"PROCESS"`, []string{"next"}},
		{`"type":"PROCESS","participants":[{"role":"accountable","type":"user","id":"u"},{"role":"informed","type":"user","id":"u"}]`, []string{"a", "b"}},
		{`"type":"DECISION","config":{"rules":[{"when":"request.fields.n > 3","transition":"big"}],"default":"small"}`, []string{"small", "big"}},
		{`"type":"DECISION","config":{"rules":[{"when":"request.fields.missing * 2 > 3","transition":"big"}],"default":"small"}`, []string{"small", "big"}},
		{`"type":"DATA","config":{"kind":"enrich","set":{"v":"request.fields.n"}}`, []string{"next"}},
		{`"type":"DATA","config":{"kind":"validate","rules":[{"check":"request.fields.n > 2"}],"onInvalid":"route"}`, []string{"next", "invalid"}},
		{`"type":"DATA","config":{"kind":"validate","rules":[{"check":"request.fields.n > 2"}],"onInvalid":"ask"}`, []string{"next"}},
		{`"type":"DATA","config":{"kind":"validate","rules":[{"check":"request.fields.n > 0"}]}`, []string{"next"}},
		{`"type":"TIMER","config":{"duration":"1h"}`, []string{"next"}},
		{`"type":"WEBHOOK_CALLOUT","config":{"url":"https://a.example"}`, []string{"next"}},
		{`"type":"API_CALL","config":{"method":"GET","url":"https://a.example","retries":{"max":1},"statusRules":[{"status":"4xx","transition":"none"}]}`, []string{"next", "none"}},
		{`"type":"APPROVAL","config":{"approvers":[{"type":"user","id":"a"},{"type":"user","id":"b"}],"mode":"all","deadline":"1d"}`, []string{"approved", "rejected", "expired"}},
		{`"type":"APPROVAL","config":{"approvers":[{"type":"user","id":"a"},{"type":"user","id":"b"}],"mode":"quorum","quorum":1,"order":"sequential"}`, []string{"approved", "rejected"}},
	}
	k := kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]
	return k.keys + action, k.ways
}

// drawInput returns what may come while an execution waits: mostly what it waits for, at times something late or odd.
func drawInput(t *rapid.T, w *world) engine.Input {
	visit := w.visit()
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		visit -= rapid.IntRange(0, 1).Draw(t, "late")
		return rapid.SampledFrom([]engine.Input{
			engine.Begin{}, engine.Continue{Visit: visit}, engine.Woke{Visit: visit}, engine.TaskDone{Visit: visit, Outcome: "nowhere"},
			engine.Skip{Visit: visit}, engine.Retry{Visit: visit}, engine.Answered{Visit: visit, Attempt: 1}, engine.Cancel{},
			engine.Decided{Visit: visit, Vote: engine.Vote{Approver: 7}}, engine.Stuck{Visit: visit, Code: engine.ParticipantMissing},
			engine.Move{Visit: visit, PhaseID: "p0"},
		}).Draw(t, "input")
	}
	p := w.d.Phase(w.state.Visit.PhaseID)
	switch w.state.Wait.For {
	case engine.ForTask:
		in := engine.TaskDone{Visit: visit}
		if p.Process != nil {
			in.Outcome = rapid.SampledFrom(p.Ways()).Draw(t, "outcome")
		} else {
			in.Variables = map[string]any{"n": rapid.Float64Range(0, 6).Draw(t, "n")}
		}
		return in
	case engine.ForApproval, engine.ForSignOff:
		if w.state.Wait.Until != nil && rapid.IntRange(0, 4).Draw(t, "expire") == 0 {
			w.env.Now = *w.state.Wait.Until
			return engine.Woke{Visit: visit}
		}
		return engine.Decided{Visit: visit, Vote: engine.Vote{Approver: rapid.IntRange(0, 1).Draw(t, "approver"), By: "u", Approve: rapid.Bool().Draw(t, "approve")}}
	case engine.ForTimer:
		w.env.Now = *w.state.Wait.Until
		return engine.Woke{Visit: visit}
	case engine.ForCall:
		in := engine.Answered{Visit: visit, Attempt: w.state.Wait.Attempt, Failure: "none"}
		if status := rapid.SampledFrom([]int{0, 200, 404, 500}).Draw(t, "status"); status != 0 {
			in.Answer = &engine.Answer{Status: status}
		}
		return in
	default:
		move := engine.Move{Visit: visit, PhaseID: rapid.SampledFrom(append([]string{"s", "e"}, ids(6)...)).Draw(t, "target")}
		return rapid.SampledFrom([]engine.Input{engine.Retry{Visit: visit}, engine.Skip{Visit: visit}, move}).Draw(t, "resolve")
	}
}

// route is how an execution came through its history.
type route struct {
	left   map[int]*definition.Definition // that a visit was left by, by number
	target map[int]string                 // the phase that a move led to from a visit
}

// note takes down which visits a step has left by the world's definition.
func (r route) note(w *world) {
	for _, v := range w.history {
		if v.FinishedAt != nil && r.left[v.Number] == nil {
			r.left[v.Number] = w.d
		}
	}
}

// Random definitions, inputs, crashes and moves between two versions: a step that is computed again from the state as it was stored
// makes the same, the history is a path of the version that each phase was left by, and what ends ends in an END, a failure or a
// cancel.
func TestHistoryIsAPathOfTheDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		versions := [2]*definition.Definition{drawDefinition(t), drawDefinition(t)}
		r := route{left: map[int]*definition.Definition{}, target: map[int]string{}}
		w := &world{t: t, d: versions[0], env: engine.Env{
			Now: time.Date(2026, 5, 22, 12, 0, 0, 0, time.UTC), ExecutionID: "exe_1",
			Request:  map[string]any{"title": "T", "status": "PENDING", "fields": map[string]any{"n": rapid.Float64Range(0, 6).Draw(t, "n")}},
			Calendar: func(string) (*sla.Calendar, error) { return sla.New("UTC", nil, nil) },
		}}
		require.NoError(t, w.try(engine.Begin{}))
		r.note(w)
		for range rapid.IntRange(0, 40).Draw(t, "inputs") {
			if w.state.Status.Final() {
				break
			}
			require.Equal(t, engine.Waiting, w.state.Status, "what does not wait goes on by itself")
			require.NotNil(t, w.state.Wait)
			before := w.state
			in, was := drawInput(t, w), w.d
			move, moves := in.(engine.Move)
			if moves && was == versions[0] {
				w.d = versions[1]
			} else if moves {
				w.d = versions[0]
			}
			once, err := engine.Step(t.Context(), w.d, before, in, w.env)
			again, err2 := engine.Step(t.Context(), w.d, stored(t, before), in, w.env)
			require.Equal(t, err, err2)
			require.Equal(t, asText(t, once.State), asText(t, again.State), "a step can be computed again")
			require.Equal(t, asText(t, once.History), asText(t, again.History))
			require.Len(t, again.Effects, len(once.Effects))
			require.Equal(t, asText(t, before), asText(t, w.state), "a step changes nothing that it was given")
			if w.try(in) != nil {
				require.Equal(t, asText(t, before), asText(t, w.state), "a refused input changes nothing")
				w.d = was
				continue
			}
			if moves {
				require.Empty(t, engine.Lost(w.d, w.state.Phases), "no variable is left that the version cannot read")
				r.target[move.Visit] = move.PhaseID
			}
			r.note(w)
		}
		path(t, w, r)
	})
}

// path holds the history against the definitions.
func path(t *rapid.T, w *world, r route) {
	require.Equal(t, w.d.Start.ID, w.history[0].PhaseID)
	for i, v := range w.history {
		require.Equal(t, i+1, v.Number)
		last := i == len(w.history)-1
		if !last && v.Transition == "" {
			require.Equal(t, engine.Skipped, v.Status)
			require.Equal(t, r.target[v.Number], w.history[i+1].PhaseID, "only a move leaves a phase by no transition")
			continue
		}
		d := w.d
		if v.FinishedAt != nil {
			d = r.left[v.Number]
		}
		p := d.Phase(v.PhaseID)
		require.NotNil(t, p)
		if !last {
			require.NotNil(t, v.FinishedAt)
			next := p.Follow(v.Transition)
			require.NotNil(t, next, "%s of %s", v.Transition, v.PhaseID)
			require.Equal(t, next.ID, w.history[i+1].PhaseID)
			continue
		}
		switch w.state.Status {
		case engine.Completed:
			require.Equal(t, definition.End, p.Type)
		case engine.Failed:
			require.NotNil(t, w.state.Fault)
			require.Equal(t, engine.Failed, v.Status)
		case engine.Waiting:
			require.Nil(t, v.FinishedAt)
			require.Equal(t, engine.Waiting, v.Status)
		case engine.Cancelled:
			require.NotNil(t, v.FinishedAt)
		default:
			t.Fatalf("status %s", w.state.Status)
		}
	}
}

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// stranded is an execution whose call p, behind an enrich, has failed.
func stranded(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, `{"phases":[{"id":"s","type":"START"},{"id":"sum","type":"DATA","config":{"kind":"enrich","set":{"n":"1"}}},
		{"id":"p","type":"API_CALL","config":{"method":"GET","url":"https://a.example","retries":{"max":0}}},{"id":"e","type":"END"}],
		"transitions":[{"from":"s","name":"next","to":"sum"},{"from":"sum","name":"next","to":"p"},{"from":"p","name":"next","to":"e"}]}`)
	return w.step(engine.Answered{Visit: w.visit(), Attempt: 1, Failure: "no answer"})
}

// becomes makes the workflow's other version the one that the next step follows.
func (w *world) becomes(t *testing.T, raw string) {
	t.Helper()
	d, faults := definition.Parse([]byte(raw))
	require.Empty(t, faults)
	w.d = d
}

func TestMoveKeepsThePhaseThatBothVersionsHave(t *testing.T) {
	t.Parallel()
	w := stranded(t)
	key, visit := engine.Key("exe_1", w.state.Visit), w.visit()
	w.becomes(t, workflow(`"type":"API_CALL","config":{"method":"GET","url":"https://b.example","retries":{"max":0}}`, "next"))
	w.step(engine.Move{Visit: visit, PhaseID: "p"})
	call := effect[engine.Call](w)
	url, err := call.Phase.APICall.URL.Text(t.Context(), definition.Vars{}.Bind())
	require.NoError(t, err)
	require.Equal(t, "https://b.example", url)
	require.Equal(t, 2, call.Attempt, "no answer of the attempt before it is taken for it")
	require.Equal(t, key, engine.Key("exe_1", w.state.Visit), "the receiver sees one key")
	require.NotContains(t, w.state.Phases, "sum", "no expression of the version can read it")
	require.Equal(t, map[string]any{"n": int64(1)}, w.history[1].Output, "the history keeps it")
	w.step(engine.Answered{Visit: visit, Attempt: 2, Answer: &engine.Answer{Status: 200}})
	require.Equal(t, engine.Completed, w.state.Status)
}

func TestMoveIntoAnotherPhase(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]string{"another one": "q", "one of another type": "p"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stranded(t)
			visit := w.visit()
			w.becomes(t, `{"phases":[{"id":"s","type":"START"},{"id":"p","type":"PROCESS"},{"id":"q","type":"PROCESS","config":{"title":"${phases.p.by}"}},{"id":"e","type":"END"}],
				"transitions":[{"from":"s","name":"next","to":"p"},{"from":"p","name":"next","to":"q"},{"from":"q","name":"next","to":"e"}]}`)
			for _, in := range []engine.Move{{Visit: visit, PhaseID: "s"}, {Visit: visit, PhaseID: "x"}, {Visit: visit, PhaseID: p, Variables: map[string]any{"sum": 1}}} {
				require.ErrorIs(t, w.try(in), engine.ErrNoWay)
			}
			require.ErrorIs(t, w.try(engine.Move{Visit: visit - 1, PhaseID: p}), engine.ErrStale)
			w.step(engine.Move{Visit: visit, PhaseID: p, Variables: map[string]any{"p": map[string]any{"by": "hand"}}})
			require.Equal(t, engine.Skipped, w.history[visit-1].Status)
			require.Empty(t, w.history[visit-1].Transition)
			require.Equal(t, visit+1, effect[engine.OpenTask](w).Visit)
			require.Equal(t, p, w.state.Visit.PhaseID)
			require.ErrorIs(t, w.try(engine.Move{Visit: visit + 1, PhaseID: p}), engine.ErrStale, "it waits for no incident")
		})
	}
}

// What the resolution of an incident led to may be refused when it is committed: there is another incident then, of its own.
func TestStuckAgain(t *testing.T) {
	t.Parallel()
	w := stranded(t)
	attempts := w.state.Visit.Attempts
	require.ErrorIs(t, w.try(engine.Stuck{Visit: w.visit(), Code: engine.RequestConflict}), engine.ErrStale)
	w.step(engine.Stuck{Visit: w.visit(), Code: engine.RequestConflict, Message: "No.", Again: true})
	require.Equal(t, engine.RequestConflict, effect[engine.OpenIncident](w).Fault.Code)
	require.Equal(t, attempts+1, w.state.Visit.Attempts, "which tells the incidents of a visit apart")
}

package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/sla"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

var noon = time.Date(2026, 5, 22, 12, 0, 0, 0, time.UTC)

// world runs one execution without a database: what a test hands in and what came of it.
type world struct {
	t       require.TestingT
	d       *definition.Definition
	env     engine.Env
	state   engine.State
	history []engine.Visit
	effects []engine.Effect // of the last step
}

// workflow makes a definition s → p → e of a phase p with the given keys, which leaves it by the given ways.
func workflow(keys string, ways ...string) string {
	transitions := []string{`{"from":"s","name":"next","to":"p"}`}
	for _, way := range ways {
		transitions = append(transitions, fmt.Sprintf(`{"from":"p","name":%q,"to":"e"}`, way))
	}
	return fmt.Sprintf(`{"phases":[{"id":"s","type":"START"},{"id":"p",%s},{"id":"e","type":"END"}],"transitions":[%s]}`,
		keys, strings.Join(transitions, ","))
}

// newWorld begins an execution of a definition for a pending request.
func newWorld(t *testing.T, raw string) *world {
	t.Helper()
	d, faults := definition.Parse([]byte(raw))
	require.Empty(t, faults)
	w := &world{t: t, d: d, env: engine.Env{
		Now: noon, ExecutionID: "exe_1",
		Request: map[string]any{"id": "req_1", "title": "A laptop", "status": "PENDING", "fields": map[string]any{"amount": json.Number("120"), "due": "2026-05-22T13:00:00Z"}},
		Calendar: func(id string) (*sla.Calendar, error) {
			if id == "cal_ny" {
				return sla.New("America/New_York", nil, nil)
			}
			return sla.New("UTC", []sla.Hours{{Day: time.Monday, From: 540, To: 1020}}, nil)
		},
	}}
	return w.step(engine.Begin{})
}

// step hands an input in, which must be taken, and stores the state as a database would.
func (w *world) step(in engine.Input) *world {
	require.NoError(w.t, w.try(in))
	return w
}

func (w *world) try(in engine.Input) error {
	result, err := engine.Step(context.Background(), w.d, w.state, in, w.env)
	if err != nil {
		return err
	}
	for _, e := range result.Effects {
		w.carryOut(e)
	}
	w.effects, w.state = result.Effects, stored(w.t, result.State)
	for _, v := range result.History {
		if v.Number <= len(w.history) {
			w.history[v.Number-1] = v
			continue
		}
		require.Equal(w.t, len(w.history)+1, v.Number, "visits are numbered without gaps")
		w.history = append(w.history, v)
	}
	if result.More {
		return w.try(engine.Continue{Visit: w.state.Visit.Number})
	}
	return nil
}

// carryOut does to the request what a commit would.
func (w *world) carryOut(e engine.Effect) {
	switch e := e.(type) {
	case engine.ActOnRequest:
		w.env.Request["status"] = map[definition.RequestAction]string{
			definition.Accept: "IN_PROGRESS", definition.Complete: "COMPLETED", definition.Cancel: "CANCELLED",
		}[e.Action]
	case engine.SetFields:
		w.env.Request["fields"] = e.Fields
	}
}

// stored returns the state as it is read back from JSON.
func stored(t require.TestingT, s engine.State) engine.State {
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out engine.State
	require.NoError(t, dec.Decode(&out))
	return out
}

// visit is the number of the current visit.
func (w *world) visit() int { return w.state.Visit.Number }

// effect returns the only effect of its type of the last step.
func effect[E engine.Effect](w *world) E {
	var found []E
	for _, e := range w.effects {
		if one, ok := e.(E); ok {
			found = append(found, one)
		}
	}
	require.Len(w.t, found, 1)
	return found[0]
}

// replaced replaces texts: each by the one after it.
func replaced(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }

func typeOf(v any) string { return fmt.Sprintf("%T", v) }

package trial_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	"atrium/internal/workflow/trial"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// body is a JSON object.
type body = map[string]any

// line joins phases into a definition: each leads to the next one by next, besides the given transitions.
func line(phases []body, transitions ...body) body {
	for i := range phases[:len(phases)-1] {
		transitions = append(transitions, body{"from": phases[i]["id"], "name": "next", "to": phases[i+1]["id"]})
	}
	return body{"phases": phases, "transitions": transitions}
}

func phase(id, kind string, config body) body {
	p := body{"id": id, "type": kind}
	if config != nil {
		p["config"] = config
	}
	return p
}

// between puts one phase between a START and an END, to which all its ways lead.
func between(p body, ways ...string) body {
	transitions := []body{{"from": "start", "name": "next", "to": p["id"]}}
	for _, way := range ways {
		transitions = append(transitions, body{"from": p["id"], "name": way, "to": "end"})
	}
	return body{"phases": []body{phase("start", "START", nil), p, phase("end", "END", nil)}, "transitions": transitions}
}

func definitionOf(t testing.TB, d body) workflow.Definition {
	t.Helper()
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	return workflow.NewDefinition(raw)
}

// setTo returns a definition as an input has it.
func setTo(t testing.TB, d body) op.Patch[workflow.Definition] {
	t.Helper()
	return op.SetTo(definitionOf(t, d))
}

// object returns a JSON object as a door reads it.
func object(t testing.TB, v body) (out strictjson.Object) {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// run tries a definition on a sample.
func run(t testing.TB, w *testkit.World, d, fields, answers body) *trial.Result {
	t.Helper()
	return testkit.Run(t, w, w.As(w.A, principal.Owner), trial.Try, trial.Input{On: trial.On{Definition: setTo(t, d), Fields: object(t, fields), Answers: object(t, answers)}})
}

// save makes a workflow with a draft.
func save(t testing.TB, w *testkit.World, ctx context.Context, d body) *ent.Workflow {
	t.Helper()
	return testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Process", Definition: definitionOf(t, d)})
}

// path returns the phases of a result with the way out of each.
func path(r *trial.Result) (out []string) {
	for _, s := range r.Steps {
		way := ""
		if s.Transition != nil {
			way = " " + *s.Transition
		}
		out = append(out, s.PhaseID+way)
	}
	return out
}

// step returns the only step of a phase.
func step(t testing.TB, r *trial.Result, id string) *trial.Step {
	t.Helper()
	var found []*trial.Step
	for _, s := range r.Steps {
		if s.PhaseID == id {
			found = append(found, s)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// faults returns the messages of a validation error by their fields.
func faults(t testing.TB, err error) map[string]string {
	t.Helper()
	require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%v", err)
	out := map[string]string{}
	for _, d := range apperr.From(err).Details {
		out[d.Field] = d.Message
	}
	return out
}

func fields(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func person(u *ent.User) body { return body{"type": "user", "id": u.ID} }

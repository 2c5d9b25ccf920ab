package trial_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	"atrium/internal/workflow/trial"
)

// A called workflow is answered like a call: the step says which one would be started, and with what.
func TestTrialsOfCalledWorkflows(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		other := testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Other", Definition: definitionOf(t, line([]body{phase("start", "START", nil), phase("end", "END", nil)}))})
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: other.ID})
		call := body{"workflowId": other.ID, "input": body{"size": "${request.fields.size}"}}
		d := line([]body{
			phase("start", "START", nil), phase("call", "CALL_WORKFLOW", call), phase("go", "CALL_WORKFLOW", body{"workflowId": other.ID, "wait": false}),
			phase("read", "DATA", body{"kind": "enrich", "set": body{"n": "phases.call.phases.order.n", "given": "has(input.x)"}}), phase("end", "END", nil),
		})
		r := run(t, w, d, body{"size": "L"}, body{"call": body{"phases": body{"order": body{"n": 3}}}})
		require.Equal(t, "COMPLETED", r.Status)
		require.Contains(t, string(step(t, r, "call").Calls[0].Sent), `"input":{"size":"L"}`)
		require.Contains(t, string(step(t, r, "call").Calls[0].Sent), other.ID)
		require.JSONEq(t, `{"phases":{"order":{"n":3}}}`, string(step(t, r, "call").Calls[0].Answer))
		require.JSONEq(t, `{"n":3,"given":false}`, string(step(t, r, "read").Output))
		require.Len(t, step(t, r, "go").Calls, 1)

		r = run(t, w, d, nil, nil)
		require.Equal(t, []string{trial.StopAnswer, "answers.call"}, []string{r.Stopped.Reason, *r.Stopped.Answer})
		r = run(t, w, d, nil, body{"call": body{"failure": "It was sold out."}})
		require.Equal(t, trial.StopIncident, r.Stopped.Reason)
		require.Contains(t, r.Error.Message, "It was sold out.")
		_, _, err := op.Run(ctx, w.Engine, trial.Try, trial.Input{On: trial.On{Definition: setTo(t, d), Answers: object(t, body{"go": body{}, "call": body{"phases": 1}})}}, nil)
		require.Equal(t, map[string]string{"answers.call.phases": "Must be an object.", "answers.go": "Must not be given: the phase asks nobody."}, faults(t, err))

		in := trial.Input{On: trial.On{Definition: setTo(t, between(phase("read", "DATA", body{"kind": "enrich", "set": body{"n": "input.n + 1"}}), "next")), Input: object(t, body{"n": 1})}}
		r = testkit.Run(t, w, ctx, trial.Try, in)
		require.JSONEq(t, `{"n":2}`, string(step(t, r, "read").Output))
	})
}

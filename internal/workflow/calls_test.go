package workflow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

// callingEach is a definition that calls workflows one after the other.
func callingEach(ids ...string) workflow.Definition {
	phases, transitions, at := `{"id":"start","type":"START"}`, "", "start"
	for i, id := range ids {
		phases += fmt.Sprintf(`,{"id":"call%d","type":"CALL_WORKFLOW","config":{"workflowId":%q}}`, i, id)
		transitions += fmt.Sprintf(`{"from":%q,"name":"next","to":"call%d"},`, at, i)
		at = fmt.Sprint("call", i)
	}
	return workflow.NewDefinition(fmt.Appendf(nil, `{"phases":[%s,{"id":"end","type":"END"}],"transitions":[%s{"from":%q,"name":"next","to":"end"}]}`, phases, transitions, at))
}

func TestPublishingChecksWhatAWorkflowCalls(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		draft := func(name string, calls ...string) *ent.Workflow {
			return testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: name, Definition: callingEach(calls...)})
		}
		save := func(row *ent.Workflow, calls ...string) {
			testkit.Run(t, w, ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: row.ID}, Definition: op.SetTo(callingEach(calls...))})
		}
		refused := func(row *ent.Workflow, field, message string) {
			t.Helper()
			err := run(ctx, w, workflow.PublishWorkflow, op.ByID{ID: row.ID})
			require.Equal(t, []apperr.Detail{{Field: field, Message: message}}, apperr.From(err).Details)
		}
		const first = "definition.phases[call0].config.workflowId"
		foreign := create(t, w, w.B, "Foreign")
		err := run(ctx, w, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "X", Definition: callingEach(foreign.ID)})
		require.Equal(t, []apperr.Detail{{Field: first, Message: fmt.Sprintf("%q is no workflow of this company.", foreign.ID)}}, apperr.From(err).Details)

		a, b, c := draft("A"), draft("B"), draft("C")
		save(a, a.ID)
		refused(a, first, "A workflow cannot call itself.")
		save(a, b.ID)
		refused(a, first, `The workflow "B" is not published and active.`)
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: b.ID})
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: a.ID})
		save(c, a.ID)
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: c.ID})
		save(b, a.ID)
		refused(b, first, `The workflows would call one another without end: "B" → "A" → "B".`)
		save(b, c.ID)
		refused(b, first, `The workflows would call one another without end: "B" → "C" → "A" → "B".`)
		callers := func(ids ...string) (names []string) {
			for _, row := range testkit.Run(t, w, ctx, workflow.ListWorkflows, workflow.ListWorkflowsInput{CallsWorkflowID: ids}).Rows {
				names = append(names, row.Name)
			}
			return names
		}
		require.Equal(t, []string{"A"}, callers(b.ID))
		require.ElementsMatch(t, []string{"A", "C"}, callers(b.ID, a.ID))
		require.Empty(t, callers(c.ID), "B calls it in its draft alone")
		hide := policy.NewCondition([]byte(`{"resource.name": "C"}`))
		testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Workflow", Condition: &hide})
		refused(b, first, `The workflows would call one another without end: "B" → another one → "A" → "B".`)

		require.Equal(t, apperr.Conflict, apperr.CodeOf(run(ctx, w, workflow.DeleteWorkflow, op.ByID{ID: a.ID})))
		testkit.Run(t, w, ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: a.ID}, Status: op.SetTo("archived")})
		d := draft("D", a.ID)
		refused(d, first, `The workflow "A" is not published and active.`)
	})
}

func TestPublishingLimitsHowDeepWorkflowsCall(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		below := ""
		for n := 6; n >= 0; n-- {
			var calls []string
			if below != "" {
				calls = []string{below}
			}
			row := testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: fmt.Sprint("W", n), Definition: callingEach(calls...)})
			err := run(ctx, w, workflow.PublishWorkflow, op.ByID{ID: row.ID})
			if n == 0 {
				require.Equal(t, `Workflows may call one another 5 deep: "W0" → "W1" → "W2" → "W3" → "W4" → "W5" → "W6".`, apperr.From(err).Details[0].Message)
				return
			}
			require.NoError(t, err)
			below = row.ID
		}
	})
}

package execution_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/request"
	"atrium/internal/desk/catalog"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	run "atrium/internal/workflow/execution"
)

// A request that is opened again runs through no workflow unless its offering names one for that. What still ran of an earlier one ends
// then. The answer shows the new execution, and the workflow is kept as long as an offering names it.
func TestReopenedRequestsRunTheirOwnWorkflow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ends := phase("done", "END", nil)
		ends["requestAction"] = "complete"
		s := open(t, w, line([]body{phase("start", "START", nil), phase("pack", "PROCESS", nil), ends}))
		stop := s.work()
		set := func(status string) op.ByID {
			r := s.file(nil)
			s.at(r, "WAITING", "pack")
			for _, to := range []string{"IN_PROGRESS", status} {
				testkit.Run(t, w, s.ctx, domain.Update, domain.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo(to)})
			}
			return op.ByID{ID: r.ID}
		}
		done := set("COMPLETED")
		before := testkit.Run(t, w, s.ctx, domain.Get, done)
		again := testkit.Run(t, w, s.ctx, domain.Reopen, domain.ReopenInput{ByID: done})
		require.Equal(t, before.ExecutionID, again.ExecutionID, "what waited for its task goes on waiting")
		s.at(again, "WAITING", "pack")
		testkit.Run(t, w, s.ctx, domain.Update, domain.UpdateInput{ByID: done, Status: op.SetTo("COMPLETED")})

		raw, err := json.Marshal(line([]body{phase("start", "START", nil), phase("look", "PROCESS", nil), ends}))
		require.NoError(t, err)
		draft := testkit.Run(t, w, s.ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Second look", Definition: workflow.NewDefinition(raw)})
		names := func(id string) error {
			_, _, err := op.Run(s.ctx, w.Engine, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: s.offering.ID}, ReopenWorkflowID: op.SetTo(id)}, nil)
			return err
		}
		for _, id := range []string{draft.ID, "wf_00000000000000000000000000"} {
			require.Equal(t, "reopenWorkflowId", apperr.From(names(id)).Details[0].Field, "it must be a published workflow of the company")
		}
		testkit.Run(t, w, s.ctx, workflow.PublishWorkflow, op.ByID{ID: draft.ID})
		require.NoError(t, names(draft.ID))
		testkit.Refused(t, w, s.ctx, workflow.DeleteWorkflow, op.ByID{ID: draft.ID}, apperr.Conflict)

		again = testkit.Run(t, w, s.ctx, domain.Reopen, domain.ReopenInput{ByID: done})
		require.NotEqual(t, before.ExecutionID, again.ExecutionID)
		require.Equal(t, 2, again.ReopenCount)
		s.at(again, "WAITING", "look")
		s.at(before, "CANCELLED", "")
		require.Len(t, s.tasks(again, "CANCELLED"), 1)
		testkit.Run(t, w, s.ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: s.tasks(again, "OPEN")[0].ID}})
		s.at(again, "COMPLETED", "done")
		require.Equal(t, request.StatusCOMPLETED, s.request(again).Status)
		stop()
	})
}

package erasure_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/execution"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/people/erasure"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/engine"
)

// An execution that waits for one that it has called ends with it, and what it gave to that is erased.
func TestCalledExecutionsOfTheirRequests(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, who := w.As(w.A, principal.Owner), w.A.Users[principal.Agent]
		service := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		offering := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Laptop"})
		r := testkit.Run(t, w, w.AsUser(who), request.Create, request.CreateInput{ServiceID: service.ID, OfferingID: offering.ID, Title: word})
		for _, to := range []string{"IN_PROGRESS", "COMPLETED"} {
			testkit.Run(t, w, ctx, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo(to)})
		}
		var ids []string
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			flow, err := tx.Workflow.Create().SetCompanyID(who.CompanyID).SetName("W").SetSlug("w").SetDefinition(json.RawMessage("{}")).Save(ctx)
			if err != nil {
				return err
			}
			state, err := json.Marshal(engine.State{Status: engine.Waiting, Visit: &engine.Visit{Number: 1, PhaseID: "call", Attempts: 1}, Wait: &engine.Wait{For: engine.ForWorkflow, Attempt: 1}})
			if err != nil {
				return err
			}
			caller, err := tx.Execution.Create().SetCompanyID(who.CompanyID).SetWorkflowID(flow.ID).SetWorkflowVersion(1).SetRequestID(r.ID).SetTrigger(execution.TriggerRequest).
				SetStatus(execution.StatusWAITING).SetState(state).Save(ctx)
			if err != nil {
				return err
			}
			called, err := tx.Execution.Create().SetCompanyID(who.CompanyID).SetWorkflowID(flow.ID).SetWorkflowVersion(1).SetRequestID(r.ID).SetTrigger(execution.TriggerWorkflow).
				SetParentID(caller.ID).SetParentPhaseID("call").SetParentVisit(1).SetParentAttempt(1).SetRootID(caller.ID).SetDepth(1).
				SetInput(json.RawMessage(`{"title":"` + word + `"}`)).Save(ctx)
			if err != nil {
				return err
			}
			ids = []string{caller.ID, called.ID}
			return nil
		}))
		testkit.Run(t, w, ctx, people.ErasePerson, people.ErasePersonInput{UserID: who.ID, Reason: "asked by letter"})
		require.NoError(t, erasure.Erase(t.Context(), w.Engine, erasure.Args{Company: who.CompanyID, User: who.ID}))
		for _, id := range ids {
			require.Equal(t, execution.StatusCANCELLED, w.Store.Reader().Execution.GetX(ctx, id).Status)
		}
		require.Empty(t, holding(t, w, word))
	})
}

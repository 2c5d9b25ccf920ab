package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/phasevisit"
	"atrium/ent/predicate"
	"atrium/ent/workflow"
	"atrium/ent/workflowversion"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/workflow/definition"
)

// The operations behind edges of the graph. Each reads many rows at once, under the rights of
// reading a single one.
var (
	LookUp = paging.NewLookUp("execution.lookup", op.Spec{
		Resource: "Execution", Action: op.Read, Scope: "workflows:read", Summary: "Look executions up by their ids",
	}, func(tx *op.Tx) *ent.ExecutionQuery { return tx.Execution.Query() })

	// LookUpVariables returns the variables of executions, by id.
	LookUpVariables = op.New("execution.variables", op.Spec{
		Resource: "Execution", Action: op.Read, Scope: "workflows:read", Summary: "Read the variables of executions",
	}, lookUpVariables)

	// LookUpHistory returns the last visits in the histories of executions, by id.
	LookUpHistory = op.New("execution.history", op.Spec{
		Resource: "Execution", Action: op.Read, Scope: "workflows:read", Summary: "Read the histories of executions",
	}, lookUpHistory)

	// LookUpPhaseNames returns what people call the phases of executions: by the executions' ids, and by the phases'. It has none for an
	// execution of a workflow that the caller does not see.
	LookUpPhaseNames = op.New("execution.phase_names", op.Spec{
		Resource: "Execution", Action: op.Read, Scope: "workflows:read", Summary: "Read the names of the phases of executions",
	}, lookUpPhaseNames)
)

func lookUpVariables(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string]json.RawMessage, error) {
	rows, err := tx.Execution.Query().Where(execution.IDIn(in.IDs...)).WithRequest().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the executions: %w", err)
	}
	out := make(map[string]json.RawMessage, len(rows))
	for _, row := range rows {
		if out[row.ID], err = Variables(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func lookUpPhaseNames(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string]map[string]string, error) {
	rows, err := tx.Execution.Query().Where(execution.IDIn(in.IDs...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the executions: %w", err)
	}
	var ids []string
	for _, e := range rows {
		ids = append(ids, e.WorkflowID)
	}
	if ids, err = tx.Workflow.Query().Where(workflow.IDIn(ids...)).IDs(ctx); err != nil {
		return nil, fmt.Errorf("read the workflows: %w", err)
	}
	var follows []predicate.WorkflowVersion
	for _, e := range rows {
		if slices.Contains(ids, e.WorkflowID) {
			follows = append(follows, workflowversion.And(workflowversion.WorkflowID(e.WorkflowID), workflowversion.Version(e.WorkflowVersion)))
		}
	}
	if len(follows) == 0 {
		return map[string]map[string]string{}, nil
	}
	versions, err := tx.WorkflowVersion.Query().Where(workflowversion.Or(follows...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the versions: %w", err)
	}
	names := map[versionKey]map[string]string{}
	for _, v := range versions {
		if names[versionKey{v.WorkflowID, v.Version}], err = definition.PhaseNames(v.Definition); err != nil {
			return nil, err
		}
	}
	out := make(map[string]map[string]string, len(rows))
	for _, e := range rows {
		out[e.ID] = names[versionKey{e.WorkflowID, e.WorkflowVersion}]
	}
	return out, nil
}

// historySorts is the order of a history.
var historySorts = op.Sorts{"number": phasevisit.FieldNumber}

// shownTogether limits the history of each execution when several are read.
const shownTogether = 100

func lookUpHistory(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*ent.PhaseVisit, error) {
	visible, err := tx.Execution.Query().Where(execution.IDIn(in.IDs...)).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the executions: %w", err)
	}
	out := make(map[string][]*ent.PhaseVisit, len(visible))
	if len(visible) == 0 {
		return out, nil
	}
	each := shownTogether
	if len(visible) == 1 {
		each = shownVisits
	}
	of := paging.OfParents{IDs: visible}
	of.SetWindow(each, "", "-number", false)
	lists, err := paging.Children(ctx, tx, of, historySorts, phasevisit.Table, phasevisit.FieldExecutionID, tx.PhaseVisit.Query())
	if err != nil {
		return nil, err
	}
	for id, l := range lists {
		slices.Reverse(l.Rows)
		out[id] = l.Rows
	}
	return out, nil
}

package workflow

import (
	"context"

	"atrium/ent"
	"atrium/ent/workflow"
	"atrium/internal/op"
)

// LookUpWorkflows reads the workflows that edges of the graph lead to, many at once, by the same rights as a read of one.
var LookUpWorkflows = op.Lookup("workflow.lookup", op.Spec{
	Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
	Summary: "Look workflows up by their ids",
}, func(w *ent.Workflow) string { return w.ID }, func(ctx context.Context, tx *op.Tx, in op.ByIDs) ([]*ent.Workflow, error) {
	return op.Lean[ent.Workflow](tx.Workflow.Query(), in.Lean).Where(workflow.IDIn(in.IDs...)).All(ctx)
})

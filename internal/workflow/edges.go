package workflow

import (
	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/paging"
)

// LookUpWorkflows reads the workflows that edges of the graph lead to, many at once, by the same rights as a read of one.
var LookUpWorkflows = paging.NewLookUp("workflow.lookup", op.Spec{
	Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
	Summary: "Look workflows up by their ids",
}, func(tx *op.Tx) *ent.WorkflowQuery { return tx.Workflow.Query() })

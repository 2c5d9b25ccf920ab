package workflow

import (
	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// LookUpWorkflows reads many workflows at once for edges of the graph, under the rights of reading a single one.
var LookUpWorkflows = paging.NewLookUp("workflow.lookup", op.Spec{
	Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
	Summary: "Look workflows up by their ids",
}, func(tx *op.Tx) *ent.WorkflowQuery { return tx.Workflow.Query() })

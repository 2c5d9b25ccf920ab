package execution

import (
	"context"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// The operations behind subscriptions to changes: of many rows, they read those that match a filter and that the caller may
// see. A hidden row is no refusal, and leaves no audit entry.
var (
	LookUpChanged = op.New("execution.changed", op.Spec{
		Resource: "Execution", Action: op.Read, Scope: "workflows:read", Summary: "Look executions up that have changed",
	}, func(ctx context.Context, tx *op.Tx, in LookUpInput) (map[string]*ent.Execution, error) {
		return paging.LookUp(ctx, executionsOf(ctx, tx, in.ListInput), paging.ByIDs{IDs: in.IDs})
	})

	LookUpTasks = op.New("task.lookup", op.Spec{
		Resource: "Task", Action: op.Read, Scope: "requests:read", Summary: "Look tasks up that have changed",
	}, func(ctx context.Context, tx *op.Tx, in LookUpTasksInput) (map[string]*ent.Task, error) {
		return paging.LookUp(ctx, tasksOf(ctx, tx, in.ListTasksInput), paging.ByIDs{IDs: in.IDs})
	})
)

// LookUpInput names executions, and filters them as the list does. Without ids it reads nothing, but still checks the
// caller's rights and the filter.
type LookUpInput struct {
	ListInput
	IDs []string `json:"-"`
}

// LookUpTasksInput names tasks in the same way.
type LookUpTasksInput struct {
	ListTasksInput
	IDs []string `json:"-"`
}

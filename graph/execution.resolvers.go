package graph

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/desk/sla"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/workflow/engine"
	"atrium/internal/workflow/execution"
)

func (r *queryResolver) PreviewMove(ctx context.Context, id string, version int, phaseID *string) (*execution.MovePreview, error) {
	p, err := resolve.Run(ctx, r.Engine, execution.PreviewMove, execution.PreviewMoveInput{ByID: op.ByID{ID: id}, Version: version, PhaseID: op.Or(phaseID, "")})
	return &p, err
}

func (r *subscriptionResolver) ExecutionChanged(ctx context.Context, id *string, filter *execution.ListInput) (<-chan *generated.ExecutionChange, error) {
	in := execution.LookUpInput{ListInput: op.Or(filter, execution.ListInput{})}
	return watch(ctx, watched{feed.Executions, feed.Filter{ID: op.Or(id, "")}}, readable(r.Engine, id, execution.Get, func(ctx context.Context, ids, _ []string) (map[string]*ent.Execution, error) {
		in.IDs = ids
		return resolve.Run(ctx, r.Engine, execution.LookUpChanged, in)
	}), func(kind generated.ChangeKind, e *ent.Execution) *generated.ExecutionChange {
		return &generated.ExecutionChange{Change: kind, Execution: e}
	})
}

func (r *subscriptionResolver) TaskChanged(ctx context.Context, id *string, filter *execution.ListTasksInput) (<-chan *generated.TaskChange, error) {
	in := execution.LookUpTasksInput{ListTasksInput: op.Or(filter, execution.ListTasksInput{})}
	return watch(ctx, watched{feed.Tasks, feed.Filter{ID: op.Or(id, "")}}, readable(r.Engine, id, execution.GetTask, func(ctx context.Context, ids, _ []string) (map[string]*ent.Task, error) {
		in.IDs = ids
		return resolve.Run(ctx, r.Engine, execution.LookUpTasks, in)
	}), func(kind generated.ChangeKind, t *ent.Task) *generated.TaskChange {
		return &generated.TaskChange{Change: kind, Task: t}
	})
}

func (r *executionResolver) Variables(ctx context.Context, e *ent.Execution) (json.RawMessage, error) {
	return resolve.Attached(ctx, r.Engine, e, func(e *ent.Execution) string { return e.ID }, execution.LookUpVariables)
}

func (r *executionResolver) Phases(ctx context.Context, e *ent.Execution) ([]*ent.PhaseVisit, error) {
	return resolve.Attached(ctx, r.Engine, e, func(e *ent.Execution) string { return e.ID }, execution.LookUpHistory)
}

func (r *executionResolver) PhaseNames(ctx context.Context, e *ent.Execution) (map[string]string, error) {
	return resolve.Attached(ctx, r.Engine, e, func(e *ent.Execution) string { return e.ID }, execution.LookUpPhaseNames)
}

func (r *executionResolver) PhaseIds(_ context.Context, e *ent.Execution) ([]string, error) {
	return execution.Standing(e), nil
}

func (r *executionResolver) Error(_ context.Context, e *ent.Execution) (*engine.Fault, error) {
	return documentOf[*engine.Fault](e.Error)
}

func (r *phaseVisitResolver) Error(_ context.Context, v *ent.PhaseVisit) (*engine.Fault, error) {
	return documentOf[*engine.Fault](v.Error)
}

func (r *phaseVisitResolver) Transition(_ context.Context, v *ent.PhaseVisit) (*string, error) {
	return resolve.TextOrNil(v.Transition), nil
}

func (r *taskResolver) Assignee(ctx context.Context, t *ent.Task) (*ent.User, error) {
	return resolve.NamedUser(ctx, r.Engine, t, func(t *ent.Task) *string { return t.AssigneeID })
}

func (r *taskResolver) Team(ctx context.Context, t *ent.Task) (*ent.Team, error) {
	return resolve.NamedTeam(ctx, r.Engine, t, func(t *ent.Task) *string { return t.TeamID })
}

func (r *taskResolver) SLA(_ context.Context, t *ent.Task) (*sla.Standing, error) {
	return sla.StatusOf(t.SLAState, t.ResponseDueAt, t.ResolutionDueAt), nil
}

func (r *taskResolver) Shown(ctx context.Context, t *ent.Task) ([]*execution.Shown, error) {
	if len(t.Shown) > 0 { // the operation that read the row has looked it up
		return documentOf[[]*execution.Shown](t.Shown)
	}
	return resolve.Attached(ctx, r.Engine, t, func(t *ent.Task) string { return t.ID }, execution.LookUpShownByTasks)
}

func (r *approvalResolver) Shown(ctx context.Context, a *ent.Approval) ([]*execution.Shown, error) {
	if len(a.Shown) > 0 { // the operation that read the row has looked it up
		return documentOf[[]*execution.Shown](a.Shown)
	}
	return resolve.Attached(ctx, r.Engine, a, func(a *ent.Approval) string { return a.ID }, execution.LookUpShownByApprovals)
}

func (r *taskResolver) Corrections(_ context.Context, t *ent.Task) ([]*engine.Invalid, error) {
	return documentOf[[]*engine.Invalid](t.Corrections)
}

func (r *approvalResolver) Approvers(_ context.Context, a *ent.Approval) ([]*execution.Approver, error) {
	return execution.ApproversOf(a)
}

func (r *approvalResolver) Decisions(_ context.Context, a *ent.Approval) ([]*execution.Decision, error) {
	return execution.DecisionsOf(a)
}

func (r *approvalResolver) ViewerMayDecide(ctx context.Context, a *ent.Approval) (bool, error) {
	return resolve.Attached(ctx, r.Engine, a, func(a *ent.Approval) string { return a.ID }, execution.MayDecide)
}

// documentOf decodes a stored JSON document; the zero value if there is none.
func documentOf[T any](raw json.RawMessage) (v T, err error) {
	if len(raw) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("read a document: %w", err)
	}
	return v, nil
}

func (r *taskResolver) ViewerMay(ctx context.Context, t *ent.Task) ([]string, error) {
	return op.MayOn(ctx, r.Engine, t)
}

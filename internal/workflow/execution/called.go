package execution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/workflow"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// maxCalled is how many executions one may start by CALL_WORKFLOW, with those that they start in turn. Without it, a definition that calls
// another one for each item of a list, five deep, would start as many as nobody can work.
const maxCalled = 1000

// activeVersion returns the version that a workflow's next execution runs; 0 for a workflow that is not active or does not exist.
func activeVersion(ctx context.Context, db *ent.Client, id string) (int, error) {
	var published []struct {
		Version int             `json:"version"`
		Status  workflow.Status `json:"status"`
	}
	err := db.Workflow.Query().Where(workflow.ID(id)).Select(workflow.FieldVersion, workflow.FieldStatus).Scan(ctx, &published) // not the definition
	if err != nil {
		return 0, fmt.Errorf("look the workflow up: %w", err)
	}
	if len(published) != 1 || published[0].Status != workflow.StatusActive {
		return 0, nil
	}
	return published[0].Version, nil
}

// rootOf returns the execution from which calls lead to one: itself if nothing calls it.
func rootOf(row *ent.Execution) string { return op.Or(row.RootID, row.ID) }

// uncallable says why the plan cannot start an execution that a phase calls; empty if it can.
func (p *plan) uncallable(ctx context.Context, db *ent.Client, e engine.StartWorkflow) (code, message string, err error) {
	if p.row.Depth >= definition.MaxDepth {
		return engine.CallsTooDeep, fmt.Sprintf("Workflows may call one another %d deep.", definition.MaxDepth), nil
	}
	version, err := activeVersion(ctx, db, e.Phase.Calls.WorkflowID)
	if err != nil {
		return "", "", err
	}
	if version == 0 {
		return engine.WorkflowMissing, fmt.Sprintf("The workflow %s is not active.", e.Phase.Calls.WorkflowID), nil
	}
	many, err := db.Execution.Query().Where(execution.RootID(rootOf(p.row))).Offset(maxCalled - 1).Exist(ctx)
	if err != nil {
		return "", "", fmt.Errorf("count the called executions: %w", err)
	}
	if many {
		return engine.TooManyCalls, fmt.Sprintf("An execution may start %d others, with those that they start.", maxCalled), nil
	}
	return "", "", nil
}

// startWorkflow starts an execution of the workflow that a phase calls, with the request of the calling one. It returns errMoved if the
// workflow is not active any more.
func (p *plan) startWorkflow(ctx context.Context, tx *op.Tx, e engine.StartWorkflow) error {
	version, err := activeVersion(ctx, tx.Client, e.Phase.Calls.WorkflowID)
	if err != nil {
		return err
	}
	if version == 0 {
		return errMoved
	}
	input, err := encode(e.Input)
	if err != nil {
		return err
	}
	priority, err := priorityOf(ctx, tx.Client)
	if err != nil {
		return err
	}
	err = tx.Execution.Create().SetID(e.ExecutionID).SetWorkflowID(e.Phase.Calls.WorkflowID).SetWorkflowVersion(version).SetTrigger(execution.TriggerWorkflow).
		SetNillableRequestID(p.row.RequestID).SetInput(input).SetParentID(p.row.ID).SetParentPhaseID(e.Phase.ID).SetNillableParentBranch(p.branch(e.Visit)).
		SetParentVisit(e.Visit).SetParentAttempt(e.Attempt).SetRootID(rootOf(p.row)).SetDepth(p.row.Depth + 1).Exec(ctx)
	if err != nil {
		return fmt.Errorf("start the called workflow: %w", err)
	}
	if !e.Phase.Calls.Wait { // the phase goes on as soon as the execution is there
		if err := tx.Insert(ctx, StepArgs{Company: p.row.CompanyID, Execution: p.row.ID}, time.Time{}); err != nil {
			return err
		}
	}
	return tx.Insert(ctx, StepArgs{Company: p.row.CompanyID, Execution: e.ExecutionID, priority: priority}, time.Time{})
}

// branch returns the branch of a visit of the plan; nil outside of blocks.
func (p *plan) branch(visit int) *string {
	if at := p.state.At(visit); at != nil {
		return text.OrNil(at.Visit.Branch)
	}
	return nil
}

// called returns the executions that visits have started: those of waiting visits that have ended, and all of starting ones.
func (l *loaded) called(ctx context.Context, db *ent.Client, waiting, starting []int) ([]*ent.Execution, error) {
	if len(waiting)+len(starting) == 0 {
		return nil, nil
	}
	rows, err := db.Execution.Query().Where(execution.ParentID(l.row.ID), execution.Or(
		execution.And(execution.ParentVisitIn(waiting...), execution.FinishedAtNotNil()), execution.ParentVisitIn(starting...))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the called executions: %w", err)
	}
	return rows, nil
}

// returned returns the input that tells a visit how the execution stands that it has started.
func returned(v *engine.Visit, called *ent.Execution) ([]engine.Input, error) {
	s, err := readState(called.State)
	if err != nil {
		return nil, err
	}
	in := engine.Returned{Visit: v.Number, Attempt: v.Attempts, Status: engine.Status(called.Status)}
	if s.Fault != nil {
		in.Why = s.Fault.Message
	}
	if in.Status == engine.Completed {
		if in.Phases = s.Phases; in.Phases == nil {
			in.Phases = map[string]any{}
		}
	}
	return []engine.Input{in}, nil
}

// tellCaller makes the execution that has called one look at how that has ended.
func tellCaller(ctx context.Context, insert inserter, row *ent.Execution) error {
	if row.ParentID == nil {
		return nil
	}
	return insert(ctx, StepArgs{Company: row.CompanyID, Execution: *row.ParentID}, time.Time{})
}

// ender cancels executions in a transaction.
type ender struct {
	db     *ent.Client
	insert inserter
	lock   func(*ent.ExecutionQuery) *ent.ExecutionQuery
}

// enderIn returns the ender of an operation's transaction.
func enderIn(tx *op.Tx) ender {
	return ender{tx.Client, tx.Insert, func(q *ent.ExecutionQuery) *ent.ExecutionQuery { return op.Lock(tx, q) }}
}

// end cancels an execution that the transaction has locked, and those for which it waits. why is given if it is cancelled because the one
// that has called it goes on without it.
func (e ender) end(ctx context.Context, row *ent.Execution, why *engine.Fault) error {
	state, err := readState(row.State)
	if err != nil {
		return err
	}
	now := clock.From(ctx).Now()
	// Cancelling needs only the state: no definition, request or calendar.
	res, err := engine.Step(ctx, nil, state, engine.Cancel{Why: why}, engine.Env{Now: now, ExecutionID: row.ID})
	if errors.Is(err, engine.ErrStale) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cancel the execution: %w", err)
	}
	p := &plan{row: row, was: state}
	p.add(res)
	if _, err := p.write(ctx, e.db, now); err != nil {
		return err
	}
	if err := e.endCalled(ctx, row, &state, "The execution that called this one was cancelled."); err != nil {
		return err
	}
	if err := closeOpen(ctx, e.db, e.insert, row, now); err != nil {
		return err
	}
	measured.left(p)
	if why != nil {
		return nil
	}
	return tellCaller(ctx, e.insert, row)
}

// endCalled cancels the executions for which visits of an execution waited; without visits, all of them. The caller's row comes before
// those of what it calls in every transaction that locks both.
func (e ender) endCalled(ctx context.Context, row *ent.Execution, was *engine.State, why string, visits ...int) error {
	var waiting []int
	for _, at := range was.Open() {
		if at.Wait != nil && at.Wait.For == engine.ForWorkflow && (len(visits) == 0 || slices.Contains(visits, at.Visit.Number)) {
			waiting = append(waiting, at.Visit.Number)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	rows, err := e.lock(e.db.Execution.Query().Where(execution.ParentID(row.ID), execution.ParentVisitIn(waiting...), lifecycle.OpenExecutions()).
		Order(execution.ByID())).All(ctx)
	if err != nil {
		return fmt.Errorf("look for the called executions: %w", err)
	}
	for _, called := range rows {
		if err := e.end(ctx, called, &engine.Fault{Code: engine.CallerEnded, Message: why}); err != nil {
			return err
		}
	}
	return nil
}

// endWith cancels the executions of a request that was cancelled, unless that execution, cause, has cancelled the request.
func endWith(ctx context.Context, tx *store.Tx, e ender, requestID, cause string) error {
	rows, err := e.lock(tx.Execution.Query().Where(execution.RequestID(requestID), execution.IDNEQ(cause), lifecycle.OpenExecutions()).
		Order(execution.ByDepth(), execution.ByID())).All(ctx)
	if err != nil {
		return fmt.Errorf("look for the request's execution: %w", err)
	}
	for _, row := range rows {
		if row.ParentID != nil { // it may have ended with the one that has called it
			if row, err = tx.Execution.Get(ctx, row.ID); err != nil {
				return fmt.Errorf("read the called execution: %w", err)
			}
		}
		if err := e.end(ctx, row, nil); err != nil {
			return err
		}
	}
	return nil
}

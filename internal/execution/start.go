package execution

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/workflow"
	"atrium/internal/clock"
	"atrium/internal/events"
	"atrium/internal/jobs"
	domain "atrium/internal/request"
	"atrium/internal/store"
	"atrium/internal/workflow/engine"
)

// The jobs of steps wait in two queues: bulkQueue is for what one company may have thousands of at once. Few are worked there at
// a time, so that what waits in queueName finds a worker and most of the processors free.
const (
	queueName = "executions"
	bulkQueue = "executions_bulk"
)

// StepArgs is the job that makes an execution go on, as far as it can.
type StepArgs struct {
	Company   string `json:"company"`
	Execution string `json:"execution"`
	Cause     string `json:"cause,omitempty"` // the traceparent of the call that inserted it, where that is traced

	bulk     bool
	priority int // 1 (at first) to 4; 0 means 1
}

// Kind names the job.
func (StepArgs) Kind() string { return "execution_step" }

// InsertOpts put the jobs into a queue of their own. A step that fails is this node's own trouble, so it is tried for long.
func (a StepArgs) InsertOpts() river.InsertOpts {
	queue := queueName
	if a.bulk || a.priority > 2 { // 64 executions are under way
		queue = bulkQueue
	}
	return river.InsertOpts{Queue: queue, MaxAttempts: 100, Priority: a.priority}
}

// Follow returns the subscriber that starts the offering's workflow when a request is filed, ends it when the request is
// cancelled, and has those told who are accountable when it is late, all in the transaction of the event.
func Follow(queue *jobs.Queue) events.Subscriber {
	return func(ctx context.Context, tx *store.Tx, e *ent.Event) error {
		switch e.Type {
		case events.RequestCreated:
			return start(ctx, tx, queue, e.SubjectID)
		case events.RequestCancelled:
			return endWith(ctx, tx, e.SubjectID)
		case events.SLABreached:
			return followBreach(ctx, tx, queue, e)
		}
		return nil
	}
}

// start makes the execution of a new request, if its offering has a workflow that is published and active. Other requests pay
// one statement.
func start(ctx context.Context, tx *store.Tx, queue *jobs.Queue, requestID string) error {
	if ctx.Value(filing{}) != nil {
		return nil // the execution that files the request processes it
	}
	w, err := tx.Workflow.Query().Where(workflow.StatusEQ(workflow.StatusActive), workflow.VersionGT(0), processes(requestID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the offering's workflow: %w", err)
	}
	priority, err := priorityOf(ctx, tx.Client)
	if err != nil {
		return err
	}
	row, err := tx.Execution.Create().SetWorkflowID(w.ID).SetWorkflowVersion(w.Version).SetRequestID(requestID).
		SetTrigger(execution.TriggerRequest).Save(ctx)
	if err != nil {
		return fmt.Errorf("start the workflow: %w", err)
	}
	if err := domain.Link(ctx, tx.Client, requestID, row.ID); err != nil {
		return err
	}
	return queue.InsertManyTx(ctx, tx, jobs.Job{Args: StepArgs{Company: row.CompanyID, Execution: row.ID, Cause: causeOf(ctx), priority: priority}})
}

// processes matches the workflow of the request's offering.
func processes(requestID string) predicate.Workflow {
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		o, r := d.Table(offering.Table), d.Table(request.Table)
		s.Where(sql.In(s.C(workflow.FieldID), d.Select(o.C(offering.FieldWorkflowID)).From(o).Join(r).
			On(o.C(offering.FieldID), r.C(request.FieldOfferingID)).Where(sql.EQ(r.C(request.FieldID), requestID))))
	}
}

// crowds are the numbers of a company's running executions from which the first step of a further one waits behind those of
// companies that have fewer.
var crowds = []int{16, 64, 256}

// priorityOf returns the priority of the company's next first step: the more of its executions are under way, the later.
func priorityOf(ctx context.Context, db *ent.Client) (int, error) {
	for i, n := range crowds {
		more, err := db.Execution.Query().Where(running).Offset(n - 1).Exist(ctx)
		if err != nil {
			return 0, fmt.Errorf("count the company's executions: %w", err)
		}
		if !more {
			return 1 + i, nil
		}
	}
	return 1 + len(crowds), nil
}

// running matches executions that run. The value stands in the statement: given as a parameter, PostgreSQL plans for the most
// frequent one, and went through 100,000 executions that wait to find the few that run (10 s until a first task, in place of
// 10 ms).
func running(s *sql.Selector) {
	s.Where(sql.P(func(b *sql.Builder) { b.Ident(s.C(execution.FieldStatus)).WriteString(" = 'RUNNING'") }))
}

// endWith cancels the execution of a request that was cancelled, unless it was the execution that cancelled it.
func endWith(ctx context.Context, tx *store.Tx, requestID string) error {
	rows, err := store.Lock(tx, tx.Execution.Query().Where(execution.RequestID(requestID),
		execution.StatusIn(execution.StatusRUNNING, execution.StatusWAITING)).Order(execution.ByID())).All(ctx)
	if err != nil {
		return fmt.Errorf("look for the request's execution: %w", err)
	}
	for _, row := range rows {
		if row.ID == ctx.Value(committing{}) {
			continue
		}
		if err := end(ctx, tx.Client, row); err != nil {
			return err
		}
	}
	return nil
}

// committing marks the context of a commit with the execution's id: what its effects cause is not done to it again.
type committing struct{}

// end cancels an execution that the transaction has locked.
func end(ctx context.Context, db *ent.Client, row *ent.Execution) error {
	state, err := readState(row.State)
	if err != nil {
		return err
	}
	// Cancelling looks at the state alone: no definition, request or calendar.
	res, err := engine.Step(ctx, nil, state, engine.Cancel{}, engine.Env{Now: clock.From(ctx).Now(), ExecutionID: row.ID})
	if errors.Is(err, engine.ErrStale) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cancel the execution: %w", err)
	}
	p := &plan{row: row, was: state}
	p.add(res)
	if _, err := p.write(ctx, db, clock.From(ctx).Now()); err != nil {
		return err
	}
	if err := closeOpen(ctx, db, row.ID, clock.From(ctx).Now()); err != nil {
		return err
	}
	measured.left(p)
	return nil
}

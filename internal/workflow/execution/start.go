package execution

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/workflow"
	domain "atrium/internal/desk/request"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
)

// The jobs of steps wait in two queues. bulkQueue holds those of which one company may have thousands at once. Few of its jobs
// run at a time, so that jobs in queueName find a worker and most of the processors free.
const (
	queueName = "executions"
	bulkQueue = "executions_bulk"
)

// StepArgs is the job that continues an execution as far as possible.
type StepArgs struct {
	Company   string `json:"company"`
	Execution string `json:"execution"`
	Cause     string `json:"cause,omitempty"` // the traceparent of the call that inserted it, if that is traced

	bulk     bool
	priority int // 1 (first) to 4; 0 means 1
}

// Kind names the job.
func (StepArgs) Kind() string { return "execution_step" }

// InsertOpts gives the jobs queues of their own. A step fails only if this node has a problem, so it has many attempts.
func (a StepArgs) InsertOpts() river.InsertOpts {
	queue := queueName
	if a.bulk || a.priority > 2 { // 64 executions are under way
		queue = bulkQueue
	}
	return river.InsertOpts{Queue: queue, MaxAttempts: 100, Priority: a.priority}
}

// Follow returns the subscriber that starts the offering's workflow when a request is filed, cancels the execution when the request
// is cancelled, does both when it moves to another offering or is opened again where that has a workflow, and has the accountable people
// notified when the request is late, all in the transaction of the event.
func Follow(queue *jobs.Queue) events.Subscriber {
	return func(ctx context.Context, tx *store.Tx, e events.Emitted) error {
		switch e.Type {
		case events.RequestCreated:
			if e.Cause.Execution != "" || e.Cause.NoWorkflow {
				return nil // the execution that files the request processes it, or nothing does
			}
			return start(ctx, tx, queue, e.SubjectID, offering.FieldWorkflowID)
		case events.RequestReopened:
			return start(ctx, tx, queue, e.SubjectID, offering.FieldReopenWorkflowID)
		case events.RequestCancelled:
			return endWith(ctx, tx, enderOf(tx, queue), e.SubjectID, e.Cause.Execution)
		case events.RequestMoved:
			if err := endWith(ctx, tx, enderOf(tx, queue), e.SubjectID, e.Cause.Execution); err != nil {
				return err
			}
			return start(ctx, tx, queue, e.SubjectID, offering.FieldWorkflowID)
		case events.SLABreached:
			return followBreach(ctx, tx, queue, e)
		}
		return nil
	}
}

// start creates the execution of a request that was filed, moved or opened again, if its offering has a workflow in that column that is
// published and active. It cancels what may still run of an earlier one. For other requests it costs one statement.
func start(ctx context.Context, tx *store.Tx, queue *jobs.Queue, requestID, column string) error {
	w, err := tx.Workflow.Query().Where(workflow.StatusEQ(workflow.StatusActive), workflow.VersionGT(0), processes(requestID, column)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the offering's workflow: %w", err)
	}
	if column == offering.FieldReopenWorkflowID {
		if err := endWith(ctx, tx, enderOf(tx, queue), requestID, ""); err != nil {
			return err
		}
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

// processes matches the workflow that a column of the request's offering names.
func processes(requestID, column string) predicate.Workflow {
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		o, r := d.Table(offering.Table), d.Table(request.Table)
		s.Where(sql.In(s.C(workflow.FieldID), d.Select(o.C(column)).From(o).Join(r).
			On(o.C(offering.FieldID), r.C(request.FieldOfferingID)).Where(sql.EQ(r.C(request.FieldID), requestID))))
	}
}

// crowds are numbers of a company's running executions. At each of them, the first step of the company's next execution gets a
// lower priority than those of companies with fewer.
var crowds = []int{16, 64, 256}

// priorityOf returns the priority of the company's next first step: the more of its executions are running, the lower. The order is
// that of an index. Without it, PostgreSQL expected so many running executions that it read the whole table for a company with few.
func priorityOf(ctx context.Context, db *ent.Client) (int, error) {
	for i, n := range crowds {
		more, err := db.Execution.Query().Where(running).Order(execution.ByCreatedAt(), execution.ByID()).Offset(n - 1).Exist(ctx)
		if err != nil {
			return 0, fmt.Errorf("count the company's executions: %w", err)
		}
		if !more {
			return 1 + i, nil
		}
	}
	return 1 + len(crowds), nil
}

// running matches executions that run. The value stands in the statement as a literal. Given as a parameter, PostgreSQL planned
// for the most frequent status, and went through 100,000 waiting executions to find the few that run (10 s until a first task,
// instead of 10 ms).
func running(s *sql.Selector) {
	s.Where(sql.P(func(b *sql.Builder) { b.Ident(s.C(execution.FieldStatus)).WriteString(" = 'RUNNING'") }))
}

// enderOf returns the ender of a subscriber's transaction.
func enderOf(tx *store.Tx, queue *jobs.Queue) ender {
	insert := func(ctx context.Context, job river.JobArgs, at time.Time) error {
		return queue.InsertTx(ctx, tx, job, at)
	}
	return ender{tx.Client, insert, func(q *ent.ExecutionQuery) *ent.ExecutionQuery { return store.Lock(tx, q) }}
}

package phases

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	entexecution "atrium/ent/execution"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/workflow/execution"
)

// phaser works the jobs about phases: it consults agents about tasks, and informs them when a phase was left.
type phaser struct {
	river.WorkerDefaults[execution.AgentPhaseArgs]
	engine *op.Engine
}

// NextRetry is soon, because somebody waits for the opinion.
func (*phaser) NextRetry(*river.Job[execution.AgentPhaseArgs]) time.Time {
	return time.Now().Add(worker.RetryAfter)
}

// Work consults or informs the agent, by its role in the phase.
func (w *phaser) Work(ctx context.Context, job *river.Job[execution.AgentPhaseArgs]) error {
	if job.Args.Role == "informed" {
		return w.inform(ctx, job)
	}
	return w.engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		if err := consult(ctx, tx, job.Args); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// consult begins the run of an agent that is consulted about a phase's task, and schedules its end. It does nothing for a phase
// without an open task, or for an execution without a request.
func consult(ctx context.Context, tx *op.Tx, args execution.AgentPhaseArgs) error {
	t, err := tx.Task.Query().Where(task.ExecutionID(args.Execution), task.PhaseID(args.Phase), task.Visit(args.Visit),
		task.RequestIDNotNil(), lifecycle.OpenTasks()).Order(ent.Desc(task.FieldAttempt)).First(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the phase's task: %w", err)
	}
	if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(*t.RequestID))).OnlyID(ctx); err != nil { // all code locks the request first
		return fmt.Errorf("lock the task's request: %w", err)
	}
	run, err := beginAbout(ctx, tx, args.Agent, t, agentrun.TriggerConsulted)
	if err != nil || run == nil {
		return err
	}
	a, err := tx.Agent.Get(ctx, args.Agent)
	if err != nil {
		return fmt.Errorf("read the agent: %w", err)
	}
	return tx.Insert(ctx, ConsultedArgs{Company: run.CompanyID, Run: run.ID}, tx.Now(ctx).Add(consultTime(a)))
}

// consultTime is how long an agent has for an opinion.
func consultTime(a *ent.Agent) time.Duration { return time.Duration(a.ConsultMinutes) * time.Minute }

// ConsultedArgs is the job that ends the run of a consulted agent when its time is over.
type ConsultedArgs struct {
	Company string `json:"company"`
	Run     string `json:"run"`
}

// Kind names the job.
func (ConsultedArgs) Kind() string { return "agent_consulted" }

// InsertOpts puts the job into the queue of the deadlines.
func (ConsultedArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: worker.DeadlineQueue}
}

type consultEnder struct {
	river.WorkerDefaults[ConsultedArgs]
	engine *op.Engine
}

// Work hands the run over unless it has ended.
func (w *consultEnder) Work(ctx context.Context, job *river.Job[ConsultedArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		run, _, err := runs.Lock(ctx, tx, job.Args.Run)
		if err != nil && !ent.IsNotFound(err) {
			return err
		}
		if err == nil && (run.Status == agentrun.StatusQUEUED || run.Status == agentrun.StatusRUNNING) {
			if err := runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, "No opinion came in time."); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// informed is the message to an agent that is informed of a phase.
type informed struct {
	Event     string       `json:"event"` // agent.informed
	Timestamp string       `json:"timestamp"`
	Data      informedData `json:"data"`
}

type informedData struct {
	ExecutionID string  `json:"executionId"`
	RequestID   *string `json:"requestId"`
	PhaseID     string  `json:"phaseId"`
}

// inform queues the message that tells an agent's endpoint that a phase was left. It does nothing for an agent without an
// endpoint.
func (w *phaser) inform(ctx context.Context, job *river.Job[execution.AgentPhaseArgs]) error {
	args, e := job.Args, w.engine
	read := worker.Outside(ctx, e, args.Company)
	a, err := e.Store.Reader().Agent.Query().Where(onPhases, agent.ID(args.Agent), agent.StatusEQ(agent.StatusACTIVE), agent.EndpointURLNEQ("")).Only(read)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the agent: %w", err)
	}
	row, err := e.Store.Reader().Execution.Query().Where(entexecution.ID(args.Execution)).Only(read)
	if err != nil {
		return worker.Wrap("read the execution", ent.MaskNotFound(err))
	}
	body, err := json.Marshal(informed{
		Event: "agent.informed", Timestamp: e.Store.Clock().Now().UTC().Format(clock.Format),
		Data: informedData{ExecutionID: row.ID, RequestID: row.RequestID, PhaseID: args.Phase},
	})
	if err != nil {
		return fmt.Errorf("write the notice: %w", err)
	}
	return custom.QueuePush(ctx, e, job.JobRow, a, fmt.Sprintf("%s-%s-%d", row.ID, args.Phase, args.Visit), body)
}

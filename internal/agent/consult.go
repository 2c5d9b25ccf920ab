package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/ent/comment"
	entexecution "atrium/ent/execution"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/agent/interrupt"
	"atrium/internal/apperr"
	"atrium/internal/clock"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// phaser asks agents about tasks, and tells them that phases were left.
type phaser struct {
	river.WorkerDefaults[interrupt.PhaseArgs]
	runner *runner
}

// NextRetry comes soon: somebody waits for the opinion.
func (*phaser) NextRetry(*river.Job[interrupt.PhaseArgs]) time.Time {
	return time.Now().Add(retryAfter)
}

// Work does what the agent's role in the phase says. What agents do not work is left to people.
func (w *phaser) Work(ctx context.Context, job *river.Job[interrupt.PhaseArgs]) error {
	if job.Args.Role == "informed" {
		return w.inform(ctx, job)
	}
	return w.runner.engine.Work(ctx, job.Args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		if err := consult(ctx, tx, job.Args); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// consult begins the run of an agent that is asked about a phase's task, and ends it when its time is over. A phase that has no
// task, or an execution without a request, asks nobody.
func consult(ctx context.Context, tx *op.Tx, args interrupt.PhaseArgs) error {
	t, err := tx.Task.Query().Where(task.ExecutionID(args.Execution), task.PhaseID(args.Phase), task.Visit(args.Visit),
		task.RequestIDNotNil(), task.StatusIn(task.StatusOPEN, task.StatusIN_PROGRESS)).Order(ent.Desc(task.FieldAttempt)).First(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the phase's task: %w", err)
	}
	if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(*t.RequestID))).OnlyID(ctx); err != nil { // everybody locks it first
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

// consultTime is what an agent has for an opinion.
func consultTime(a *ent.Agent) time.Duration { return time.Duration(a.ConsultMinutes) * time.Minute }

// ConsultedArgs is the job that ends the run of an agent that was asked for its opinion, when its time is over.
type ConsultedArgs struct {
	Company string `json:"company"`
	Run     string `json:"run"`
}

// Kind names the job.
func (ConsultedArgs) Kind() string { return "agent_consulted" }

// InsertOpts put the job into the agents' queue.
func (ConsultedArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: interrupt.QueueName}
}

type consultEnder struct {
	river.WorkerDefaults[ConsultedArgs]
	engine *op.Engine
}

// Work ends a run that has not ended.
func (w *consultEnder) Work(ctx context.Context, job *river.Job[ConsultedArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		run, _, err := lockRun(ctx, tx, job.Args.Run)
		if err != nil && !ent.IsNotFound(err) {
			return err
		}
		if err == nil && (run.Status == agentrun.StatusQUEUED || run.Status == agentrun.StatusRUNNING) {
			if err := end(ctx, tx, run, agentrun.StatusHANDED_OVER, "No opinion came in time."); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// opine attaches the opinion of an agent that was consulted to the request, as a comment of the agent's, and ends its run. The
// opinion is the result of the last step that decided; it changes nothing, so that no approval is asked for it.
func opine(ctx context.Context, tx *op.Tx, run *ent.AgentRun, in CompleteInput) error {
	if len(in.Variables) > 0 {
		return apperr.InvalidField("variables", "must not be given by who is asked for an opinion")
	}
	steps, err := StepsOf(run)
	if err != nil {
		return err
	}
	said := ""
	for _, s := range steps {
		if s.Kind == "decide" {
			said = s.Result
		}
	}
	if said == "" {
		return apperr.New(apperr.Conflict, "An opinion is the result of a step that decides. Add that step first.")
	}
	return attach(ctx, tx, run, said, len(steps))
}

// attach writes the opinion that a step came to, and ends the run.
func attach(ctx context.Context, tx *op.Tx, run *ent.AgentRun, said string, step int) error {
	all := tx.Unfiltered(ctx, "the row that was acted on is read back")
	self, _, err := actor(ctx, tx, run)
	if err != nil {
		return err
	}
	if run.Shadow { // admins see it in the run's steps
		return end(ctx, tx, run, agentrun.StatusCOMPLETED, "")
	}
	values := map[string]any{"body": said}
	if self.Role != principal.Member { // who reads internal comments writes one
		values["visibility"] = comment.VisibilityInternal
	}
	args, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("write the comment: %w", err)
	}
	self = self.Because(principal.Cause{RunID: run.ID, Step: step})
	if err := perform(all, tx.ActingAs(self), toolComment, run.RequestID, args); err != nil {
		return err
	}
	return end(ctx, tx, run, agentrun.StatusCOMPLETED, "")
}

// informed is what an agent is sent that is informed of a phase.
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

// inform tells an agent's endpoint that a phase was left. One that does not take it is not told again.
func (w *phaser) inform(ctx context.Context, job *river.Job[interrupt.PhaseArgs]) error {
	args, e := job.Args, w.runner.engine
	read := outside(ctx, e, args.Company)
	a, err := e.Store.Reader().Agent.Query().Where(onPhases, agent.ID(args.Agent), agent.StatusEQ(agent.StatusACTIVE), agent.EndpointURLNEQ("")).Only(read)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the agent: %w", err)
	}
	row, err := e.Store.Reader().Execution.Query().Where(entexecution.ID(args.Execution)).Only(read)
	if err != nil {
		return wrap("read the execution", ent.MaskNotFound(err))
	}
	body, err := json.Marshal(informed{
		Event: "agent.informed", Timestamp: e.Store.Clock().Now().UTC().Format(clock.Format),
		Data: informedData{ExecutionID: row.ID, RequestID: row.RequestID, PhaseID: args.Phase},
	})
	if err != nil {
		return fmt.Errorf("write the notice: %w", err)
	}
	return w.runner.tell(ctx, job.JobRow, a, fmt.Sprintf("%s-%s-%d", row.ID, args.Phase, args.Visit), body)
}

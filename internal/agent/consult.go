package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/comment"
	entexecution "atrium/ent/execution"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/execution"
)

// phaser works the jobs about phases: it consults agents about tasks, and informs them when a phase was left.
type phaser struct {
	river.WorkerDefaults[execution.AgentPhaseArgs]
	runner *runner
}

// NextRetry is soon, because somebody waits for the opinion.
func (*phaser) NextRetry(*river.Job[execution.AgentPhaseArgs]) time.Time {
	return time.Now().Add(retryAfter)
}

// Work consults or informs the agent, by its role in the phase.
func (w *phaser) Work(ctx context.Context, job *river.Job[execution.AgentPhaseArgs]) error {
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
	return river.InsertOpts{Queue: deadlineQueue}
}

type consultEnder struct {
	river.WorkerDefaults[ConsultedArgs]
	engine *op.Engine
}

// Work hands the run over unless it has ended.
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

// prepareOpinion returns whether a policy makes the opinion of a consulted agent wait for a person.
func prepareOpinion(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (waits bool, err error) {
	said, _, err := lastDecision(run)
	if err != nil || said == "" {
		return false, err
	}
	self, _, err := actor(ctx, tx, run)
	if err != nil {
		return false, err
	}
	args, err := opinionOf(self, said)
	if err != nil {
		return false, err
	}
	policy, err := toolNamed(toolComment).mayUse(ctx, tx, self, subject{Request: run.Edges.Request}, args)
	return policy != "", err
}

// lastDecision returns the result of a run's last step of kind decide, and the number of its steps.
func lastDecision(run *ent.AgentRun) (said string, n int, err error) {
	steps, err := StepsOf(run)
	for _, s := range steps {
		if s.Kind == "decide" {
			said = s.Result
		}
	}
	return said, len(steps), err
}

// completeOpinion adds the opinion of a consulted agent to the request as the agent's comment, and ends its run. The opinion is the result
// of the last step of kind decide. Returns validation_error for variables, and conflict without such a step.
func completeOpinion(ctx context.Context, tx *op.Tx, run *ent.AgentRun, in CompleteInput) error {
	if len(in.Variables) > 0 {
		return apperr.InvalidField("variables", "must not be given by who is asked for an opinion")
	}
	said, n, err := lastDecision(run)
	if err != nil {
		return err
	}
	if said == "" {
		return apperr.New(apperr.Conflict, "An opinion is the result of a step that decides. Add that step first.")
	}
	waits, _ := op.Preparation[bool](tx)
	return commentOpinion(ctx, tx, run, write{Tool: toolComment, Rationale: text.Short(said, maxRationale-1), Rows: []string{}, Waits: waits}, said, n)
}

// opinionOf returns the arguments of the comment that is an agent's opinion. Agents that may read internal comments write one.
func opinionOf(self *principal.Principal, said string) (json.RawMessage, error) {
	values := map[string]any{"body": said}
	if self.Role != principal.Member {
		values["visibility"] = comment.VisibilityInternal
	}
	args, err := json.Marshal(values)
	return args, wrap("write the comment", err)
}

// saidIn returns the text of an opinion in the arguments of createComment.
func saidIn(arguments json.RawMessage) (string, error) {
	var in struct {
		Body string `json:"body"`
	}
	return in.Body, wrap("read the opinion", json.Unmarshal(arguments, &in))
}

// commentOpinion writes the opinion that came from a step as a comment, and ends the run. It needs no approval at any autonomy level,
// because it changes nothing else; where a policy requires one (w.Waits), it waits as an action. A shadow run writes no comment.
func commentOpinion(ctx context.Context, tx *op.Tx, run *ent.AgentRun, w write, said string, step int) error {
	self, _, err := actor(ctx, tx, run)
	if err != nil {
		return err
	}
	if run.Shadow { // admins see the opinion in the run's steps
		return end(ctx, tx, run, agentrun.StatusCOMPLETED, "")
	}
	if w.Arguments, err = opinionOf(self, said); err != nil {
		return err
	}
	if err := w.changing(nil); err != nil {
		return err
	}
	t, err := tx.Task.Get(tx.Unfiltered(ctx, "the task of the agent's own run"), *run.TaskID)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	if !w.Waits {
		if run, err = actNow(ctx, tx, run, self, step, w, taskVersion(t)); err != nil {
			return err
		}
		return end(ctx, tx, run, agentrun.StatusCOMPLETED, "")
	}
	if _, err := propose(ctx, tx, run, agentaction.KindACTION, step, w, run.RequestID, taskVersion(t)); err != nil {
		return err
	}
	return wrap("have the run wait", run.Update().SetStatus(agentrun.StatusWAITING).ClearLeaseUntil().Exec(ctx))
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
	return w.runner.queuePush(ctx, job.JobRow, a, fmt.Sprintf("%s-%s-%d", row.ID, args.Phase, args.Visit), body)
}

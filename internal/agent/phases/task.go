package phases

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/ent/user"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/execution"
)

// onPhases matches the published agents that work on tasks.
var onPhases = agent.And(agent.VersionGT(0), agent.TypeEQ(agent.TypeWORKFLOW_PHASE))

// tasker begins and stops the runs of tasks.
type tasker struct {
	river.WorkerDefaults[execution.AgentTaskArgs]
	engine *op.Engine
}

// NextRetry is soon, because somebody waits for the task.
func (*tasker) NextRetry(*river.Job[execution.AgentTaskArgs]) time.Time {
	return time.Now().Add(worker.RetryAfter)
}

// Work stops the runs of a task that belong to other agents than its current one, makes all proposals about a task that has ended
// stale, and begins the run of the task's agent.
func (w *tasker) Work(ctx context.Context, job *river.Job[execution.AgentTaskArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		t, err := tx.Task.Get(ctx, job.Args.Task)
		if ent.IsNotFound(err) {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return fmt.Errorf("read the task: %w", err)
		}
		if t.RequestID != nil { // all code locks the request first
			if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(*t.RequestID))).OnlyID(ctx); err != nil {
				return fmt.Errorf("lock the task's request: %w", err)
			}
		}
		if t, err = op.Lock(tx, tx.Task.Query().Where(task.ID(t.ID))).Only(ctx); err != nil {
			return fmt.Errorf("lock the task: %w", err)
		}
		worked, err := endOthers(ctx, tx, t)
		if err != nil {
			return err
		}
		if !worked && t.AgentID != nil && runs.HasTask(*t.AgentID, t) {
			if err := workOrRelease(ctx, tx, t); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// endOthers stops the runs of other agents than the task's current one, and reports whether a run of that one is open. Once the task
// has ended, nobody can apply what ended runs have proposed about it either.
func endOthers(ctx context.Context, tx *op.Tx, t *ent.Task) (worked bool, err error) {
	list, err := op.Lock(tx, tx.AgentRun.Query().Where(agentrun.TaskID(t.ID), agentrun.StatusIn(runs.Open...))).All(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the task's runs: %w", err)
	}
	for _, run := range list {
		if run.Trigger == agentrun.TriggerConsulted && lifecycle.TaskOpen(t.Status) {
			continue
		}
		if runs.HasTask(run.AgentID, t) {
			worked = true
			continue
		}
		if itself, err := completedBy(ctx, tx, run); err != nil {
			return false, err
		} else if itself { // its other actions may still be decided
			continue
		}
		if err := runs.End(ctx, tx, run, agentrun.StatusSTOPPED, runs.Reassigned); err != nil {
			return false, err
		}
	}
	if lifecycle.TaskOpen(t.Status) {
		return worked, nil
	}
	err = tx.AgentAction.Update().Where(agentaction.StatusEQ(agentaction.StatusPENDING), agentaction.HasRunWith(agentrun.TaskID(t.ID)),
		agentaction.Or(agentaction.Operation(tools.Task), agentaction.HasRunWith(agentrun.TriggerEQ(agentrun.TriggerConsulted)))).
		SetStatus(agentaction.StatusSTALE).Exec(ctx)
	return worked, worker.Wrap("make proposals about the task stale", err)
}

// completedBy reports whether the run itself has completed its task.
func completedBy(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (bool, error) {
	did, err := tx.AgentAction.Query().Where(agentaction.RunID(run.ID), agentaction.Operation(tools.Task), agentaction.StatusEQ(agentaction.StatusAPPLIED)).Exist(ctx)
	return did, worker.Wrap("look for how the task ended", err)
}

// workOrRelease begins the run of the agent that has a task. If the agent was never published, or if there is no request, it
// releases the task to people.
func workOrRelease(ctx context.Context, tx *op.Tx, t *ent.Task) error {
	can, err := tx.Agent.Query().Where(onPhases, agent.ID(*t.AgentID)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for the task's agent: %w", err)
	}
	if !can || t.RequestID == nil {
		return tx.Insert(ctx, runs.ReleaseArgs{Company: t.CompanyID, Task: t.ID}, time.Time{})
	}
	_, err = beginAbout(ctx, tx, *t.AgentID, t, agentrun.TriggerAssigned)
	return err
}

// beginAbout creates the run of an agent about a task. Returns nil if the agent does not work on phases, or was consulted about the
// task before. An agent gets a task as often as it is given to it: who calls knows that no run of it is open.
func beginAbout(ctx context.Context, tx *op.Tx, agentID string, t *ent.Task, trigger agentrun.Trigger) (*ent.AgentRun, error) {
	a, err := tx.Agent.Query().Where(onPhases, agent.ID(agentID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // people work on the task
	}
	if err != nil {
		return nil, fmt.Errorf("read the agent: %w", err)
	}
	if trigger == agentrun.TriggerConsulted {
		had, err := tx.AgentRun.Query().Where(agentrun.TaskID(t.ID), agentrun.AgentID(a.ID), agentrun.TriggerEQ(trigger)).Exist(ctx)
		if err != nil || had {
			return nil, worker.Wrap("look for the task's runs", err)
		}
	}
	s, err := settings.Published(ctx, tx.Client, a.ID, a.Version)
	if err != nil {
		return nil, err
	}
	n, err := tx.AgentRun.Query().Where(agentrun.RequestID(*t.RequestID)).Count(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the request's runs: %w", err)
	}
	run, err := tx.AgentRun.Create().SetAgentID(a.ID).SetAgentVersion(a.Version).SetRequestID(*t.RequestID).SetTaskID(t.ID).SetNumber(n + 1).
		SetTrigger(trigger).SetShadow(s.Shadow).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin a run: %w", err)
	}
	job, err := runs.JobOf(ctx, tx, run)
	if err != nil {
		return nil, err
	}
	return run, tx.Insert(ctx, job, time.Time{})
}

// releaser gives tasks to people.
type releaser struct {
	river.WorkerDefaults[runs.ReleaseArgs]
	engine *op.Engine
}

// Work gives the task to the accountable person of its phase, or else to the agent's owner, or else to an owner of the company:
// the first of them who has not left.
func (w *releaser) Work(ctx context.Context, job *river.Job[runs.ReleaseArgs]) error {
	read := worker.Outside(ctx, w.engine, job.Args.Company)
	held, a, err := taskOf(read, w.engine.Store.Reader(), job.Args)
	if err != nil || held == nil {
		return err
	}
	accountable, err := execution.AccountableFor(read, w.engine.Outside(principal.Worker(held.CompanyID, worker.Name)), held)
	if err != nil {
		return err
	}
	return w.engine.Work(ctx, held.CompanyID, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		if held.RequestID != nil {
			if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(*held.RequestID))).OnlyID(ctx); err != nil {
				return fmt.Errorf("lock the request: %w", err)
			}
		}
		to, err := firstActive(ctx, tx, accountable, op.Or(a.OwnerID, ""))
		if err != nil {
			return err
		}
		t, err := op.Lock(tx, tx.Task.Query().Where(task.ID(held.ID))).Only(ctx)
		if err != nil {
			return fmt.Errorf("read the task: %w", err)
		}
		if to != "" && runs.HasTask(a.ID, t) {
			if _, err := op.RunIn(ctx, tx, execution.AssignTask, execution.AssignTaskInput{ByID: op.ByID{ID: t.ID}, AssigneeID: &to}); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// firstActive returns the first of some users who has not left, or else the company's oldest owner who has not.
func firstActive(ctx context.Context, tx *op.Tx, ids ...string) (string, error) {
	here, err := tx.User.Query().Where(user.IDIn(ids...), access.Here()).IDs(ctx)
	if err != nil {
		return "", fmt.Errorf("look for who takes the task: %w", err)
	}
	for _, id := range ids {
		if slices.Contains(here, id) {
			return id, nil
		}
	}
	owner, err := tx.User.Query().Where(user.RoleEQ(user.RoleOwner), access.Here()).Order(user.ByCreatedAt(), user.ByID()).FirstID(ctx)
	return owner, worker.Wrap("look for an owner", ent.MaskNotFound(err))
}

// taskOf returns the task to release and the agent that has had it; nil for none.
func taskOf(ctx context.Context, db *ent.Client, args runs.ReleaseArgs) (*ent.Task, *ent.Agent, error) {
	if args.Run != "" {
		run, err := db.AgentRun.Query().Where(agentrun.ID(args.Run)).WithAgent().WithTask().Only(ctx)
		if err != nil {
			return nil, nil, worker.Wrap("read the run", ent.MaskNotFound(err))
		}
		return run.Edges.Task, run.Edges.Agent, nil
	}
	t, err := db.Task.Get(ctx, args.Task)
	if err != nil || t.AgentID == nil {
		return nil, nil, worker.Wrap("read the task", ent.MaskNotFound(err))
	}
	a, err := db.Agent.Get(ctx, *t.AgentID)
	return t, a, worker.Wrap("read the task's agent", err)
}

// Workers returns the workers of the jobs about phases.
func Workers(e *op.Engine) jobs.Option {
	return jobs.All(jobs.Work(&tasker{engine: e}), jobs.Work(&releaser{engine: e}), jobs.Work(&phaser{engine: e}), jobs.Work(&consultEnder{engine: e}))
}

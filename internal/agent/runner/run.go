package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/plans"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/text"
)

const (
	maxReason = 1000 // characters
)

// runner works the jobs that take runs to their end.
type runner struct {
	river.WorkerDefaults[runs.RunArgs]
	worker.Server
}

// NextRetry is soon, because a run must end within half a minute.
func (*runner) NextRetry(*river.Job[runs.RunArgs]) time.Time {
	return time.Now().Add(worker.RetryAfter)
}

// Work plans outside of any transaction, and ends the run and its job in one. A run whose work is refused is handed over, and one
// that keeps failing ends as FAILED.
func (w *runner) Work(ctx context.Context, job *river.Job[runs.RunArgs]) error {
	err := worker.Contain(func() error { return w.work(ctx, job) })
	as, reason := agentrun.StatusHANDED_OVER, refusedWork(err)
	switch {
	case err == nil || worker.Stopped(ctx):
		return err
	case reason != "":
	case job.Attempt < worker.MaxAttempts:
		return err
	default:
		w.Engine.Log.ErrorContext(ctx, "an agent's run failed", "error", err, "run", job.Args.Run)
		as, reason = agentrun.StatusFAILED, "The agent met an error of the platform."
	}
	return w.finish(context.WithoutCancel(ctx), job.JobRow, job.Args, "", func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, _ *ent.Request) error {
		return runs.End(ctx, tx, run, as, reason)
	})
}

// refusedWork returns the reason of a run that is handed over because an operation refused it: another attempt would be refused as
// well. It is empty for all other errors.
func refusedWork(err error) string {
	told, ok := errors.AsType[*apperr.Error](err)
	if !ok || told.Code != apperr.Forbidden && told.Code != apperr.Validation || errors.Unwrap(told) != nil {
		return "" // an error with a cause is no decision, such as of policies that could not be read
	}
	reason := "The agent was refused: " + told.Message
	for _, d := range told.Details {
		reason += fmt.Sprintf(" %s %s.", d.Field, d.Message)
	}
	return text.Short(reason, maxReason)
}

func (w *runner) work(ctx context.Context, job *river.Job[runs.RunArgs]) error {
	run, err := w.start(ctx, job)
	if err != nil || run == nil {
		return err
	}
	if run.Edges.Agent.Source == agent.SourceCUSTOM {
		return custom.PushRun(ctx, w.Engine, job.JobRow, run)
	}
	l, err := w.decider(worker.Outside(ctx, w.Engine, run.CompanyID), run)
	if err != nil {
		return err
	}
	if l.Settings.Engine == string(agent.EngineModel) && l.Self != nil {
		return w.think(ctx, job.JobRow, run)
	}
	p, err := plans.Make(l.Read, l, w.Engine.Store.Clock().Now)
	if err != nil {
		return err
	}
	return w.finish(ctx, job.JobRow, job.Args, p.Version, func(ctx context.Context, tx *op.Tx, now *ent.AgentRun, r *ent.Request) error {
		if now.Plans != run.Plans {
			return nil // it plans anew
		}
		if err := plans.KeepTurn(ctx, tx, now, 0, p.Given); err != nil {
			return err
		}
		return conclude(ctx, tx, now, r, l.Settings, p)
	})
}

// decider reads the subject and the settings of a run.
func (w *runner) decider(read context.Context, run *ent.AgentRun) (*plans.Decider, error) {
	db := w.Engine.Store.Reader()
	r, err := db.Request.Get(read, run.RequestID)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	s, err := settings.Published(read, db, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, err
	}
	about := plans.Subject{Request: r, Asked: run.Trigger == agentrun.TriggerConsulted}
	if run.TaskID != nil {
		if about.Task, err = db.Task.Get(read, *run.TaskID); err != nil {
			return nil, fmt.Errorf("read the task: %w", err)
		}
	}
	l, err := plans.NewDecider(read, w.Engine, &settings.Selected{Agent: run.Edges.Agent, Settings: s}, about)
	if err != nil {
		return nil, err
	}
	l.Earlier, err = plans.EarlierIn(read, db, run)
	return l, err
}

// start sets a run RUNNING and returns it. It completes the job and returns nil if there is nothing to do: the run has ended or
// waits for a person, or its agent is paused, in which case resuming the agent queues the run again.
func (w *runner) start(ctx context.Context, job *river.Job[runs.RunArgs]) (*ent.AgentRun, error) {
	var out *ent.AgentRun
	err := w.Engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		out = nil
		run, err := op.Lock(tx, tx.AgentRun.Query().Where(agentrun.ID(job.Args.Run))).WithAgent().Only(ctx)
		if ent.IsNotFound(err) {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return fmt.Errorf("read the run: %w", err)
		}
		idle := run.Status != agentrun.StatusQUEUED && run.Status != agentrun.StatusRUNNING
		if idle || run.Edges.Agent.Status == agent.StatusPAUSED {
			return tx.Complete(ctx, job.JobRow)
		}
		if run.Status == agentrun.StatusQUEUED {
			reason := ""
			if run.LeaseUntil == nil { // otherwise a CUSTOM agent has this plan already
				if reason, err = runs.OverBudget(ctx, tx, run); err != nil {
					return err
				}
			}
			if reason == "" && run.Edges.Agent.Source == agent.SourceCUSTOM { // of the others, planning finds it
				if self, _, err := runs.Self(ctx, tx, run); err != nil {
					return err
				} else if self == nil {
					reason = runs.NobodyAnswers
				}
			}
			if reason != "" {
				if err := runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, reason); err != nil {
					return err
				}
				return tx.Complete(ctx, job.JobRow)
			}
			if run.Edges.Agent.Source == agent.SourceCUSTOM {
				out = run
				return runs.Wait(ctx, tx, run)
			}
			edges := run.Edges
			if run, err = run.Update().SetStatus(agentrun.StatusRUNNING).AddPlans(1).Save(ctx); err != nil {
				return fmt.Errorf("start the run: %w", err)
			}
			run.Edges = edges // Ent does not copy them to the updated row
		} else if run.Edges.Agent.Source == agent.SourceCUSTOM {
			return tx.Complete(ctx, job.JobRow) // the agent works on it already
		}
		out = run
		return nil
	})
	return out, err
}

// finish runs fn on a run that is RUNNING, and completes the job in the same transaction. A run that was stopped meanwhile stays
// as it is, and so does one whose agent was paused: resuming the agent queues it again. A run whose request has changed since version is planned again.
func (w *runner) finish(ctx context.Context, job *rivertype.JobRow, args runs.RunArgs, version string,
	fn func(context.Context, *op.Tx, *ent.AgentRun, *ent.Request) error,
) error {
	return w.Engine.Work(ctx, args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		run, r, err := runs.Lock(ctx, tx, args.Run)
		if ent.IsNotFound(err) || err == nil && (run.Status != agentrun.StatusRUNNING || run.Edges.Agent.Status == agent.StatusPAUSED) {
			return tx.Complete(ctx, job)
		}
		if err != nil {
			return err
		}
		is, err := runs.RequestVersion(r)
		if err != nil {
			return err
		}
		if version != "" && is != version {
			if err := runs.PlanAnew(ctx, tx, run); err != nil {
				return err
			}
			return tx.Complete(ctx, job)
		}
		if err := fn(ctx, tx, run, r); err != nil {
			return err
		}
		return tx.Complete(ctx, job)
	})
}

// Workers returns the workers of the jobs that plan, with a limit of concurrent calls of models.
func Workers(s worker.Server, calls *worker.Limiter) jobs.Option {
	r := &runner{Server: s}
	return jobs.All(jobs.Work(r), jobs.Work(&thinker{runner: r, busy: calls}))
}

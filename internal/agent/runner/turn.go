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
	"atrium/ent/agentturn"
	"atrium/internal/agent/model"
	"atrium/internal/agent/plans"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/secret"
)

const (
	maxModelAttempts = 3 // attempts for one model call
)

// ThinkArgs is the job that makes one model call. A run has one job for each call.
type ThinkArgs struct {
	Company string `json:"company"`
	Run     string `json:"run"`
	Plan    int    `json:"plan"`
	Turn    int    `json:"turn"` // the number of the turn that the job makes, from 1
}

// Kind names the job.
func (ThinkArgs) Kind() string { return "agent_think" }

// InsertOpts puts the job into the models' queue.
func (ThinkArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: worker.ModelQueue} }

// think begins the conversation of a run, or continues it after a pause.
func (w *runner) think(ctx context.Context, job *rivertype.JobRow, run *ent.AgentRun) error {
	return w.Engine.Work(ctx, run.CompanyID, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		n, err := tx.AgentTurn.Query().Where(agentturn.RunID(run.ID), agentturn.Plan(run.Plans)).Count(ctx)
		if err != nil {
			return fmt.Errorf("count the run's turns: %w", err)
		}
		if err := tx.Insert(ctx, ThinkArgs{Company: run.CompanyID, Run: run.ID, Plan: run.Plans, Turn: max(n, 1)}, time.Time{}); err != nil {
			return err
		}
		return tx.Complete(ctx, job)
	})
}

// thinker works the jobs of model calls.
type thinker struct {
	river.WorkerDefaults[ThinkArgs]
	runner *runner
	busy   *worker.Limiter
}

// Timeout covers the time limit of a model call and 20 seconds more.
func (*thinker) Timeout(*river.Job[ThinkArgs]) time.Duration { return worker.ModelTime }

// NextRetry is soon, so that a run that cannot continue is handed over within half a minute.
func (*thinker) NextRetry(job *river.Job[ThinkArgs]) time.Time {
	return time.Now().Add(time.Duration(job.Attempt) * worker.RetryAfter)
}

// Work makes one call outside of any transaction, and stores the answer together with the next job. So a killed process repeats
// at most one call. If the model cannot be called, the run is handed over.
func (w *thinker) Work(ctx context.Context, job *river.Job[ThinkArgs]) error {
	leave, ok := w.busy.Enter(job.Args.Company)
	if !ok {
		return river.JobSnooze(worker.BusySnooze)
	}
	defer leave()
	err := worker.Contain(func() error { return w.work(ctx, job) })
	unasked, isModel := errors.AsType[*model.Error](err)
	told, isOurs := errors.AsType[*apperr.Error](err)
	reason := refusedWork(err)
	switch {
	case err == nil || worker.Stopped(ctx):
		return err
	case reason != "":
		return w.handOver(ctx, job, agentrun.StatusHANDED_OVER, reason)
	case isModel && (!unasked.Again || job.Attempt >= maxModelAttempts):
		reason = "The model could not be asked: " + unasked.Error() + "."
	case isOurs && told.Code == apperr.Conflict:
		reason = told.Message
	case job.Attempt < worker.MaxAttempts:
		return err
	default:
		w.runner.Engine.Log.ErrorContext(ctx, "an agent's run failed", "error", err, "run", job.Args.Run)
		return w.handOver(ctx, job, agentrun.StatusFAILED, "The agent met an error of the platform.")
	}
	w.runner.Engine.Log.WarnContext(ctx, "a model could not be asked", "error", err, "run", job.Args.Run)
	return w.handOver(ctx, job, agentrun.StatusHANDED_OVER, reason)
}

func (w *thinker) handOver(ctx context.Context, job *river.Job[ThinkArgs], as agentrun.Status, reason string) error {
	return w.runner.finish(context.WithoutCancel(ctx), job.JobRow, job.Args.run(), "", func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, _ *ent.Request) error {
		return runs.End(ctx, tx, run, as, reason)
	})
}

func (a ThinkArgs) run() runs.RunArgs { return runs.RunArgs{Company: a.Company, Run: a.Run} }

func (w *thinker) work(ctx context.Context, job *river.Job[ThinkArgs]) error {
	e, args := w.runner.Engine, job.Args
	read := worker.Outside(ctx, e, args.Company)
	run, err := e.Store.Reader().AgentRun.Query().Where(agentrun.ID(args.Run), agentrun.StatusEQ(agentrun.StatusRUNNING), agentrun.Plans(args.Plan)).
		WithAgent().Only(read)
	if err != nil {
		return worker.Wrap("read the run", ent.MaskNotFound(err)) // the run has ended, or plans again
	}
	if run.Edges.Agent.Status == agent.StatusPAUSED {
		return nil // the run continues when the agent is resumed
	}
	l, err := w.runner.decisionContext(read, run)
	if err != nil {
		return err
	}
	if l.Self == nil {
		return w.handOver(ctx, job, agentrun.StatusHANDED_OVER, runs.NobodyAnswers)
	}
	if may, err := l.MayRead(); err != nil {
		return err
	} else if !may {
		return w.handOver(ctx, job, agentrun.StatusHANDED_OVER, "The agent may not read this.")
	}
	version, err := l.Subject.Version()
	if err != nil {
		return err
	}
	g, turns, err := plans.TurnsOf(read, e.Store.Reader(), run.ID, run.Plans)
	if err != nil {
		return err
	}
	t, g, err := plans.NewConversation(read, l, g)
	if err != nil {
		return err
	}
	if args.Turn == 1 {
		g.Version = version
	}
	for _, n := range turns {
		t.AddExchange(n)
	}
	if len(turns) >= args.Turn {
		return nil // another job made this turn
	}
	if g.Version != "" && version != g.Version { // the model was told of another request than there is now
		return w.runner.finish(ctx, job.JobRow, args.run(), "", func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, _ *ent.Request) error {
			if run.Plans != args.Plan {
				return nil
			}
			return runs.PlanAnew(ctx, tx, run)
		})
	}
	if t.Over { // its earlier plans have used a budget up
		return w.handOver(ctx, job, agentrun.StatusHANDED_OVER, t.Reason)
	}
	at, used, err := plans.EndpointOf(read, e, w.runner.Models, l.Settings)
	if err != nil {
		return err
	}
	n, err := t.Ask(l.Read, at)
	if err != nil {
		return err
	}
	t.AddExchange(n)
	return w.runner.finish(ctx, job.JobRow, args.run(), "", func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request) error {
		if run.Plans != args.Plan {
			return nil
		}
		if args.Turn == 1 {
			if err := plans.KeepTurn(ctx, tx, run, 0, g); err != nil {
				return err
			}
		}
		if err := plans.KeepTurn(ctx, tx, run, args.Turn, n); err != nil {
			return err
		}
		now := tx.Now(ctx)
		if err := secret.TouchLastUsed(ctx, tx.Client, secret.DueForTouch(used, now), now); err != nil {
			return err
		}
		p := t.Plan(g.Version, g)
		is, err := runs.RequestVersion(r)
		if err != nil {
			return err
		}
		changed := g.Version != "" && is != g.Version
		if t.Over && !changed {
			return conclude(ctx, tx, run, r, l.Settings, p)
		}
		if _, err := keepSteps(ctx, run, p); err != nil { // the answer has cost something in any case
			return err
		}
		if changed {
			return runs.PlanAnew(ctx, tx, run)
		}
		next := args // the function may run again
		next.Turn++
		return tx.Insert(ctx, next, time.Time{})
	})
}

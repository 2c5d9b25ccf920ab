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

// work makes a turn in four steps. A step that ends the job itself returns done.
func (w *thinker) work(ctx context.Context, job *river.Job[ThinkArgs]) error {
	t := &turn{thinker: w, job: job}
	for _, step := range []func(context.Context) (done bool, err error){t.read, t.resume, t.ask, t.keep} {
		if done, err := step(ctx); done || err != nil {
			return err
		}
	}
	return nil
}

// turn is one call of a model for a run.
type turn struct {
	*thinker
	job     *river.Job[ThinkArgs]
	run     *ent.AgentRun
	decider *plans.Decider
	version string      // of the request now
	input   plans.Input // of the run's plan
	talk    *plans.Conversation
	made    plans.Exchange
	used    []secret.Opened // by the call
}

// outside returns the context in which the turn reads.
func (t *turn) outside(ctx context.Context) context.Context {
	return worker.Outside(ctx, t.runner.Engine, t.job.Args.Company)
}

// read reads the run and what it is about. It ends the job if the run is not to be worked now, or if its agent may not read this.
func (t *turn) read(ctx context.Context) (done bool, err error) {
	args, read := t.job.Args, t.outside(ctx)
	t.run, err = t.runner.Engine.Store.Reader().AgentRun.Query().
		Where(agentrun.ID(args.Run), agentrun.StatusEQ(agentrun.StatusRUNNING), agentrun.Plans(args.Plan)).WithAgent().Only(read)
	if err != nil {
		return true, worker.Wrap("read the run", ent.MaskNotFound(err)) // the run has ended, or plans again
	}
	if t.run.Edges.Agent.Status == agent.StatusPAUSED {
		return true, nil // the run continues when the agent is resumed
	}
	if t.decider, err = t.runner.decider(read, t.run); err != nil {
		return true, err
	}
	if t.decider.Self == nil {
		return true, t.handOver(ctx, t.job, agentrun.StatusHANDED_OVER, runs.NobodyAnswers)
	}
	if may, err := t.decider.MayRead(); err != nil {
		return true, err
	} else if !may {
		return true, t.handOver(ctx, t.job, agentrun.StatusHANDED_OVER, "The agent may not read this.")
	}
	t.version, err = t.decider.Subject.Version()
	return false, err
}

// resume rebuilds the conversation from the run's turns. It ends the job if another one has made this turn, if the request has
// changed since, and if a budget is used up.
func (t *turn) resume(ctx context.Context) (done bool, err error) {
	read := t.outside(ctx)
	recorded, turns, err := plans.TurnsOf(read, t.runner.Engine.Store.Reader(), t.run.ID, t.run.Plans)
	if err != nil {
		return true, err
	}
	if t.talk, t.input, err = plans.NewConversation(read, t.decider, recorded); err != nil {
		return true, err
	}
	if t.job.Args.Turn == 1 {
		t.input.Version = t.version
	}
	for _, n := range turns {
		t.talk.AddExchange(n)
	}
	switch {
	case len(turns) >= t.job.Args.Turn:
		return true, nil // another job made this turn
	case t.input.Version != "" && t.version != t.input.Version: // the model was told of another request than there is now
		return true, t.finish(ctx, func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, _ *ent.Request) error {
			return runs.PlanAnew(ctx, tx, run)
		})
	case t.talk.Over: // its earlier plans have used a budget up
		return true, t.handOver(ctx, t.job, agentrun.StatusHANDED_OVER, t.talk.Reason)
	}
	return false, nil
}

// ask calls the model, outside of any transaction.
func (t *turn) ask(ctx context.Context) (done bool, err error) {
	at, used, err := plans.EndpointOf(t.outside(ctx), t.runner.Engine, t.runner.Models, t.decider.Settings)
	if err != nil {
		return true, err
	}
	t.used = used
	if t.made, err = t.talk.Ask(t.decider.Read, at); err != nil {
		return true, err
	}
	t.talk.AddExchange(t.made)
	return false, nil
}

// keep stores the turn with what follows from it, in the transaction that ends the job.
func (t *turn) keep(ctx context.Context) (done bool, err error) { return true, t.finish(ctx, t.store) }

// finish runs fn on the run unless it plans anew, in the transaction that ends the job.
func (t *turn) finish(ctx context.Context, fn func(context.Context, *op.Tx, *ent.AgentRun, *ent.Request) error) error {
	return t.runner.finish(ctx, t.job.JobRow, t.job.Args.run(), "", func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request) error {
		if run.Plans != t.job.Args.Plan {
			return nil
		}
		return fn(ctx, tx, run, r)
	})
}

// store keeps the turn, and concludes the run, plans it anew, or inserts the job of its next turn.
func (t *turn) store(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request) error {
	if t.job.Args.Turn == 1 {
		if err := plans.KeepTurn(ctx, tx, run, 0, t.input); err != nil {
			return err
		}
	}
	if err := plans.KeepTurn(ctx, tx, run, t.job.Args.Turn, t.made); err != nil {
		return err
	}
	now := tx.Now(ctx)
	if err := secret.TouchLastUsed(ctx, tx.Client, secret.DueForTouch(t.used, now), now); err != nil {
		return err
	}
	p := t.talk.Plan(t.input.Version, t.input)
	is, err := runs.RequestVersion(r)
	if err != nil {
		return err
	}
	changed := t.input.Version != "" && is != t.input.Version
	if t.talk.Over && !changed {
		return conclude(ctx, tx, run, r, t.decider.Settings, p)
	}
	if _, err := keepSteps(ctx, run, p); err != nil { // the answer has cost something in any case
		return err
	}
	if changed {
		return runs.PlanAnew(ctx, tx, run)
	}
	next := t.job.Args
	next.Turn++
	return tx.Insert(ctx, next, time.Time{})
}

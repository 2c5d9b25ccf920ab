package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/execution"
)

const (
	workerName  = "agents"
	workers     = 4 // workers of the agents' queue on each node
	enders      = 2 // workers of the queue of the deadlines on each node
	maxAttempts = 4 // for a run that fails with an error
	retryAfter  = time.Second
	answerTime  = 72 * time.Hour // that people have to decide about an action
	maxReason   = 1000           // characters
)

// Queues lists the queues of the agents' jobs, which wait where no node works agents' runs.
var Queues = slices.Collect(maps.Keys(workersOf))

// workersOf is how many workers each queue has on a node.
var workersOf = map[string]int{execution.AgentQueue: workers, deadlineQueue: enders, thinkQueue: thinkers, pushQueue: pushers}

// Work registers the workers of the agents' jobs. out sends pushes to CUSTOM agents; nil sends none.
func (d *Door) Work(out Caller) jobs.Option {
	options := []jobs.Option{d.Know(out)}
	for name, n := range workersOf {
		options = append(options, jobs.NamedQueue(name, n))
	}
	return jobs.All(options...)
}

// Know registers the kinds of the agents' jobs, for a node that works none of them.
func (d *Door) Know(out Caller) jobs.Option {
	e := d.engine
	r, b := &runner{engine: e, out: out, models: d.models}, &companyLimiter{}
	return jobs.All(
		jobs.Work(&thinker{runner: r, busy: b}), jobs.Work(&evaluator{runner: r, busy: b}),
		jobs.Work(&intake{engine: e}), jobs.Work(r), jobs.Work(&phaser{runner: r}), jobs.Work(&consultEnder{engine: e}), jobs.Work(&expirer{engine: e}), jobs.Work(&leaser{engine: e}),
		jobs.Work(&tasker{engine: e}), jobs.Work(&releaser{engine: e}), jobs.Work(&pusher{runner: r, busy: &companyLimiter{}}))
}

// outside returns the context in which a worker reads outside of transactions.
func outside(ctx context.Context, e *op.Engine, company string) context.Context {
	return clock.With(principal.With(ctx, principal.Worker(company, workerName)), e.Store.Clock())
}

// intake works the jobs that find the agent for a new request.
type intake struct {
	river.WorkerDefaults[IntakeArgs]
	engine *op.Engine
}

// NextRetry is soon, because somebody waits for the request.
func (*intake) NextRetry(*river.Job[IntakeArgs]) time.Time { return time.Now().Add(retryAfter) }

// Work begins the run and completes the job in one transaction.
func (w *intake) Work(ctx context.Context, job *river.Job[IntakeArgs]) error {
	a := job.Args
	read := outside(ctx, w.engine, a.Company)
	r, err := w.engine.Store.Reader().Request.Get(read, a.Request)
	if err != nil {
		return wrap("read the request", ent.MaskNotFound(err))
	}
	c, err := choose(read, w.engine.Store.Reader(), r)
	if err != nil || c == nil {
		return err
	}
	return w.engine.Work(ctx, a.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(r.ID))).OnlyID(ctx); err != nil {
			return fmt.Errorf("lock the request: %w", err)
		}
		begun, err := tx.AgentRun.Query().Where(agentrun.RequestID(r.ID)).Exist(ctx)
		if err != nil {
			return fmt.Errorf("look for the request's runs: %w", err)
		}
		if !begun {
			if _, err := begin(ctx, tx, c, r, agentrun.TriggerCreated); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// runner works the jobs that take runs to their end.
type runner struct {
	river.WorkerDefaults[RunArgs]
	engine *op.Engine
	out    Caller
	models Models
}

// NextRetry is soon, because a run must end within half a minute.
func (*runner) NextRetry(*river.Job[RunArgs]) time.Time { return time.Now().Add(retryAfter) }

// Work plans outside of any transaction, and ends the run and its job in one. A run whose work is refused is handed over, and one
// that keeps failing ends as FAILED.
func (w *runner) Work(ctx context.Context, job *river.Job[RunArgs]) error {
	err := contained(func() error { return w.work(ctx, job) })
	as, reason := agentrun.StatusHANDED_OVER, refusedWork(err)
	switch {
	case err == nil || stopped(ctx):
		return err
	case reason != "":
	case job.Attempt < maxAttempts:
		return err
	default:
		w.engine.Log.ErrorContext(ctx, "an agent's run failed", "error", err, "run", job.Args.Run)
		as, reason = agentrun.StatusFAILED, "The agent met an error of the platform."
	}
	return w.finish(context.WithoutCancel(ctx), job.JobRow, job.Args, "", func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, _ *ent.Request) error {
		return end(ctx, tx, run, as, reason)
	})
}

// contained returns what work returns, or an error for a panic in it: a run that panics ends like one that keeps failing.
func contained(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return work()
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
	return text.Short(reason, maxReason-1)
}

// stopped reports whether a job ends because its process stops, so that another node continues it. A job that exceeded its
// timeout has failed, and must still record that.
func stopped(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

func (w *runner) work(ctx context.Context, job *river.Job[RunArgs]) error {
	run, err := w.start(ctx, job)
	if err != nil || run == nil {
		return err
	}
	if run.Edges.Agent.Source == agent.SourceCUSTOM {
		return w.pushRun(ctx, job.JobRow, run)
	}
	l, err := w.decisionContext(outside(ctx, w.engine, run.CompanyID), run)
	if err != nil {
		return err
	}
	if l.settings.Engine == string(agent.EngineModel) && l.self != nil {
		return w.think(ctx, job.JobRow, run)
	}
	p, err := makePlan(l.read, l, w.engine.Store.Clock().Now)
	if err != nil {
		return err
	}
	return w.finish(ctx, job.JobRow, job.Args, p.version, func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request) error {
		if err := keepTurn(ctx, tx, run, 0, p.given); err != nil {
			return err
		}
		return conclude(ctx, tx, run, r, l.settings, p)
	})
}

// decisionContext reads the subject and the settings of a run.
func (w *runner) decisionContext(read context.Context, run *ent.AgentRun) (*decisionContext, error) {
	db := w.engine.Store.Reader()
	r, err := db.Request.Get(read, run.RequestID)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	s, err := published(read, db, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, err
	}
	about := subject{Request: r, asked: run.Trigger == agentrun.TriggerConsulted}
	if run.TaskID != nil {
		if about.task, err = db.Task.Get(read, *run.TaskID); err != nil {
			return nil, fmt.Errorf("read the task: %w", err)
		}
	}
	l, err := newDecisionContext(read, w.engine, &selectedAgent{run.Edges.Agent, s}, about)
	if err != nil {
		return nil, err
	}
	l.earlier, err = earlierIn(read, db, run)
	return l, err
}

// start sets a run RUNNING and returns it. It completes the job and returns nil if there is nothing to do: the run has ended or
// waits for a person, or its agent is paused, in which case resuming the agent queues the run again.
func (w *runner) start(ctx context.Context, job *river.Job[RunArgs]) (*ent.AgentRun, error) {
	var out *ent.AgentRun
	err := w.engine.Work(ctx, job.Args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
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
				if reason, err = overBudget(ctx, tx, run); err != nil {
					return err
				}
			}
			if reason == "" && run.Edges.Agent.Source == agent.SourceCUSTOM { // of the others, planning finds it
				if self, _, err := selfOf(ctx, tx, run); err != nil {
					return err
				} else if self == nil {
					reason = nobodyAnswers
				}
			}
			if reason != "" {
				if err := end(ctx, tx, run, agentrun.StatusHANDED_OVER, reason); err != nil {
					return err
				}
				return tx.Complete(ctx, job.JobRow)
			}
			if run.Edges.Agent.Source == agent.SourceCUSTOM {
				out = run
				return wait(ctx, tx, run)
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

// wait starts the lease in which a CUSTOM agent must make its first call: shorter after a push than for an agent that polls. A
// job that runs again after its node died pushes again but does not extend the lease.
func wait(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if run.LeaseUntil != nil && tx.Now(ctx).Before(*run.LeaseUntil) {
		return nil
	}
	until := tx.Now(ctx).Add(leaseTime)
	if run.Edges.Agent.EndpointURL != "" {
		until = tx.Now(ctx).Add(firstCallTimeout)
	}
	u := run.Update().SetLeaseUntil(until)
	if run.LeaseUntil == nil { // a run that waited for a paused agent begins the same plan again
		u.AddPlans(1)
		run.Plans++
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("have the run wait for its agent: %w", err)
	}
	return tx.Insert(ctx, LeaseArgs{Company: run.CompanyID, Run: run.ID}, until)
}

// finish runs fn on a run that is RUNNING, and completes the job in the same transaction. A run that was stopped meanwhile stays
// as it is, and so does one whose agent was paused: resuming the agent queues it again. A run whose request has changed since version is planned again.
func (w *runner) finish(ctx context.Context, job *rivertype.JobRow, args RunArgs, version string,
	fn func(context.Context, *op.Tx, *ent.AgentRun, *ent.Request) error,
) error {
	return w.engine.Work(ctx, args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		run, r, err := lockRun(ctx, tx, args.Run)
		if ent.IsNotFound(err) || err == nil && (run.Status != agentrun.StatusRUNNING || run.Edges.Agent.Status == agent.StatusPAUSED) {
			return tx.Complete(ctx, job)
		}
		if err != nil {
			return err
		}
		is, err := requestVersion(r)
		if err != nil {
			return err
		}
		if version != "" && is != version {
			if err := planAnew(ctx, tx, run); err != nil {
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

// planAnew queues a run again whose request has changed since it was planned.
func planAnew(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if err := run.Update().SetStatus(agentrun.StatusQUEUED).Exec(ctx); err != nil {
		return fmt.Errorf("have the run plan anew: %w", err)
	}
	return tx.Insert(ctx, RunArgs{Company: run.CompanyID, Run: run.ID}, time.Time{})
}

// lockRun holds the agent of a run as it is, and locks the run after its request. All code locks the three in this order. The run
// comes with its agent. Writes of many runs hold an agent together; pausing it waits for them, and those that follow see it PAUSED.
func lockRun(ctx context.Context, tx *op.Tx, id string) (*ent.AgentRun, *ent.Request, error) {
	ctx = tx.Unfiltered(ctx, "a run is locked together with its request")
	run, err := tx.AgentRun.Query().Where(agentrun.ID(id)).Only(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, err := op.Share(tx, tx.Agent.Query().Where(agent.ID(run.AgentID))).Only(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("hold the run's agent: %w", err)
	}
	r, err := op.Lock(tx, tx.Request.Query().Where(request.ID(run.RequestID))).Only(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the request: %w", err)
	}
	if run, err = op.Lock(tx, tx.AgentRun.Query().Where(agentrun.ID(id))).Only(ctx); err != nil {
		return nil, nil, err
	}
	run.Edges.Agent = a
	return run, r, nil
}

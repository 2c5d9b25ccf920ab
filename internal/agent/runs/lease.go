package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
)

// Workers returns the workers of the jobs that begin runs and end their leases.
func Workers(e *op.Engine) jobs.Option {
	return jobs.All(jobs.Work(&intake{engine: e}), jobs.Work(&leaser{engine: e}))
}

// LeaseArgs is the job that checks whether the lease of a run has expired.
type LeaseArgs struct {
	Company string `json:"company"`
	Run     string `json:"run"`

	Plan int       `json:"plan,omitempty"` // of a claimed run: the plan, whose minutes are over at End
	End  time.Time `json:"end,omitzero"`
}

// Kind names the job.
func (LeaseArgs) Kind() string { return "agent_lease" }

// InsertOpts puts the job into the queue of the deadlines.
func (LeaseArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: worker.DeadlineQueue}
}

// leaser ends expired leases.
type leaser struct {
	river.WorkerDefaults[LeaseArgs]
	engine *op.Engine
}

// Work hands a run over whose lease has expired or whose minutes are over, and inserts itself again for a renewed lease.
func (w *leaser) Work(ctx context.Context, job *river.Job[LeaseArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		run, _, err := Lock(ctx, tx, job.Args.Run)
		if ent.IsNotFound(err) {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return err
		}
		args := job.Args
		if args.Plan != 0 && args.Plan != run.Plans {
			return tx.Complete(ctx, job.JobRow) // each plan has a job of its own
		}
		if leased := run.Status == agentrun.StatusQUEUED || run.Status == agentrun.StatusRUNNING; !leased || run.LeaseUntil == nil {
			return tx.Complete(ctx, job.JobRow)
		}
		now := tx.Now(ctx)
		ends := !args.End.IsZero()
		switch {
		case run.Edges.Agent.Status == agent.StatusPAUSED: // the run continues when the agent is resumed
			if ends {
				args.End = args.End.Add(LeaseTime)
			}
			err = tx.Insert(ctx, args, now.Add(LeaseTime))
		case ends && !now.Before(args.End):
			err = End(ctx, tx, run, agentrun.StatusHANDED_OVER, "The agent has had the minutes of the run.")
		case now.Before(*run.LeaseUntil):
			next := *run.LeaseUntil
			if ends && args.End.Before(next) {
				next = args.End
			}
			err = tx.Insert(ctx, args, next)
		case run.Status == agentrun.StatusQUEUED:
			err = End(ctx, tx, run, agentrun.StatusHANDED_OVER, "UNRESPONSIVE: nothing was heard of the agent in time.")
		default:
			err = End(ctx, tx, run, agentrun.StatusHANDED_OVER, "Nothing was heard of the agent for five minutes.")
		}
		if err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// Wait starts the lease in which a CUSTOM agent must make its first call: shorter after a push than for an agent that polls. A
// job that runs again after its node died pushes again but does not extend the lease.
func Wait(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if run.LeaseUntil != nil && tx.Now(ctx).Before(*run.LeaseUntil) {
		return nil
	}
	until := tx.Now(ctx).Add(LeaseTime)
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

// LeaseTime is how long a run of a CUSTOM agent goes on without a call.
const LeaseTime = 5 * time.Minute // renewed by any call of a run, while its minutes last

const renewAfter = 20 * time.Second // a lease is not written again until it has lost this much

const firstCallTimeout = 10 * time.Second // the first call after a push

// RenewLease renews the lease of a run that its agent works on.
func RenewLease(ctx context.Context, e *op.Engine, run *ent.AgentRun) error {
	now := e.Store.Clock().Now()
	if run.Status != agentrun.StatusRUNNING || run.LeaseUntil == nil || run.LeaseUntil.Sub(now) > LeaseTime-renewAfter {
		return nil
	}
	err := e.Work(ctx, run.CompanyID, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		return tx.AgentRun.Update().Where(agentrun.ID(run.ID), agentrun.StatusEQ(agentrun.StatusRUNNING)).
			SetLeaseUntil(tx.Now(ctx).Add(LeaseTime)).Exec(ctx)
	})
	return worker.Wrap("renew the run's lease", err)
}

// Resume renews the leases of an agent's open runs and queues them again: their jobs ended without effect while it was paused.
func Resume(ctx context.Context, tx *op.Tx, a *ent.Agent) error {
	ctx = tx.Unfiltered(ctx, "runs go on whether or not the caller sees them")
	err := tx.AgentRun.Update().Where(agentrun.AgentID(a.ID), unfinished, agentrun.LeaseUntilNotNil()).
		SetLeaseUntil(tx.Now(ctx).Add(LeaseTime)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("renew the leases: %w", err)
	}
	ids, err := tx.AgentRun.Query().Where(agentrun.AgentID(a.ID), unfinished).Order(agentrun.ByID()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look for runs that wait: %w", err)
	}
	for i, id := range ids {
		if err := tx.Insert(ctx, RunArgs{Company: a.CompanyID, Run: id, Priority: priorityAfter(i)}, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// unfinished selects the runs that a job works on, or will.
var unfinished = agentrun.StatusIn(agentrun.StatusQUEUED, agentrun.StatusRUNNING)

package actions

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
)

// ExpiryArgs is the job that expires an action without a decision.
type ExpiryArgs struct {
	Company string `json:"company"`
	Action  string `json:"action"`
}

// Kind names the job.
func (ExpiryArgs) Kind() string { return "agent_expiry" }

// InsertOpts puts the job into the queue of the deadlines.
func (ExpiryArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: worker.DeadlineQueue}
}

// expirer works the jobs that expire actions.
type expirer struct {
	river.WorkerDefaults[ExpiryArgs]
	engine *op.Engine
}

// Work expires an action without a decision, and hands its run over.
func (w *expirer) Work(ctx context.Context, job *river.Job[ExpiryArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		a, run, _, err := lockAction(ctx, tx, job.Args.Action)
		if ent.IsNotFound(err) || err == nil && a.Status != agentaction.StatusPENDING {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return err
		}
		if err := a.Update().SetStatus(agentaction.StatusEXPIRED).Exec(ctx); err != nil {
			return fmt.Errorf("expire the action: %w", err)
		}
		if err := runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, "Nobody decided within 72 hours."); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// Workers returns the worker of the jobs that expire actions.
func Workers(e *op.Engine) jobs.Option { return jobs.Work(&expirer{engine: e}) }

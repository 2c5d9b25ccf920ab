package webhook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/principal"
)

const (
	workerName  = "webhook deliveries" // in audit entries
	loadTimeout = 10 * time.Second

	unsent = "not sent: "         // begins the error of a job that certainly called no receiver
	early  = 5 * time.Millisecond // by which a job may come before the moment that its delivery names
)

// worker performs the jobs of attempts.
type worker struct {
	river.WorkerDefaults[AttemptArgs]
	d *Dispatcher
}

// Work makes one attempt. It snoozes while the receiver has as many under way as it may. It returns an error only for what is
// this node's own doing: the job is tried again then, and the schedule of the delivery stays as it is.
func (w *worker) Work(ctx context.Context, job *river.Job[AttemptArgs]) error {
	d := w.d
	leave, wait := d.limits.enter(ctx, job.Args.Subscription)
	if wait > 0 {
		d.metrics.snoozed.Inc()
		return river.JobSnooze(wait)
	}
	called := false
	defer func() { leave(called) }() // after the record: what a crash can repeat is bounded by the limit as well
	ctx = principal.With(ctx, principal.Worker(job.Args.Company, workerName))
	row, err := d.load(ctx, job.Args)
	if err != nil {
		d.Log.WarnContext(ctx, "a delivery could not be attempted", "delivery", job.Args.Delivery, "error", err)
		return fmt.Errorf(unsent+"%w", err)
	}
	if row == nil {
		return nil
	}
	if wait := row.NextAttemptAt.Sub(d.Store.Clock().Now()); wait > early {
		return river.JobSnooze(wait)
	}
	r, err := d.send(ctx, row)
	if err != nil {
		d.Log.WarnContext(ctx, "a delivery could not be attempted", "delivery", job.Args.Delivery, "error", err)
		return fmt.Errorf(unsent+"attempt %s: %w", row.ID, err)
	}
	called = r.verdict != disabled && r.verdict != concealed
	outcome, err := d.record(context.WithoutCancel(ctx), &attempt{args: job.Args, subscription: row.Edges.Subscription, report: r, lost: d.lost(job)})
	if err != nil {
		d.Log.ErrorContext(ctx, "an attempt was made but could not be recorded: it will be repeated", "delivery", job.Args.Delivery, "error", err)
		return fmt.Errorf("record an attempt at %s: %w", row.ID, err)
	}
	d.metrics.attempted(r, outcome, row.CreatedAt, job.Args)
	return nil
}

// load reads a delivery with its subscription and event. It returns nil for one that is not to be attempted by this job any
// more: it was deleted with its subscription, another job has made the attempt, or it is settled.
func (d *Dispatcher) load(ctx context.Context, args AttemptArgs) (*ent.WebhookDelivery, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	rows, err := d.Store.Reader().WebhookDelivery.Query().Where(webhookdelivery.ID(args.Delivery)).WithSubscription().WithSource().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the delivery %s: %w", args.Delivery, err)
	}
	if len(rows) == 0 || rows[0].Edges.Subscription == nil || rows[0].Edges.Source == nil { // or deleted between the reads
		return nil, nil // nothing is to be attempted
	}
	before, err := AttemptsOf(rows[0])
	if err != nil || stale(args, rows[0], before) {
		return nil, err
	}
	return rows[0], nil
}

// stale reports whether a job's attempt has been made or has become needless: its delivery has had so many, or is settled.
func stale(args AttemptArgs, row *ent.WebhookDelivery, attempts []Attempt) bool {
	return row.Outcome != webhookdelivery.OutcomePENDING || row.NextAttemptAt == nil || len(attempts) >= args.Attempt
}

// lost returns the attempts that the job's earlier runs may have made and nobody wrote down: their node died or could not
// reach the database. An error that does not say that nothing was sent counts as one.
func (d *Dispatcher) lost(job *river.Job[AttemptArgs]) []Attempt {
	var list []Attempt
	for _, e := range job.Errors {
		if !strings.HasPrefix(e.Error, unsent) {
			at := e.At.Add(d.Store.Clock().Offset()).UTC().Truncate(time.Millisecond)
			list = append(list, Attempt{At: at, Error: new(textInterrupted), Step: job.Args.Step})
		}
	}
	return list
}

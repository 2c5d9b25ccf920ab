package webhook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/platform/principal"
)

const (
	workerName  = "webhook deliveries" // in audit entries
	loadTimeout = 10 * time.Second

	unsent = "not sent: "         // begins the error of a job that certainly called no receiver
	early  = 5 * time.Millisecond // how much earlier than its delivery's nextAttemptAt a job may run
)

// worker performs the jobs of attempts.
type worker struct {
	river.WorkerDefaults[AttemptArgs]
	d *Dispatcher
}

// Work makes one attempt. It snoozes while the receiver's limit is reached, and while an earlier event of the same resource has not
// been attempted. It returns an error only for a failure of this node: River then retries the job, and the delivery's schedule stays
// as it is.
func (w *worker) Work(ctx context.Context, job *river.Job[AttemptArgs]) error {
	d := w.d
	defer d.order.begin(job.Args.Delivery)()
	ctx = principal.With(ctx, principal.Worker(job.Args.Company, workerName))
	for {
		behind, err := w.attempt(ctx, job)
		if err != nil || behind == nil {
			return err
		}
		behind, err = d.order.await(ctx, behind, func(ctx context.Context) (*earlier, error) { return d.earlier(ctx, behind.of) })
		if err != nil {
			return fmt.Errorf(unsent+"%w", err)
		}
		if behind != nil {
			d.metrics.snoozed.Inc()
			return river.JobSnooze(behind.snooze())
		}
	}
}

// attempt makes the attempt, unless an earlier delivery must be attempted before: then it returns that one.
func (w *worker) attempt(ctx context.Context, job *river.Job[AttemptArgs]) (behind *earlier, err error) {
	d := w.d
	leave, wait := d.limits.enter(ctx, job.Args.Company, job.Args.Subscription)
	if wait > 0 {
		d.metrics.snoozed.Inc()
		return nil, river.JobSnooze(wait)
	}
	called := false
	defer func() { leave(called) }() // after recording, so that the limit also bounds the attempts that a crash can repeat
	row, err := d.load(ctx, job.Args)
	if err == nil && row != nil {
		behind, err = d.earlier(ctx, row)
	}
	if err != nil {
		d.Log.WarnContext(ctx, "a delivery could not be attempted", "delivery", job.Args.Delivery, "error", err)
		return nil, fmt.Errorf(unsent+"%w", err)
	}
	if row == nil || behind != nil {
		return behind, nil
	}
	if wait := row.NextAttemptAt.Sub(d.Store.Clock().Now()); wait > early {
		return nil, river.JobSnooze(wait)
	}
	r, err := d.send(ctx, row)
	if err != nil {
		d.Log.WarnContext(ctx, "a delivery could not be attempted", "delivery", job.Args.Delivery, "error", err)
		return nil, fmt.Errorf(unsent+"attempt %s: %w", row.ID, err)
	}
	called = r.verdict != disabled && r.verdict != hidden
	outcome, err := d.record(context.WithoutCancel(ctx), &attempt{args: job.Args, subscription: row.Edges.Subscription, report: r, lost: d.lost(job)})
	if err != nil {
		d.Log.ErrorContext(ctx, "an attempt was made but could not be recorded: it will be repeated", "delivery", job.Args.Delivery, "error", err)
		return nil, fmt.Errorf("record an attempt at %s: %w", row.ID, err)
	}
	d.metrics.attempted(r, outcome, row.CreatedAt, job.Args)
	return nil, nil
}

// load reads a delivery with its subscription and event. It returns nil when this job must not attempt the delivery: it was
// deleted with its subscription, another job has made the attempt, or it is settled.
func (d *Dispatcher) load(ctx context.Context, args AttemptArgs) (*ent.WebhookDelivery, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	rows, err := d.Store.Reader().WebhookDelivery.Query().Where(webhookdelivery.ID(args.Delivery)).WithSubscription().WithSource().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the delivery %s: %w", args.Delivery, err)
	}
	if len(rows) == 0 || rows[0].Edges.Subscription == nil || rows[0].Edges.Source == nil { // the last two: deleted between the reads
		return nil, nil // there is nothing to attempt
	}
	before, err := AttemptsOf(rows[0])
	if err != nil || stale(args, rows[0], before) {
		return nil, err
	}
	return rows[0], nil
}

// stale reports whether a job has nothing to do any more: its attempt was made, or the delivery is settled.
func stale(args AttemptArgs, row *ent.WebhookDelivery, attempts []Attempt) bool {
	return row.Outcome != webhookdelivery.OutcomePENDING || row.NextAttemptAt == nil || len(attempts) >= args.Attempt
}

// lost returns the attempts that earlier runs of the job may have made but did not record, because their node died or could not
// reach the database. Each error that does not say that nothing was sent counts as one.
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

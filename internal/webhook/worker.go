package webhook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/internal/jobs"
	"atrium/internal/outbox"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// worker performs the jobs of attempts.
type worker struct {
	river.WorkerDefaults[outbox.Args]
	d *Dispatcher
}

// unrecorded begins the error of a job whose attempt was made and could not be written down.
const unrecorded = "unrecorded: "

// rescued begins the error that River gives a job that has been running for too long.
const rescued = "Stuck job rescued"

// Work makes one attempt, unless the subscription has no place for it at the moment. It returns an error only for what
// is this node's own doing: the job is tried again then, and the schedule of the delivery stays as it is.
func (w *worker) Work(ctx context.Context, job *river.Job[outbox.Args]) error {
	d := w.d
	park, ok := d.lanes.enter(ctx, job.Args.Subscription, time.Now())
	if !ok {
		d.metrics.parked.Inc()
		_, err := d.parks.call(jobs.Back{ID: job.JobRow.ID, After: park})
		return err
	}
	// The place is kept until the attempt is recorded: what a crash can repeat is no more than what the lane holds.
	began, called := time.Now(), time.Duration(-1)
	defer func() { d.lanes.leave(job.Args.Subscription, time.Since(began), called) }()
	row, r, err := w.attempt(ctx, job.Args)
	if err != nil {
		d.log.WarnContext(ctx, "a delivery could not be attempted", "delivery", job.Args.Delivery, "error", err)
		return err
	}
	if row == nil {
		return nil
	}
	if r.verdict != disabled {
		called = r.took
	}
	outcome, err := d.records.call(record{job: job.JobRow.ID, args: job.Args, row: row, report: r, lost: d.lost(job.JobRow)})
	if err != nil {
		d.log.ErrorContext(ctx, "an attempt was made but could not be recorded: it will be repeated", "delivery", job.Args.Delivery, "error", err)
		return fmt.Errorf(unrecorded+"%w", err)
	}
	d.metrics.attempted(r, outcome, row.CreatedAt, job.Args)
	return nil
}

// attempt loads a delivery and makes the attempt. Returns nil for a delivery that is not to be attempted by this job any
// more.
func (w *worker) attempt(ctx context.Context, args outbox.Args) (*ent.WebhookDelivery, report, error) {
	row, err := w.d.loads.call(args.Delivery)
	if err != nil || row == nil {
		return nil, report{}, err // nil: deleted with its subscription
	}
	before, err := AttemptsOf(row)
	if err != nil {
		return nil, report{}, err
	}
	if stale(args, row.Outcome, len(before)) {
		return nil, report{}, nil // another job has made it, or its delivery is settled
	}
	r, err := w.d.send(ctx, row)
	if err != nil {
		return nil, report{}, fmt.Errorf("attempt %s: %w", row.ID, err)
	}
	return row, r, nil
}

// Timeout is longer than a call may take, with the waits around it.
func (*worker) Timeout(*river.Job[outbox.Args]) time.Duration { return jobs.Timeout }

// lost returns the attempts that the job's earlier runs may have made and nobody wrote down: their node died or could not
// reach the database.
func (d *Dispatcher) lost(row *rivertype.JobRow) []Attempt {
	var list []Attempt
	for _, e := range row.Errors {
		if strings.HasPrefix(e.Error, jobs.Orphaned) || strings.HasPrefix(e.Error, unrecorded) || strings.HasPrefix(e.Error, rescued) {
			list = append(list, Attempt{At: e.At.Add(d.store.Clock().Offset()).UTC().Truncate(time.Millisecond), Error: new(textInterrupted)})
		}
	}
	return list
}

// park puts jobs back into the queue until about when their turn comes.
func (d *Dispatcher) park(ctx context.Context, batch []jobs.Back) ([]struct{}, error) {
	ctx = principal.System(ctx, "jobs belong to the installation")
	err := d.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return d.finisher.PutBack(ctx, tx, batch) })
	if err != nil {
		return nil, fmt.Errorf("put jobs back: %w", err)
	}
	for _, j := range batch {
		d.alarm.at(j.After)
	}
	return make([]struct{}, len(batch)), nil
}

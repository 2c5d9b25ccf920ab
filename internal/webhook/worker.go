package webhook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/jobs"
	"atrium/internal/outbox"
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
		return river.JobSnooze(park)
	}
	took := time.Duration(-1)
	defer func() { d.lanes.leave(job.Args.Subscription, took) }()
	row, err := d.loads.call(job.Args.Delivery)
	if err != nil {
		return err
	}
	if row == nil {
		return nil // deleted with its subscription
	}
	before, err := AttemptsOf(row)
	if err != nil {
		return err
	}
	if stale(job.Args, row.Outcome, len(before)) {
		return nil // it was made by another job, or its delivery is settled
	}
	r, err := d.send(ctx, row)
	if err != nil {
		return fmt.Errorf("attempt %s: %w", row.ID, err)
	}
	if r.verdict != disabled {
		took = r.took
	}
	outcome, err := d.records.call(record{job: job.JobRow.ID, args: job.Args, row: row, report: r, lost: lost(job.JobRow)})
	if err != nil {
		return fmt.Errorf(unrecorded+"%w", err)
	}
	d.metrics.attempted(r, outcome, row.CreatedAt, job.Args)
	return nil
}

// Timeout is longer than a call may take, with the waits around it.
func (*worker) Timeout(*river.Job[outbox.Args]) time.Duration { return jobs.Timeout }

// lost returns the attempts that the job's earlier runs may have made and nobody wrote down: their node died or could not
// reach the database.
func lost(row *rivertype.JobRow) []Attempt {
	var list []Attempt
	for _, e := range row.Errors {
		if strings.HasPrefix(e.Error, jobs.Orphaned) || strings.HasPrefix(e.Error, unrecorded) || strings.HasPrefix(e.Error, rescued) {
			list = append(list, Attempt{At: e.At.UTC().Truncate(time.Millisecond), Error: new(textInterrupted)})
		}
	}
	return list
}

package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op"
	"atrium/internal/outbox"
	"atrium/internal/principal"
	"atrium/internal/store"
)

const maxRecords = 64 // attempts that are written down at once

// record is an attempt on its way into the history.
type record struct {
	job    int64 // River's, which the record puts an end to
	args   outbox.Args
	row    *ent.WebhookDelivery // as it was before the attempt, with its subscription
	report report
	lost   []Attempt

	outcome webhookdelivery.Outcome // what becomes of the delivery
	wait    time.Duration           // until its next attempt; 0 for none
}

// stale tells whether a job's attempt has been made or has become needless: its delivery has had so many, or is settled.
func stale(args outbox.Args, outcome webhookdelivery.Outcome, attempts int) bool {
	return outcome != webhookdelivery.OutcomePENDING || attempts >= args.Attempt
}

// record writes attempts into the history in one transaction, with the jobs of those that follow them, and removes the
// jobs that made them. A node that dies before it has left jobs that are made again; afterwards, none.
func (d *Dispatcher) record(ctx context.Context, batch []record) ([]webhookdelivery.Outcome, error) {
	ctx = principal.System(ctx, "attempts of all companies are recorded together")
	err := d.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return d.write(ctx, tx, batch) })
	if err != nil {
		return nil, fmt.Errorf("record attempts: %w", err)
	}
	d.tidy(ctx)
	out := make([]webhookdelivery.Outcome, len(batch))
	for i, r := range batch {
		out[i] = r.outcome
		if r.wait > 0 {
			d.alarm.at(r.wait)
		}
	}
	return out, nil
}

// write may run more than once for one batch.
func (d *Dispatcher) write(ctx context.Context, tx *store.Tx, batch []record) error {
	rows, err := lockDeliveries(ctx, tx, batch)
	if err != nil {
		return err
	}
	var next []outbox.Job
	done := make([]int64, len(batch))
	for i := range batch {
		r := &batch[i]
		done[i], r.wait = r.job, 0
		row := rows[r.row.ID]
		if row == nil {
			r.outcome = webhookdelivery.OutcomeFAILED // deleted with its subscription while the call was made
			continue
		}
		job, err := d.settle(ctx, tx, row, r)
		if err != nil {
			return err
		}
		if job != nil {
			next = append(next, *job)
		}
	}
	if err := d.judge(ctx, tx, batch); err != nil {
		return err
	}
	if err := d.finisher.Finish(ctx, tx, done); err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	return outbox.Insert(ctx, tx, next) //nolint:wrapcheck // says what it was doing
}

// lockDeliveries reads the deliveries as they are now, and keeps others from changing them.
func lockDeliveries(ctx context.Context, tx *store.Tx, batch []record) (map[string]*ent.WebhookDelivery, error) {
	ids := make([]string, len(batch))
	for i, r := range batch {
		ids[i] = r.row.ID
	}
	q := tx.WebhookDelivery.Query().Where(webhookdelivery.IDIn(op.Padded(ids)...)).Order(webhookdelivery.ByID())
	if tx.PGX() != nil {
		q.ForUpdate()
	}
	list, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the deliveries: %w", err)
	}
	rows := make(map[string]*ent.WebhookDelivery, len(list))
	for _, row := range list {
		rows[row.ID] = row
	}
	return rows, nil
}

// settle adds an attempt to a delivery and returns the job of the one that follows, if any.
func (d *Dispatcher) settle(ctx context.Context, tx *store.Tx, row *ent.WebhookDelivery, r *record) (*outbox.Job, error) {
	attempts, err := AttemptsOf(row)
	if err != nil {
		return nil, err
	}
	now := d.store.Clock().Now()
	late := stale(r.args, row.Outcome, len(attempts))
	attempts = append(append(attempts, r.lost...), r.report.attempt)
	nextAt := row.NextAttemptAt
	r.outcome = row.Outcome
	var job *outbox.Job
	switch wait, again := d.wait(r); {
	case r.report.verdict == succeeded:
		r.outcome, nextAt = webhookdelivery.OutcomeSUCCESS, nil
	case late: // somebody else has decided how it goes on
	case again:
		nextAt, r.wait = new(now.Add(wait)), wait
		args := r.args
		args.Attempt = len(attempts) + 1
		if r.report.verdict != interrupted {
			args.Step++
		}
		job = &outbox.Job{Args: args, After: wait}
	default:
		r.outcome, nextAt = webhookdelivery.OutcomeFAILED, nil
	}
	raw, err := json.Marshal(attempts)
	if err != nil {
		return nil, fmt.Errorf("write the attempts: %w", err)
	}
	driver := ent.DriverOf(tx.Client)
	query, args := sql.Dialect(driver.Dialect()).Update(webhookdelivery.Table).
		Set(webhookdelivery.FieldAttempts, string(raw)).Set(webhookdelivery.FieldRetryCount, len(attempts)-1).
		Set(webhookdelivery.FieldOutcome, string(r.outcome)).Set(webhookdelivery.FieldNextAttemptAt, nextAt).
		Set(webhookdelivery.FieldUpdatedAt, now).
		Where(sql.EQ(webhookdelivery.FieldID, row.ID)).Query()
	if err := driver.Exec(ctx, query, args, nil); err != nil { // on PostgreSQL all of the batch travel together
		return nil, fmt.Errorf("write a delivery: %w", err)
	}
	return job, nil
}

// stoppedWait is the wait after an attempt that this node could not bring to an end.
const stoppedWait = time.Second

// wait returns when an attempt is followed by another one, and false when it is the last.
func (d *Dispatcher) wait(r *record) (time.Duration, bool) {
	switch r.report.verdict {
	case failed:
		return d.retries.after(r.args.Step, r.report.asked)
	case interrupted:
		return stoppedWait, true
	default:
		return 0, false
	}
}

const (
	tidyEvery = time.Second
	tidyMost  = 1000 // jobs
)

// tidy deletes jobs that were finished a while ago, where they are kept: a few at a time and often, so that the writer is
// never held up.
func (d *Dispatcher) tidy(ctx context.Context) {
	if time.Since(d.tidied) < tidyEvery {
		return
	}
	d.tidied = time.Now()
	err := d.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return d.finisher.Forget(ctx, tx, outbox.Kind, tidyMost)
	})
	if err != nil {
		d.log.WarnContext(ctx, "finished jobs of webhooks were not deleted", "error", err)
	}
}

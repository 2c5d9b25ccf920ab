package webhook

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/ent/webhooksubscription"
	"atrium/internal/clock"
	"atrium/internal/op"
	"atrium/internal/outbox"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// replayBatch is how many events one job sends again; the next job goes on.
const replayBatch = 200

// ReplayArgs is the job that sends the events of a range again, a batch of them.
type ReplayArgs struct {
	Company      string    `json:"company"`
	Subscription string    `json:"subscription"`
	Since        time.Time `json:"since"`
	Until        time.Time `json:"until"`
	AfterTime    time.Time `json:"afterTime,omitzero"` // of the event that was the last one so far
	AfterID      string    `json:"afterId,omitempty"`
}

// Kind names the job.
func (ReplayArgs) Kind() string { return "webhook_replay" }

// replayer performs ReplayArgs.
type replayer struct {
	river.WorkerDefaults[ReplayArgs]
	d *Dispatcher
}

// Work makes the deliveries of a batch pending, and inserts their jobs, the job of the next batch and the end of its own
// in one transaction: a crash repeats no batch.
func (r *replayer) Work(ctx context.Context, job *river.Job[ReplayArgs]) error {
	// Not the system: it acts in one company, and the guards of tenancy hold it there.
	ctx = principal.With(ctx, &principal.Principal{
		CompanyID: job.Args.Company, Type: principal.TypeSystem, ID: "system", Name: "webhook replay", Method: principal.MethodLocal,
	})
	err := r.d.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		next, err := replay(ctx, tx, job.Args)
		if err != nil {
			return err
		}
		if next != nil {
			if err := outbox.Insert(ctx, tx, []outbox.Job{{Args: *next}}); err != nil {
				return err //nolint:wrapcheck // says what it was doing
			}
		}
		return r.d.finisher.Finish(ctx, tx, []int64{job.JobRow.ID}) //nolint:wrapcheck // says what it was doing
	})
	if err != nil {
		return fmt.Errorf("replay events: %w", err)
	}
	return nil
}

// replay does a batch and returns the job of the next one; nil after the last.
func replay(ctx context.Context, tx *store.Tx, args ReplayArgs) (*ReplayArgs, error) {
	list, err := tx.WebhookSubscription.Query().Where(webhooksubscription.ID(args.Subscription)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look the subscription up: %w", err)
	}
	if len(list) == 0 || !list[0].Enabled {
		return nil, nil //nolint:nilnil // deleted or disabled meanwhile
	}
	q := tx.Event.Query().Where(args.where(list[0].Events)...)
	if args.AfterID != "" {
		q.Where(func(s *sql.Selector) {
			s.Where(sql.CompositeGT([]string{s.C(event.FieldCreatedAt), s.C(event.FieldID)}, args.AfterTime.UTC(), args.AfterID))
		})
	}
	batch, err := q.Order(event.ByCreatedAt(), event.ByID()).Limit(replayBatch).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the events: %w", err)
	}
	if len(batch) == 0 {
		return nil, nil //nolint:nilnil // the end
	}
	if err := again(ctx, tx, list[0], batch); err != nil {
		return nil, err
	}
	if len(batch) < replayBatch {
		return nil, nil //nolint:nilnil // the end
	}
	last := batch[len(batch)-1]
	args.AfterTime, args.AfterID = last.CreatedAt, last.ID
	return &args, nil
}

// again sends events to a subscription again: a delivery that was settled becomes pending, one that waits is due at once,
// and one that never was is made.
func again(ctx context.Context, tx *store.Tx, s *ent.WebhookSubscription, batch []*ent.Event) error {
	ids := make([]string, len(batch))
	for i, e := range batch {
		ids[i] = e.ID
	}
	q := tx.WebhookDelivery.Query().Where(webhookdelivery.EventIDIn(ids...), webhookdelivery.SubscriptionID(s.ID)).Order(webhookdelivery.ByID())
	if tx.PGX() != nil {
		q.ForUpdate()
	}
	known, err := q.All(ctx)
	if err != nil {
		return fmt.Errorf("read the deliveries: %w", err)
	}
	var waiting, settled []string
	var next []outbox.Job
	has := map[string]bool{}
	for _, d := range known {
		has[d.EventID] = true
		attempts, err := AttemptsOf(d)
		if err != nil {
			return err
		}
		switch {
		case d.Outcome == webhookdelivery.OutcomePENDING:
			waiting = append(waiting, d.ID)
		case len(attempts) < maxAttemptsEver:
			settled = append(settled, d.ID)
			next = append(next, outbox.Job{Args: first(d, len(attempts)), Priority: outbox.Relaxed})
		}
	}
	made, err := missing(ctx, tx, s, batch, has)
	if err != nil {
		return err
	}
	for _, d := range made {
		next = append(next, outbox.Job{Args: first(d, 0), Priority: outbox.Relaxed})
	}
	err = tx.WebhookDelivery.Update().Where(webhookdelivery.IDIn(op.Padded(append(settled, waiting...))...)).
		SetOutcome(webhookdelivery.OutcomePENDING).SetNextAttemptAt(clock.From(ctx).Now()).Exec(ctx)
	if err != nil {
		return fmt.Errorf("make deliveries pending: %w", err)
	}
	if err := outbox.Hurry(ctx, tx, waiting); err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	return outbox.Insert(ctx, tx, next) //nolint:wrapcheck // says what it was doing
}

// missing makes the deliveries of events that the subscription never got.
func missing(ctx context.Context, tx *store.Tx, s *ent.WebhookSubscription, batch []*ent.Event, has map[string]bool) ([]*ent.WebhookDelivery, error) {
	var creates []*ent.WebhookDeliveryCreate
	for _, e := range batch {
		if !has[e.ID] {
			creates = append(creates, tx.WebhookDelivery.Create().SetSubscriptionID(s.ID).SetEventID(e.ID).SetEvent(e.Type).
				SetNextAttemptAt(clock.From(ctx).Now()))
		}
	}
	if len(creates) == 0 {
		return nil, nil
	}
	made, err := tx.WebhookDelivery.CreateBulk(creates...).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("make deliveries: %w", err)
	}
	return made, nil
}

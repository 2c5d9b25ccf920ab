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
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// replayBatch is how many events one job sends again; then it inserts the next job.
const replayBatch = 200

// ReplayArgs is the job that sends one batch of the events of a range again.
type ReplayArgs struct {
	Company      string    `json:"company"`
	Subscription string    `json:"subscription"`
	Since        time.Time `json:"since"`
	Until        time.Time `json:"until"`
	AfterTime    time.Time `json:"afterTime,omitzero"` // of the last event of the batch before
	AfterID      string    `json:"afterId,omitempty"`
}

// Kind names the job.
func (ReplayArgs) Kind() string { return "webhook_replay" }

// replayer performs ReplayArgs.
type replayer struct {
	river.WorkerDefaults[ReplayArgs]
	store *store.Store
	queue *jobs.Queue
}

// Work makes the deliveries of a batch pending, and inserts their jobs and the job of the next batch. It completes its own job in
// the same transaction, so a crash repeats no batch.
func (r *replayer) Work(ctx context.Context, job *river.Job[ReplayArgs]) error {
	ctx = principal.With(ctx, principal.Worker(job.Args.Company, "webhook replay"))
	err := r.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		next, err := r.replay(ctx, tx, job.Args)
		if err != nil {
			return err
		}
		if next != nil {
			if err := r.queue.InsertTx(ctx, tx, *next, time.Time{}); err != nil {
				return err
			}
		}
		return r.queue.CompleteTx(ctx, tx, job.JobRow)
	})
	if err != nil {
		return fmt.Errorf("replay events: %w", err)
	}
	return nil
}

// replay processes a batch and returns the job of the next one; nil after the last.
func (r *replayer) replay(ctx context.Context, tx *store.Tx, args ReplayArgs) (*ReplayArgs, error) {
	list, err := tx.WebhookSubscription.Query().Where(webhooksubscription.ID(args.Subscription)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look the subscription up: %w", err)
	}
	if len(list) == 0 || !list[0].Enabled {
		return nil, nil // deleted or disabled meanwhile
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
		return nil, nil // the end
	}
	if err := r.again(ctx, tx, list[0], batch); err != nil {
		return nil, err
	}
	if len(batch) < replayBatch {
		return nil, nil // the end
	}
	last := batch[len(batch)-1]
	args.AfterTime, args.AfterID = last.CreatedAt, last.ID
	return &args, nil
}

// again sends events to a subscription again: a settled delivery becomes pending, a waiting one is due at once, and a missing one
// is made.
func (r *replayer) again(ctx context.Context, tx *store.Tx, s *ent.WebhookSubscription, batch []*ent.Event) error {
	ids := make([]string, len(batch))
	for i, e := range batch {
		ids[i] = e.ID
	}
	known, err := store.Lock(tx, tx.WebhookDelivery.Query().
		Where(webhookdelivery.EventIDIn(ids...), webhookdelivery.SubscriptionID(s.ID)).Order(webhookdelivery.ByID())).All(ctx)
	if err != nil {
		return fmt.Errorf("read the deliveries: %w", err)
	}
	now := clock.From(ctx).Now()
	var pending []string
	var next []jobs.Job
	has := map[string]bool{}
	for _, d := range known {
		has[d.EventID] = true
		attempts, err := AttemptsOf(d)
		if err != nil {
			return err
		}
		if args, ok := again(d, attempts, now); ok && len(attempts) < maxAttemptsEver {
			pending = append(pending, d.ID)
			next = append(next, jobs.Job{Args: args, Priority: replayPriority})
		}
	}
	err = tx.WebhookDelivery.Update().Where(webhookdelivery.IDIn(pending...)).
		SetOutcome(webhookdelivery.OutcomePENDING).SetNextAttemptAt(now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("make deliveries pending: %w", err)
	}
	var creates []*ent.WebhookDeliveryCreate
	for _, e := range batch {
		if !has[e.ID] {
			creates = append(creates, delivery(tx.Client, s, e).SetNextAttemptAt(now))
		}
	}
	made, err := tx.WebhookDelivery.CreateBulk(creates...).Save(ctx)
	if err != nil {
		return fmt.Errorf("make deliveries: %w", err)
	}
	if err := insert(ctx, r.queue, tx, made, replayPriority); err != nil {
		return err
	}
	return r.queue.InsertManyTx(ctx, tx, next...)
}

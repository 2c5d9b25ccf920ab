package webhook

import (
	"context"
	"fmt"
	"slices"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/webhooksubscription"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
)

// queueName is the queue of the jobs of attempts.
const queueName = "webhooks"

// replayPriority is the priority of the jobs of a replay, so that a replay of many events delays nothing else.
const replayPriority = 3

// AttemptArgs is the job of one attempt at one delivery.
type AttemptArgs struct {
	Delivery     string `json:"delivery"`
	Subscription string `json:"subscription"`
	Company      string `json:"company"`
	Attempt      int    `json:"attempt"` // number of the delivery's attempt, from 1; the job is stale once the delivery has as many
	Step         int    `json:"step"`    // step in the schedule of retries, from 1; a replay starts again at 1
}

// Kind names the job.
func (AttemptArgs) Kind() string { return "webhook" }

// InsertOpts puts the jobs into a queue of their own. River retries a job only if its attempt could not be recorded. The schedule
// decides how often a delivery is attempted, and each of those attempts is a job of its own.
func (AttemptArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueName, MaxAttempts: 100}
}

// first returns the job that starts the schedule of a delivery that has had the given number of attempts.
func first(d *ent.WebhookDelivery, attempts int) AttemptArgs {
	return AttemptArgs{Delivery: d.ID, Subscription: d.SubscriptionID, Company: d.CompanyID, Attempt: attempts + 1, Step: 1}
}

// Deliver returns a subscriber to events. For each enabled subscription that asks for the event and may read what it is about, it
// makes a delivery, with the job of its first attempt. A company without subscriptions costs one statement.
func Deliver(queue *jobs.Queue, engine *op.Engine) events.Subscriber {
	return func(ctx context.Context, tx *store.Tx, e events.Emitted) error {
		subs, err := tx.WebhookSubscription.Query().
			Where(webhooksubscription.CompanyID(e.CompanyID), webhooksubscription.EnabledEQ(true)).All(ctx)
		if err != nil {
			return fmt.Errorf("look for subscriptions: %w", err)
		}
		subs = slices.DeleteFunc(subs, func(s *ent.WebhookSubscription) bool { return !slices.Contains(s.Events, e.Type) })
		if len(subs) == 0 {
			return nil
		}
		ids := make([]string, len(subs))
		for i, s := range subs {
			ids[i] = s.ID
		}
		receives, err := engine.EventVisibleNow(ctx, tx.Client, e.Event, ids)
		if err != nil {
			return err
		}
		var creates []*ent.WebhookDeliveryCreate
		for _, s := range subs {
			if receives(s.ID) {
				creates = append(creates, delivery(tx.Client, s, e.Event).SetNextAttemptAt(e.CreatedAt))
			}
		}
		if len(creates) == 0 {
			return nil
		}
		made := make([]*ent.WebhookDelivery, len(creates))
		for i, c := range creates { // on PostgreSQL each waits for the next statement; one for all would be waited for
			if made[i], err = c.Save(ctx); err != nil {
				return fmt.Errorf("make the deliveries: %w", err)
			}
		}
		return insert(ctx, queue, tx, made, 0)
	}
}

// delivery returns the builder of an event's delivery to a subscription. It has the time of the event, also when a replay makes it,
// because lists and figures are about when events happened.
func delivery(db *ent.Client, s *ent.WebhookSubscription, e *ent.Event) *ent.WebhookDeliveryCreate {
	return db.WebhookDelivery.Create().SetSubscriptionID(s.ID).SetEventID(e.ID).SetEvent(e.Type).SetCreatedAt(e.CreatedAt)
}

// insert adds the jobs of the first attempts of new deliveries.
func insert(ctx context.Context, queue *jobs.Queue, tx *store.Tx, made []*ent.WebhookDelivery, priority int) error {
	list := make([]jobs.Job, len(made))
	for i, d := range made {
		list[i] = jobs.Job{Args: first(d, 0), Priority: priority}
	}
	return queue.InsertManyTx(ctx, tx, list...)
}

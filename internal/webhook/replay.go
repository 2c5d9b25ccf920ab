package webhook

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/predicate"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
)

const (
	keptFor         = 30 * 24 * time.Hour // events and deliveries
	maxReplayed     = 10_000              // events at once
	maxAttemptsEver = 100                 // of one delivery, replays included
)

// The operations that send again.
var (
	ReplayDelivery = op.OnRow("webhookdelivery.replay", op.Spec{
		Resource: "WebhookDelivery", Action: op.Update, AdminLayer: true,
		Summary: "Attempt a delivery again, at once and with a schedule of retries of its own",
	}, loadDelivery, replayDelivery)

	ReplayEvents = op.OnRow("webhooksubscription.replay", op.Spec{
		Resource: "WebhookSubscription", Action: op.Update, AdminLayer: true,
		Summary: "Send all events since a moment again that a subscription asks for, delivered or missed",
	}, loadSubscription, replayEvents)
)

// errDisabled returns the error of sending to a disabled subscription.
func errDisabled() error {
	return apperr.New(apperr.Conflict, "The subscription is disabled. Enable it first.")
}

// replayDelivery makes a settled delivery pending, and one that waits for a retry due at once. Returns conflict for a disabled
// subscription, and for a delivery that has had maxAttemptsEver attempts.
func replayDelivery(ctx context.Context, tx *op.Tx, before *ent.WebhookDelivery, _ op.ByID) (*ent.WebhookDelivery, error) {
	s, err := before.QuerySubscription().Only(tx.Unfiltered(ctx, "a delivery is replayed if its subscription is enabled"))
	if err != nil {
		return nil, fmt.Errorf("look the subscription up: %w", err)
	}
	if !s.Enabled {
		return nil, errDisabled()
	}
	attempts, err := AttemptsOf(before)
	if err != nil {
		return nil, err
	}
	if len(attempts) >= maxAttemptsEver {
		return nil, apperr.New(apperr.Conflict, "The delivery has been attempted %d times: that is as often as it may be.", len(attempts))
	}
	now := tx.Now(ctx)
	after, err := before.Update().SetOutcome(webhookdelivery.OutcomePENDING).SetNextAttemptAt(now).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("replay the delivery: %w", err)
	}
	if args, ok := again(before, attempts, now); ok {
		if err := tx.Insert(ctx, args, time.Time{}); err != nil {
			return nil, err
		}
	}
	tx.Changed(before, after)
	return after, nil
}

// again returns the job that attempts a delivery now. A settled delivery starts its schedule again; one that waits for a retry
// continues in it, and the job of that retry will find its attempt made. again returns false for a delivery that is due anyway.
func again(d *ent.WebhookDelivery, attempts []Attempt, now time.Time) (AttemptArgs, bool) {
	args := first(d, len(attempts))
	if d.Outcome != webhookdelivery.OutcomePENDING {
		return args, true
	}
	args.Step = nextStep(attempts)
	return args, d.NextAttemptAt != nil && d.NextAttemptAt.After(now)
}

// BySubscription names the subscription that an operation is about, in the body of its input.
type BySubscription struct {
	SubscriptionID string `json:"subscriptionId" minLength:"1" maxLength:"64" doc:"The subscription."`
}

// TargetID returns the subscription's id.
func (b BySubscription) TargetID() string { return b.SubscriptionID }

// ReplayEventsInput says which events are sent again.
type ReplayEventsInput struct {
	BySubscription
	Since time.Time `json:"since" doc:"Events of this moment and later, at most 30 days back."`
}

// Replay is the result of ReplayEvents.
type Replay struct {
	ID           string
	Subscription *ent.WebhookSubscription
	Events       int // that will be sent again
}

// replayEvents inserts a job that sends the events again: those that were delivered, and those that happened while the
// subscription was disabled. Returns validation_error for a moment in the future, more than 30 days back, or with more than
// 10,000 events after it, and conflict for a disabled subscription.
func replayEvents(ctx context.Context, tx *op.Tx, s *ent.WebhookSubscription, in ReplayEventsInput) (Replay, error) {
	now := tx.Now(ctx)
	switch {
	case !s.Enabled:
		return Replay{}, errDisabled()
	case in.Since.After(now):
		return Replay{}, apperr.InvalidField("since", "must not be in the future")
	case now.Sub(in.Since) > keptFor:
		return Replay{}, apperr.InvalidField("since", "must be at most 30 days back")
	}
	args := ReplayArgs{Company: s.CompanyID, Subscription: s.ID, Since: in.Since.UTC(), Until: now}
	n, err := tx.Event.Query().Where(args.where(s.Events)...).Limit(maxReplayed + 1).Select(event.FieldID).Strings(ctx)
	if err != nil {
		return Replay{}, fmt.Errorf("count the events: %w", err)
	}
	if len(n) > maxReplayed {
		return Replay{}, apperr.InvalidField("since", "must be so late that at most %d events came after it", maxReplayed)
	}
	tx.ChangedField("since", nil, in.Since.UTC().Format(clock.Format))
	tx.ChangedField("events", nil, len(n))
	return Replay{ID: s.ID, Subscription: s, Events: len(n)}, tx.Insert(ctx, args, time.Time{})
}

// where selects the events that are sent again. It leaves out test events, whose subject is their subscription.
func (a ReplayArgs) where(names []string) []predicate.Event {
	return []predicate.Event{
		event.TypeIn(names...), event.CreatedAtGTE(a.Since), event.CreatedAtLTE(a.Until), event.Not(event.SubjectIDHasPrefix("whs_")),
	}
}

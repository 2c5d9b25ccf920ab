package webhook

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/webhooksubscription"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
)

// maxSubscriptions is how many a company may have.
const maxSubscriptions = 50

var subscriptionSorts = op.Sorts{"createdAt": webhooksubscription.FieldCreatedAt, "updatedAt": webhooksubscription.FieldUpdatedAt}

// The operations on subscriptions. They require a person, not an API key. Only CreateSubscription and RotateSecret return a
// secret.
var (
	ListSubscriptions = paging.NewList("webhooksubscription.list", op.Spec{
		Resource: "WebhookSubscription", Action: op.Read, AdminLayer: true, Sorts: subscriptionSorts, Summary: "List webhook subscriptions",
	}, func(_ context.Context, tx *op.Tx, _ ListSubscriptionsInput) *ent.WebhookSubscriptionQuery {
		return tx.WebhookSubscription.Query()
	})

	GetSubscription = op.Get("webhooksubscription.read", op.Spec{
		Resource: "WebhookSubscription", Action: op.Read, AdminLayer: true, Summary: "Get a webhook subscription",
	}, loadSubscription)

	CreateSubscription = op.New("webhooksubscription.create", op.Spec{
		Resource: "WebhookSubscription", Action: op.Create, AdminLayer: true, Summary: "Subscribe an address to events",
	}, createSubscription).WithCheck(func(_ context.Context, tx *op.Tx, in CreateSubscriptionInput) error {
		return check(tx, &in.URL, in.Events)
	})

	UpdateSubscription = op.OnRow("webhooksubscription.update", op.Spec{
		Resource: "WebhookSubscription", Action: op.Update, AdminLayer: true,
		Summary: "Update a webhook subscription; enabled: true also resumes one that was disabled",
	}, loadSubscription, updateSubscription).WithCheck(func(_ context.Context, tx *op.Tx, in UpdateSubscriptionInput) error {
		return check(tx, in.URL.Value(), op.Or(in.Events.Value(), events.Names())) // the events that stay are known
	})

	DeleteSubscription = op.OnRow("webhooksubscription.delete", op.Spec{
		Resource: "WebhookSubscription", Action: op.Delete, AdminLayer: true, Summary: "Delete a webhook subscription and its deliveries",
	}, loadSubscription, deleteSubscription)
)

// ListSubscriptionsInput pages the list of subscriptions.
type ListSubscriptionsInput struct{ paging.Page }

func loadSubscription(ctx context.Context, tx *op.Tx, id string) (*ent.WebhookSubscription, error) {
	return op.Lock(tx, tx.WebhookSubscription.Query().Where(webhooksubscription.ID(id))).Only(ctx)
}

// CreateSubscriptionInput describes a new subscription.
type CreateSubscriptionInput struct {
	URL         string   `json:"url" minLength:"1" maxLength:"2000" doc:"Where deliveries go: https, on the public internet."`
	Events      []string `json:"events" doc:"At least one of the events."`
	Description *string  `json:"description,omitempty" nullable:"true" maxLength:"2000"`
}

// IssuedSubscription is a subscription with its signing secret, which is shown only once.
type IssuedSubscription struct {
	ID            string
	Subscription  *ent.WebhookSubscription
	SigningSecret secret.Value
}

// createSubscription returns validation_error for a URL that may not be called and for unknown events, and conflict for the 51st
// subscription of a company.
func createSubscription(ctx context.Context, tx *op.Tx, in CreateSubscriptionInput) (IssuedSubscription, error) {
	if err := check(tx, &in.URL, in.Events); err != nil {
		return IssuedSubscription{}, err
	}
	full := apperr.New(apperr.Conflict, "A company has at most %d webhook subscriptions.", maxSubscriptions)
	if err := tx.AtMost(ctx, "webhooks/"+tx.Principal().CompanyID, maxSubscriptions, tx.WebhookSubscription.Query().Count, full); err != nil {
		return IssuedSubscription{}, err
	}
	out := IssuedSubscription{ID: id.New("whs"), SigningSecret: signing.New()}
	sealed, err := signing.Seal(tx.Sealer(), out.SigningSecret, out.ID)
	if err != nil {
		return IssuedSubscription{}, err
	}
	out.Subscription, err = tx.WebhookSubscription.Create().SetID(out.ID).SetURL(in.URL).SetEvents(in.Events).
		SetDescription(op.Or(in.Description, "")).SetSecretSealed(sealed).SetCreatedBy(tx.Principal().ID).Save(ctx)
	if err != nil {
		return IssuedSubscription{}, fmt.Errorf("create the subscription: %w", err)
	}
	tx.Changed(nil, out.Subscription)
	return out, nil
}

// check reports the faults of a URL (nil for none) and of a list of events.
func check(tx *op.Tx, url *string, names []string) error {
	var refs op.Refs
	if url != nil {
		refs.Refused(tx.CheckURL("url", *url))
	}
	known := events.Names()
	switch {
	case len(names) == 0:
		refs.Fault("events", "must name at least one event")
	case slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(known, n) }):
		refs.Fault("events", "must name known events only")
	case len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names):
		refs.Fault("events", "must not name anything twice")
	}
	return refs.Err()
}

// UpdateSubscriptionInput changes the fields that it names.
type UpdateSubscriptionInput struct {
	op.ByID
	URL         op.Patch[string]   `json:"url,omitzero" minLength:"1" maxLength:"2000"`
	Events      op.Patch[[]string] `json:"events,omitzero" doc:"Replaces the whole list."`
	Description op.Patch[string]   `json:"description,omitzero" nullable:"true" maxLength:"2000"`
	Enabled     op.Patch[bool]     `json:"enabled,omitzero" doc:"true resumes a subscription that was disabled, by whomever; what it missed can be replayed."`
}

func updateSubscription(ctx context.Context, tx *op.Tx, before *ent.WebhookSubscription, in UpdateSubscriptionInput) (*ent.WebhookSubscription, error) {
	names := before.Events
	if given, ok := op.Given(in.Events); ok {
		names = given
	}
	if err := check(tx, in.URL.Value(), names); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.URL, u.SetURL)
	op.Set(in.Events, u.SetEvents)
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.WebhookSubscriptionUpdateOne { return u.SetDescription("") })
	if enabled, ok := op.Given(in.Enabled); ok {
		u.SetEnabled(enabled)
		if enabled {
			u.ClearDisabledReason().ClearFailingSince()
		}
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the subscription: %w", err)
	}
	return after, nil
}

func deleteSubscription(ctx context.Context, tx *op.Tx, s *ent.WebhookSubscription, _ op.ByID) (struct{}, error) {
	return op.Remove(ctx, tx, s, tx.WebhookSubscription.DeleteOne(s).Exec)
}

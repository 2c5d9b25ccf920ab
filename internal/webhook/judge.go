package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent/auditentry"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/ent/webhooksubscription"
	"atrium/internal/mail"
	"atrium/internal/store"
)

// deadAfter is how long a subscription may fail without a single success until it is disabled.
const deadAfter = 5 * 24 * time.Hour

// Why subscriptions are disabled.
const (
	reasonGone = "The receiver answered 410 Gone."
	reasonDead = "No delivery has succeeded for 5 days."
)

// Mail is what sends notices: mail.Outbox.
type Mail interface {
	Enqueue(ctx context.Context, tx *store.Tx, m mail.Message) error
}

// judge draws the consequences of attempts for their subscriptions: since when they fail, and whether they are disabled.
// A subscription that goes on as it did costs no statement.
func (d *Dispatcher) judge(ctx context.Context, tx *store.Tx, batch []record) error {
	byRow := slices.Clone(batch) // in one order on every node
	slices.SortStableFunc(byRow, func(a, b record) int { return cmp.Compare(a.row.SubscriptionID, b.row.SubscriptionID) })
	var cleared, marked, ended string // the subscription that this was done for last
	for i := range byRow {
		s, r := byRow[i].row.Edges.Subscription, &byRow[i].report
		var err error
		switch {
		case r.verdict == succeeded && s.FailingSince != nil && cleared != s.ID:
			cleared = s.ID
			err = tx.WebhookSubscription.Update().Where(webhooksubscription.ID(s.ID), webhooksubscription.FailingSinceNotNil()).ClearFailingSince().Exec(ctx)
		case r.verdict == gone && ended != s.ID:
			ended = s.ID
			err = d.disable(ctx, tx, s.ID, reasonGone)
		case r.verdict == failed && s.FailingSince == nil && marked != s.ID:
			marked = s.ID
			err = tx.WebhookSubscription.Update().Where(webhooksubscription.ID(s.ID), webhooksubscription.FailingSinceIsNil()).SetFailingSince(r.attempt.At).Exec(ctx)
		case r.verdict == failed && s.FailingSince != nil && r.attempt.At.Sub(*s.FailingSince) >= deadAfter && ended != s.ID:
			ended = s.ID
			err = d.disable(ctx, tx, s.ID, reasonDead)
		}
		if err != nil {
			return fmt.Errorf("judge a subscription: %w", err)
		}
	}
	return nil
}

// disable ends deliveries to a subscription until somebody enables it, writes that into the audit log and tells the
// owners. It does nothing for one that is disabled already, or that has recovered meanwhile.
func (d *Dispatcher) disable(ctx context.Context, tx *store.Tx, id, reason string) error {
	q := tx.WebhookSubscription.Query().Where(webhooksubscription.ID(id), webhooksubscription.Enabled(true))
	if reason == reasonDead {
		q.Where(webhooksubscription.FailingSinceLTE(d.store.Clock().Now().Add(-deadAfter)))
	}
	if tx.PGX() != nil {
		q.ForUpdate()
	}
	list, err := q.All(ctx)
	if err != nil || len(list) == 0 {
		return err //nolint:wrapcheck // wrapped by judge
	}
	s := list[0]
	if err := tx.WebhookSubscription.UpdateOne(s).SetEnabled(false).SetDisabledReason(reason).Exec(ctx); err != nil {
		return fmt.Errorf("disable it: %w", err)
	}
	changes, err := json.Marshal(map[string]map[string]any{
		"enabled": {"from": true, "to": false}, "disabledReason": {"from": nil, "to": reason},
	})
	if err != nil {
		return fmt.Errorf("write the audit entry: %w", err)
	}
	err = tx.AuditEntry.Create().SetCompanyID(s.CompanyID).SetActorType("system").SetActorID("system").SetActorName("webhook deliveries").
		SetAction("webhooksubscription.disabled").SetResourceType("WebhookSubscription").SetResourceID(s.ID).
		SetOutcome(auditentry.OutcomeAllowed).SetIP("").SetUserAgent("").SetRequestID("").SetChanges(changes).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write the audit entry: %w", err)
	}
	return d.notify(ctx, tx, s.CompanyID, s.URL, reason)
}

// notify mails the owners of the company, or of the live company of a sandbox.
func (d *Dispatcher) notify(ctx context.Context, tx *store.Tx, companyID, url, reason string) error {
	if d.mail == nil {
		return nil
	}
	c, err := tx.Company.Query().Where(company.ID(companyID)).Only(ctx)
	if err != nil {
		return fmt.Errorf("look the company up: %w", err)
	}
	where := ""
	if c.SandboxOf != nil {
		companyID, where = *c.SandboxOf, " (sandbox)"
	}
	owners, err := tx.User.Query().Where(user.CompanyID(companyID), user.RoleEQ(user.RoleOwner), user.StatusEQ(user.StatusActive)).
		Order(user.ByID()).Limit(maxNotices).All(ctx)
	if err != nil {
		return fmt.Errorf("look the owners up: %w", err)
	}
	for _, o := range owners {
		err := d.mail.Enqueue(ctx, tx, mail.Message{
			To:      o.Email,
			Subject: mail.Line("A webhook of "+c.Name+where+" was disabled", 150),
			Text: "Deliveries to this address have stopped:\n\n  " + mail.Line(url, 500) + "\n\n" + reason + "\n\n" +
				"Events that happen from now on are not sent there. Once the receiver works again, enable the\n" +
				"subscription in the settings and replay what it has missed; events are kept for 30 days.\n",
		})
		if err != nil {
			return fmt.Errorf("mail the notice: %w", err)
		}
	}
	return nil
}

// maxNotices is how many owners are told.
const maxNotices = 20

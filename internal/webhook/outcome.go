package webhook

import (
	"context"
	"fmt"
	"time"

	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/ent/webhooksubscription"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// deadAfter is how long a subscription may fail without a single success before it is disabled.
const deadAfter = 5 * 24 * time.Hour

// The reasons why subscriptions are disabled.
const (
	reasonGone = "The receiver answered 410 Gone."
	reasonDead = "No delivery has succeeded for 5 days."
)

// reasons are the reasons as the mail tells them.
var reasons = map[string]locale.Text{
	reasonGone: locale.Say("The receiver answered 410 Gone."),
	reasonDead: locale.Say("No delivery has succeeded for 5 days."),
}

// Mail sends notices. mail.Outbox implements it.
type Mail interface {
	Enqueue(ctx context.Context, tx *store.Tx, m mail.Message) error
}

// updateSubscription updates a subscription after an attempt: since when it has failed, and whether it is disabled. It sends no
// statement when neither changes.
func (d *Dispatcher) updateSubscription(ctx context.Context, tx *store.Tx, a *attempt) (err error) {
	s, at := a.subscription, a.report.attempt.At
	switch {
	case a.report.verdict == succeeded && s.FailingSince != nil:
		err = tx.WebhookSubscription.Update().Where(webhooksubscription.ID(s.ID), webhooksubscription.FailingSinceNotNil()).ClearFailingSince().Exec(ctx)
	case a.report.verdict == receiverGone:
		err = d.disable(ctx, tx, s.ID, reasonGone)
	case a.report.verdict == failed && s.FailingSince == nil:
		err = tx.WebhookSubscription.Update().Where(webhooksubscription.ID(s.ID), webhooksubscription.FailingSinceIsNil()).SetFailingSince(at).Exec(ctx)
	case a.report.verdict == failed && at.Sub(*s.FailingSince) >= deadAfter:
		err = d.disable(ctx, tx, s.ID, reasonDead)
	}
	if err != nil {
		return fmt.Errorf("judge a subscription: %w", err)
	}
	return nil
}

// disable disables a subscription, writes an audit entry and mails the owners. It does nothing for a subscription that is already
// disabled, or that has recovered meanwhile.
func (d *Dispatcher) disable(ctx context.Context, tx *store.Tx, id, reason string) error {
	q := tx.WebhookSubscription.Query().Where(webhooksubscription.ID(id), webhooksubscription.Enabled(true))
	if reason == reasonDead {
		q.Where(webhooksubscription.FailingSinceLTE(d.Store.Clock().Now().Add(-deadAfter)))
	}
	list, err := store.Lock(tx, q).All(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	s := list[0]
	if err := tx.WebhookSubscription.UpdateOne(s).SetEnabled(false).SetDisabledReason(reason).Exec(ctx); err != nil {
		return fmt.Errorf("disable it: %w", err)
	}
	entry := audit.By(principal.Worker(s.CompanyID, workerName))
	entry.Action, entry.Resource, entry.ResourceID = "webhooksubscription.disabled", "WebhookSubscription", s.ID
	entry.Changes = map[string]audit.Change{"enabled": {From: true, To: false}, "disabledReason": {To: reason}}
	if err := audit.Write(ctx, tx.Client, entry); err != nil {
		return err
	}
	if d.Mail == nil {
		return nil
	}
	return tx.AsSystem(ctx, "the owners of a sandbox are those of its live company", func(ctx context.Context) error {
		return d.notify(ctx, tx, s.CompanyID, s.URL, reason)
	})
}

// notify mails the owners of the company, or of the live company of a sandbox.
func (d *Dispatcher) notify(ctx context.Context, tx *store.Tx, companyID, url, reason string) error {
	c, err := tx.Company.Query().Where(company.ID(companyID)).Only(ctx)
	if err != nil {
		return fmt.Errorf("look the company up: %w", err)
	}
	subject := locale.Say("A webhook of %s was disabled", c.Name)
	if c.SandboxOf != nil {
		companyID, subject = *c.SandboxOf, locale.Say("A webhook of %s (sandbox) was disabled", c.Name)
	}
	owners, err := tx.User.Query().Where(user.CompanyID(companyID), user.RoleEQ(user.RoleOwner), user.StatusEQ(user.StatusActive)).
		Order(user.ByID()).Limit(maxNotices).All(ctx)
	if err != nil {
		return fmt.Errorf("look the owners up: %w", err)
	}
	for _, o := range owners {
		p := op.ReaderOf(o, c)
		err := d.Mail.Enqueue(ctx, tx, mail.Message{
			To: o.Email, Of: o.ID, Subject: mail.Plain(p.T(subject), 150),
			Text: p.T(locale.Say("Deliveries to this address have stopped:")) + "\n\n  " + mail.Plain(url, 500) + "\n\n" + p.T(reasons[reason]) + "\n\n" +
				p.T(locale.Say("Events that happen from now on are not sent there. Once the receiver works again, enable the\n"+
					"subscription in the settings and replay what it has missed; events are kept for 30 days.")) + "\n",
		})
		if err != nil {
			return fmt.Errorf("mail the notice: %w", err)
		}
	}
	return nil
}

// maxNotices is how many owners get the notice.
const maxNotices = 20

package billing

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// The operations on a company's subscription. Only owners may run them.
var (
	ChangePlan = op.New("billing.change", op.Spec{
		Resource: "Company", Action: op.Update, AdminLayer: true, LiveOnly: true, Summary: "Subscribe to another plan",
	}, onAccount(changePlan))

	CancelSubscription = op.New("billing.cancel", op.Spec{
		Resource: "Company", Action: op.Update, AdminLayer: true, LiveOnly: true, Summary: "End the subscription",
	}, onAccount(cancelSubscription))
)

// PlanInput names the plan.
type PlanInput struct {
	Plan string `json:"plan" enum:"free,pro,starter,growth,business,enterprise"`
}

// Subscribed is the result of a change of the subscription.
type Subscribed struct {
	ID      string            // the id of the company
	Invoice *ent.Invoice      // the invoice for the change; nil if nothing was charged
	Notes   []*ent.CreditNote // what took the unused part of a more expensive plan off its invoices
}

// changePlan returns conflict for the company's current plan, and for a change from or to Enterprise.
func changePlan(ctx context.Context, tx *op.Tx, a *account, in PlanInput) (*Subscribed, error) {
	if err := mayChange(a.plan.Name, in.Plan); err != nil {
		return nil, err
	}
	before := a.company
	inv, notes, err := a.change(tx.Unfiltered(ctx, "no policy hides an invoice from the books"), planOf(in.Plan))
	if err != nil {
		return nil, err
	}
	tx.As("plan.changed")
	if len(notes) > 0 {
		numbers := make([]string, len(notes))
		for i, n := range notes {
			numbers[i] = NoteNumber(n)
		}
		tx.ChangedField("creditNotes", nil, numbers)
	}
	out, err := a.subscribed(ctx, tx, before)
	if err != nil {
		return nil, err
	}
	out.Invoice, out.Notes = inv, notes
	return out, nil
}

// mayChange returns conflict if the company cannot change between the two plans by itself.
func mayChange(from, to string) error {
	switch {
	case from == to:
		return apperr.New(apperr.Conflict, "The company has this plan.")
	case from == Enterprise || to == Enterprise:
		return apperr.New(apperr.Conflict, "The Enterprise plan is agreed on with the operator.")
	}
	return nil
}

// CancelInput holds an optional reason.
type CancelInput struct {
	Reason *string `json:"reason,omitempty" nullable:"true" maxLength:"1000" doc:"Why, for the audit log."`
}

// cancelSubscription returns conflict if the company is on the free plan.
func cancelSubscription(ctx context.Context, tx *op.Tx, a *account, in CancelInput) (*Subscribed, error) {
	if a.plan.Name == Free {
		return nil, apperr.New(apperr.Conflict, "The company has no subscription.")
	}
	before := a.company
	if err := a.cancel(ctx); err != nil {
		return nil, err
	}
	tx.As("subscription.cancelled")
	tx.ChangedField("reason", "", op.Or(in.Reason, ""))
	return a.subscribed(ctx, tx, before)
}

// subscribed completes a change of the subscription. The sandbox's row gets the plan as well, but keeps the free plan's limits.
func (a *account) subscribed(ctx context.Context, tx *op.Tx, before *ent.Company) (*Subscribed, error) {
	err := tx.AsSystem(ctx, "a company's sandbox is a company of its own", func(ctx context.Context) error {
		return tx.Company.Update().Where(company.SandboxOf(a.company.ID)).SetPlan(a.company.Plan).Exec(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("change the sandbox's plan: %w", err)
	}
	tx.AuthorityChanged()
	tx.Changed(before, a.company)
	return &Subscribed{ID: a.company.ID}, nil
}

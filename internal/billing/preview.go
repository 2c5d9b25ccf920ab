package billing

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
)

// PreviewPlanChange returns what ChangePlan would do now, and returns the same errors.
var PreviewPlanChange = op.New("billing.preview", op.Spec{
	Resource: "Credit", Action: op.Read, Scope: "billing:read", AdminLayer: true, LiveOnly: true, Summary: "Preview what another plan would cost",
}, previewPlanChange)

// PlanChange is the effect of a change of plan now, in cents.
type PlanChange struct {
	Plan           string
	Charge         int64 // the subtotal of the invoice, before credits
	Reduction      int64 // what would be taken off invoices that are not paid
	Credit         int64 // the credit that would be issued
	CreditsApplied int64
	AmountDue      int64
	Limits         []*LimitChange
}

// LimitChange is a limit of the company under its current plan and under the other plan. Limits that the operator has set for the
// company apply under both.
type LimitChange struct {
	Name      string
	Now, Then int
	Used      *int // nil if the use is counted only for each credential
	Exceeded  bool // the current use exceeds the other plan's limit
}

// previewPlanChange uses the account as it was last settled. If a period ended within the last minute, its invoice may be missing:
// the credits that the invoice will use still count as available, and all that is unused of it counts as not paid.
func previewPlanChange(ctx context.Context, tx *op.Tx, in PlanInput) (*PlanChange, error) {
	co, err := tx.Company.Query().Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	if err := mayChange(string(co.Plan), in.Plan); err != nil {
		return nil, err
	}
	a, err := accountOf(ctx, tx)
	if err != nil {
		return nil, err
	}
	to := planOf(in.Plan)
	out := &PlanChange{Plan: to.Name, Charge: to.Price}
	if now := tx.Now(ctx); a.AnchorAt != nil {
		from := planOf(string(co.Plan))
		out.Charge, out.Reduction = periodAt(*a.AnchorAt, now).difference(from, to, now)
		if a.PeriodEndAt.After(now) && out.Charge == 0 {
			as := &account{BillingAccount: a, db: tx.Client, company: co, plan: from, now: now}
			if out.Reduction, out.Credit, err = as.givesBack(tx.Unfiltered(ctx, "no policy hides an invoice from the books"), to); err != nil {
				return nil, err
			}
		}
	}
	out.CreditsApplied = min(out.Charge, a.Balance)
	out.AmountDue = out.Charge - out.CreditsApplied
	out.Limits, err = limitChanges(ctx, tx, co, to)
	return out, err
}

// givesBack returns what a change to a plan now takes off the invoices that are not paid, and what it gives as a credit.
func (a *account) givesBack(ctx context.Context, to Plan) (off, credit int64, err error) {
	parts, err := a.parts(ctx)
	if err != nil {
		return 0, 0, err
	}
	cuts, err := a.unused(ctx, parts, to)
	for _, c := range cuts {
		off += c.off
		credit += c.cents - c.off
	}
	return off, credit, err
}

// limitChanges compares the limits of the current plan and of another plan.
func limitChanges(ctx context.Context, tx *op.Tx, co *ent.Company, to Plan) ([]*LimitChange, error) {
	own := ratelimit.OwnOf(co)
	now, _ := ratelimit.ForCompany(string(co.Plan), false, own)
	then, _ := ratelimit.ForCompany(to.Name, false, own)
	invited, err := people.Invitations(tx.Client, co.ID, tx.Now(ctx)).
		Count(principal.System(ctx, "preview: links in mails belong to no company"))
	if err != nil {
		return nil, fmt.Errorf("count the company's invitations: %w", err)
	}
	return []*LimitChange{
		{Name: "callsPerMinute", Now: now.PerMinute, Then: then.PerMinute},
		{Name: "callsPerDay", Now: now.PerDay, Then: then.PerDay},
		{Name: "megabytesPerMinute", Now: now.MegabytesPerMinute(), Then: then.MegabytesPerMinute()},
		{Name: "megabytesPerDay", Now: now.MegabytesPerDay(), Then: then.MegabytesPerDay()},
		{Name: "queryCost", Now: now.QueryCost, Then: then.QueryCost},
		{Name: "invitationsPerDay", Now: now.Invitations, Then: then.Invitations, Used: &invited, Exceeded: invited > then.Invitations},
	}, nil
}

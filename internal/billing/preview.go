package billing

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/principal"
	"atrium/internal/ratelimit"
)

// PreviewPlanChange says what ChangePlan would do now, and refuses what it refuses.
var PreviewPlanChange = op.New("billing.preview", op.Spec{
	Resource: "Credit", Action: op.Read, Scope: "billing:read", AdminLayer: true, Summary: "Preview what another plan would cost",
}, previewPlanChange)

// PlanChange is what a change to a plan would come to now, in cents.
type PlanChange struct {
	Plan           string
	Charge         int64 // of an invoice, before credits
	Credit         int64 // that would be issued
	CreditsApplied int64
	AmountDue      int64
	Limits         []*LimitChange
}

// LimitChange is one of the company's limits under the plan that it has, and under the other one. Numbers that the operator
// gave the company hold under either.
type LimitChange struct {
	Name      string
	Now, Then int
	Used      *int // nil where only what each credential uses is counted
	Exceeded  bool // more is used already than the other plan allows
}

// previewPlanChange goes by the account as it was last settled. A period that ended within the last minute may not have been
// billed yet: the credits that its invoice takes still count.
func previewPlanChange(ctx context.Context, tx *op.Tx, in PlanInput) (*PlanChange, error) {
	if err := live(tx); err != nil {
		return nil, err
	}
	co, err := tx.Company.Query().Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	if err := mayChange(string(co.Plan), in.Plan); err != nil {
		return nil, err
	}
	a, err := look(ctx, tx)
	if err != nil {
		return nil, err
	}
	to := planOf(in.Plan)
	out := &PlanChange{Plan: to.Name, Charge: to.Price}
	if now := tx.Now(ctx); a.AnchorAt != nil {
		out.Charge, out.Credit = periodAt(*a.AnchorAt, now).difference(planOf(string(co.Plan)), to, now)
	}
	out.CreditsApplied = min(out.Charge, a.Balance)
	out.AmountDue = out.Charge - out.CreditsApplied
	out.Limits, err = limitChanges(ctx, tx, co, to)
	return out, err
}

// limitChanges sets the limits of two plans side by side.
func limitChanges(ctx context.Context, tx *op.Tx, co *ent.Company, to Plan) ([]*LimitChange, error) {
	own := ratelimit.Own{PerMinute: co.RatePerMinute, PerDay: co.RatePerDay, QueryCost: co.QueryCost, Invitations: co.InvitationsPerDay}
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
		{Name: "queryCost", Now: now.QueryCost, Then: then.QueryCost},
		{Name: "invitationsPerDay", Now: now.Invitations, Then: then.Invitations, Used: &invited, Exceeded: invited > then.Invitations},
	}, nil
}

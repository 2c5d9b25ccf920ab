package graph

import (
	"context"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/billing"
	onpaper "atrium/internal/billing/document" // renamed, because this package has a type document
)

func (r *queryResolver) CreditBalance(ctx context.Context) (*billing.Balance, error) {
	return resolve.Run(ctx, r.Engine, billing.GetBalance, billing.GetBalanceInput{})
}

func (r *queryResolver) CreditHistory(ctx context.Context, first *int, after *string) (*relay.Connection[ent.CreditEntry], error) {
	return resolve.List(ctx, r.Engine, billing.ListHistory, nil, first, after, nil)
}

func (r *queryResolver) PreviewPlanChange(ctx context.Context, plan company.Plan) (*billing.PlanChange, error) {
	return resolve.Run(ctx, r.Engine, billing.PreviewPlanChange, billing.PlanInput{Plan: string(plan)})
}

func (r *mutationResolver) ChangePlan(ctx context.Context, input billing.PlanInput) (*generated.ChangePlanPayload, error) {
	s, err := resolve.Change(ctx, r.Engine, billing.ChangePlan, input, "")
	if err != nil {
		return nil, err
	}
	c, err := ownCompany(ctx, r.Engine)
	return &generated.ChangePlanPayload{Company: c, Invoice: s.Invoice, CreditNotes: s.Notes}, err
}

func (r *mutationResolver) CancelSubscription(ctx context.Context, input billing.CancelInput) (*generated.CancelSubscriptionPayload, error) {
	if _, err := resolve.Change(ctx, r.Engine, billing.CancelSubscription, input, ""); err != nil {
		return nil, err
	}
	c, err := ownCompany(ctx, r.Engine)
	return &generated.CancelSubscriptionPayload{Company: c}, err
}

func (r *invoiceResolver) Number(_ context.Context, inv *ent.Invoice) (string, error) {
	return billing.Number(inv), nil
}

func (r *invoiceResolver) PDFURL(_ context.Context, inv *ent.Invoice) (string, error) {
	return onpaper.Address(r.baseURL, inv.ID), nil
}

func (r *invoiceResolver) Lines(_ context.Context, inv *ent.Invoice) ([]*billing.Line, error) {
	return billing.Lines(inv)
}

func (r *invoiceResolver) CreditNotes(ctx context.Context, inv *ent.Invoice) ([]*ent.CreditNote, error) {
	return resolve.Attached(ctx, r.Engine, inv, func(inv *ent.Invoice) string { return inv.ID }, billing.LookUpCreditNotes)
}

func (r *creditNoteResolver) Number(_ context.Context, note *ent.CreditNote) (string, error) {
	return billing.NoteNumber(note), nil
}

func (r *creditNoteResolver) PDFURL(_ context.Context, note *ent.CreditNote) (string, error) {
	return onpaper.NoteAddress(r.baseURL, note), nil
}

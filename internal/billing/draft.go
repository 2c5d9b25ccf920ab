package billing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/invoice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/text"
)

// The operations on drafts, for invoices that were agreed on: the operator drafts an invoice, and issues or voids it.
var (
	DraftInvoice = op.New("invoice.draft", op.Spec{
		Resource: "Invoice", Action: op.Create, LiveOnly: true, Summary: "Draft an invoice",
	}, onAccount(draftInvoice))

	IssueInvoice = op.OnRow("invoice.issue", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Issue a draft", Past: map[string]string{"invoice.issue": "invoice.issued"},
	}, loadInvoice, onInvoice(issueInvoice, invoice.StatusDraft))
)

// DraftInvoiceInput describes the invoice.
type DraftInvoiceInput struct {
	Lines       []Line    `json:"lines" minItems:"1" maxItems:"50"`
	PeriodStart time.Time `json:"periodStart"`
	PeriodEnd   time.Time `json:"periodEnd"`
}

// maxLine is the maximum amount of a line, in cents.
const maxLine = 1_000_000_000

func draftInvoice(ctx context.Context, tx *op.Tx, a *account, in DraftInvoiceInput) (*ent.Invoice, error) {
	for i := range in.Lines {
		l := &in.Lines[i]
		if l.Description = strings.TrimSpace(l.Description); text.Blank(l.Description) || len([]rune(l.Description)) > 200 {
			return nil, apperr.InvalidField(fmt.Sprintf("lines[%d].description", i), "must have 1 to 200 characters")
		}
		if l.Amount < 1 || l.Amount > maxLine {
			return nil, apperr.InvalidField(fmt.Sprintf("lines[%d].amount", i), "must be 1 to 1000000000 cents")
		}
	}
	if !in.PeriodEnd.After(in.PeriodStart) {
		return nil, apperr.InvalidField("periodEnd", "must be after periodStart")
	}
	subtotal, text, err := total(in.Lines)
	if err != nil {
		return nil, err
	}
	inv, err := a.create(id.New("inv"), Period{in.PeriodStart, in.PeriodEnd}, subtotal, text).
		SetNumber(0).SetStatus(invoice.StatusDraft).SetCreditsApplied(0).SetAmountDue(subtotal).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("draft the invoice: %w", err)
	}
	tx.Changed(nil, inv)
	return inv, nil
}

// issueInvoice replaces the draft by an invoice with a number, and applies the credits. Returns conflict if the invoice is not a
// draft.
func issueInvoice(ctx context.Context, tx *op.Tx, a *account, draft *ent.Invoice, _ op.ByID) (*ent.Invoice, error) {
	if err := a.discard(ctx, draft); err != nil {
		return nil, err
	}
	inv, err := a.invoice(ctx, draft.ID, Period{draft.PeriodStart, draft.PeriodEnd}, draft.Subtotal, draft.Lines)
	if err != nil {
		return nil, err
	}
	tx.Changed(draft, inv)
	return inv, nil
}

// discard deletes a draft.
func (a *account) discard(ctx context.Context, draft *ent.Invoice) error {
	if err := a.db.Invoice.DeleteOne(draft).Exec(ctx); err != nil {
		return fmt.Errorf("discard the draft: %w", err)
	}
	return nil
}

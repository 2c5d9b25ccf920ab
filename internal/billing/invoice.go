package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/invoice"
	"atrium/ent/journalline"
	"atrium/internal/apperr"
	"atrium/internal/id"
	"atrium/internal/op"
	"atrium/internal/paging"
)

// The operations on invoices. Only the operator says that one was paid.
var (
	ListInvoices = paging.NewList("invoice.list", op.Spec{
		Resource: "Invoice", Action: op.Read, Scope: "billing:read", Summary: "List invoices",
		Sorts: op.Sorts{"createdAt": invoice.FieldCreatedAt, "updatedAt": invoice.FieldUpdatedAt, "number": invoice.FieldNumber},
	}, func(_ context.Context, tx *op.Tx, in ListInvoicesInput) *ent.InvoiceQuery {
		return tx.Invoice.Query().Where(paging.In(nil, in.Status, invoice.StatusIn)...)
	})

	GetInvoice = op.Get("invoice.read", op.Spec{
		Resource: "Invoice", Action: op.Read, Scope: "billing:read", Summary: "Get an invoice",
	}, loadInvoice)

	PayInvoice = op.OnRow("invoice.pay", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Note that an invoice was paid", Past: map[string]string{"invoice.pay": "invoice.paid"},
	}, loadInvoice, payInvoice)
)

// ListInvoicesInput filters and pages the invoices.
type ListInvoicesInput struct {
	paging.Page
	Status []string `json:"-" query:"status" enum:"open,paid" doc:"Any of these."`
}

func loadInvoice(ctx context.Context, tx *op.Tx, id string) (*ent.Invoice, error) {
	return op.Lock(tx, tx.Invoice.Query().Where(invoice.ID(id))).Only(ctx)
}

// Line is one line of an invoice.
type Line struct {
	Description string `json:"description"`
	Amount      int64  `json:"amount"` // cents
}

// Lines returns an invoice's lines.
func Lines(inv *ent.Invoice) (out []*Line, err error) {
	if len(inv.Lines) == 0 {
		return []*Line{}, nil
	}
	if err := json.Unmarshal(inv.Lines, &out); err != nil {
		return nil, fmt.Errorf("read the lines of invoice %s: %w", inv.ID, err)
	}
	return out, nil
}

// Number returns an invoice's number as people read it.
func Number(inv *ent.Invoice) string { return fmt.Sprintf("INV-%06d", inv.Number) }

// bill makes the next invoice, and applies the credits to it.
func (a *account) bill(ctx context.Context, p Period, lines ...Line) (*ent.Invoice, error) {
	invoiceID := id.New("inv")
	a.Invoices++
	var subtotal int64
	for _, l := range lines {
		subtotal += l.Amount
	}
	text, err := json.Marshal(lines)
	if err != nil {
		return nil, fmt.Errorf("write the lines of an invoice: %w", err)
	}
	applied, err := a.apply(ctx, subtotal, invoiceID, fmt.Sprintf("Invoice INV-%06d", a.Invoices))
	if err != nil {
		return nil, err
	}
	due := subtotal - applied
	c := a.db.Invoice.Create().SetID(invoiceID).SetNumber(a.Invoices).SetStatus(invoice.StatusOpen).SetPeriodStart(p.Start).SetPeriodEnd(p.End).
		SetLines(text).SetSubtotal(subtotal).SetCreditsApplied(applied).SetAmountDue(due).SetCurrency(Currency)
	if due == 0 {
		c.SetStatus(invoice.StatusPaid).SetPaidAt(a.now)
	}
	inv, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the invoice: %w", err)
	}
	return inv, a.book(ctx, invoiceID, amounts{
		journalline.AccountReceivable: due, journalline.AccountCredit: applied, journalline.AccountRevenue: -subtotal,
	})
}

// PayInvoiceInput names the invoice and how it was paid.
type PayInvoiceInput struct {
	op.ByID
	Reference string `json:"reference" minLength:"1" maxLength:"200" doc:"What the payment is known by, such as that of a bank transfer."`
}

// payInvoice returns conflict for an invoice that is paid.
func payInvoice(ctx context.Context, tx *op.Tx, before *ent.Invoice, in PayInvoiceInput) (*ent.Invoice, error) {
	if before.Status == invoice.StatusPaid {
		return nil, apperr.New(apperr.Conflict, "The invoice is paid.")
	}
	a, err := open(ctx, tx)
	if err != nil {
		return nil, err
	}
	after, err := before.Update().SetStatus(invoice.StatusPaid).SetPaidAt(a.now).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("note the payment: %w", err)
	}
	tx.Changed(before, after)
	tx.ChangedField("reference", nil, strings.TrimSpace(in.Reference))
	err = a.book(ctx, before.ID, amounts{journalline.AccountCash: before.AmountDue, journalline.AccountReceivable: -before.AmountDue})
	if err != nil {
		return nil, err
	}
	return after, a.save(ctx)
}

package billing

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/creditnote"
	"atrium/ent/invoice"
	"atrium/ent/journalline"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/id"
)

// The operations that read invoices. A company cannot see its drafts.
var (
	ListInvoices = paging.NewList("invoice.list", op.Spec{
		Resource: "Invoice", Action: op.Read, Scope: "billing:read", Summary: "List invoices",
		Sorts: op.Sorts{"createdAt": invoice.FieldCreatedAt, "updatedAt": invoice.FieldUpdatedAt, "number": invoice.FieldNumber},
	}, func(_ context.Context, tx *op.Tx, in ListInvoicesInput) *ent.InvoiceQuery {
		return tx.Invoice.Query().Where(invoice.NumberGT(0)).Where(paging.In(nil, in.Status, invoice.StatusIn)...)
	})

	GetInvoice = op.Get("invoice.read", op.Spec{
		Resource: "Invoice", Action: op.Read, Scope: "billing:read", Summary: "Get an invoice",
	}, loadIssued)

	// GetDocument serves package document, which shows a whole invoice.
	GetDocument = op.OnRow("invoice.document", op.Spec{
		Resource: "Invoice", Action: op.Read, Scope: "billing:read", Summary: "Get an invoice with its credit notes",
	}, loadIssued, getDocument)

	// LookUpCreditNotes returns the credit notes of invoices by the invoice's id, oldest first.
	LookUpCreditNotes = op.New("invoice.creditNotes", op.Spec{
		Resource: "Invoice", Action: op.Read, Scope: "billing:read", Summary: "Read the credit notes of invoices",
	}, lookUpCreditNotes)
)

// loadIssued does not find drafts.
func loadIssued(ctx context.Context, tx *op.Tx, id string) (*ent.Invoice, error) {
	return tx.Invoice.Query().Where(invoice.ID(id), invoice.NumberGT(0)).Only(ctx)
}

// Document is an invoice with its credit notes, oldest first.
type Document struct {
	Invoice *ent.Invoice
	Notes   []*ent.CreditNote
	Company *ent.Company
}

// maxNotes is the maximum number of credit notes of an invoice.
const maxNotes = 200

func getDocument(ctx context.Context, tx *op.Tx, inv *ent.Invoice, _ op.ByID) (*Document, error) {
	notes, err := tx.CreditNote.Query().Where(creditnote.InvoiceID(inv.ID)).Order(creditnote.ByNumber()).Limit(maxNotes).
		All(tx.Unfiltered(ctx, "who may read an invoice may read its credit notes"))
	if err != nil {
		return nil, fmt.Errorf("read the credit notes: %w", err)
	}
	c, err := tx.Company.Get(ctx, inv.CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	return &Document{Invoice: inv, Notes: notes, Company: c}, nil
}

func lookUpCreditNotes(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*ent.CreditNote, error) {
	visible, err := tx.Invoice.Query().Where(invoice.IDIn(in.IDs...)).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the invoices: %w", err)
	}
	notes, err := tx.CreditNote.Query().Where(creditnote.InvoiceIDIn(visible...)).Order(creditnote.ByNumber()).Limit(maxNotes * max(len(visible), 1)).
		All(tx.Unfiltered(ctx, "who may read an invoice may read its credit notes"))
	if err != nil {
		return nil, fmt.Errorf("read the credit notes: %w", err)
	}
	out := make(map[string][]*ent.CreditNote, len(visible))
	for _, n := range notes {
		out[n.InvoiceID] = append(out[n.InvoiceID], n)
	}
	return out, nil
}

// ListInvoicesInput filters the invoices and selects a page.
type ListInvoicesInput struct {
	paging.Page
	Status []string `json:"-" query:"status" enum:"open,paid,uncollectible,void" doc:"Any of these."`
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

// Number returns an invoice's number as people read it; DRAFT for a draft.
func Number(inv *ent.Invoice) string { return numbered(inv.Number) }

func numbered(n int64) string {
	if n == 0 {
		return "DRAFT"
	}
	return fmt.Sprintf("INV-%06d", n)
}

// Left returns the amount that is left to pay, in cents. It includes amounts that were written off.
func Left(inv *ent.Invoice) int64 {
	if inv.Status != invoice.StatusOpen && inv.Status != invoice.StatusUncollectible {
		return 0
	}
	return inv.AmountDue - inv.Credited
}

// bill makes the next invoice from lines.
func (a *account) bill(ctx context.Context, p Period, lines ...Line) (*ent.Invoice, error) {
	subtotal, text, err := total(lines)
	if err != nil {
		return nil, err
	}
	return a.invoice(ctx, id.New("inv"), p, subtotal, text)
}

// total returns the sum of the lines and their JSON, as the row holds them.
func total(lines []Line) (subtotal int64, text json.RawMessage, err error) {
	for _, l := range lines {
		subtotal += l.Amount
	}
	if text, err = json.Marshal(lines); err != nil {
		return 0, nil, fmt.Errorf("write the lines of an invoice: %w", err)
	}
	return subtotal, text, nil
}

// invoice creates an invoice with the next number and applies credits to it. If the company has a payment method, the amount due
// is charged at once.
func (a *account) invoice(ctx context.Context, invoiceID string, p Period, subtotal int64, lines json.RawMessage) (*ent.Invoice, error) {
	a.Invoices++
	applied, err := a.apply(ctx, subtotal, invoiceID, "Invoice "+numbered(a.Invoices))
	if err != nil {
		return nil, err
	}
	due := subtotal - applied
	c := a.create(invoiceID, p, subtotal, lines).SetNumber(a.Invoices).SetStatus(invoice.StatusOpen).SetCreditsApplied(applied).SetAmountDue(due)
	switch {
	case due == 0:
		c.SetStatus(invoice.StatusPaid).SetPaidAt(a.now)
	case a.PaymentMethod != "":
		c.SetNextChargeAt(a.now)
	}
	inv, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the invoice: %w", err)
	}
	return inv, a.book(ctx, invoiceID, amounts{
		journalline.AccountReceivable: due, journalline.AccountCredit: applied, journalline.AccountRevenue: -subtotal,
	})
}

// create sets the fields that invoices and drafts have in common.
func (a *account) create(invoiceID string, p Period, subtotal int64, lines json.RawMessage) *ent.InvoiceCreate {
	return a.db.Invoice.Create().SetID(invoiceID).SetBillTo(a.company.Name).SetPeriodStart(p.Start).SetPeriodEnd(p.End).
		SetLines(lines).SetSubtotal(subtotal).SetCurrency(Currency)
}

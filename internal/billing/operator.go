package billing

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/creditentry"
	"atrium/ent/creditnote"
	"atrium/ent/invoice"
	"atrium/ent/journalline"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

// The operations of the operator on an issued invoice. They change only its status.
var (
	PayInvoice = op.OnRow("invoice.pay", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Note that an invoice was paid", Past: map[string]string{"invoice.pay": "invoice.paid"},
	}, loadInvoice, onInvoice(payInvoice, invoice.StatusOpen, invoice.StatusUncollectible))

	VoidInvoice = op.OnRow("invoice.void", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Void an invoice that should not have been made",
	}, loadInvoice, onInvoice(voidInvoice, invoice.StatusOpen, invoice.StatusDraft))

	WriteOffInvoice = op.OnRow("invoice.write_off", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Give up on an invoice", Past: map[string]string{"invoice.write_off": "invoice.written_off"},
	}, loadInvoice, onInvoice(writeOffInvoice, invoice.StatusOpen))

	CreditInvoice = op.OnRow("invoice.credit", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Correct an invoice by a credit note",
	}, loadInvoice, onInvoice(creditInvoice, invoice.StatusOpen, invoice.StatusPaid))
)

// loadInvoice does not lock the invoice: operations that change an invoice lock the account first (onInvoice).
func loadInvoice(ctx context.Context, tx *op.Tx, id string) (*ent.Invoice, error) {
	return tx.Invoice.Get(ctx, id)
}

// reread reads an invoice under the account's lock.
func reread(ctx context.Context, tx *op.Tx, id string) (*ent.Invoice, error) {
	inv, err := tx.Invoice.Get(tx.Unfiltered(ctx, "no policy hides an invoice from the books"), id)
	if err != nil {
		return nil, fmt.Errorf("read the invoice: %w", err)
	}
	return inv, nil
}

// PayInvoiceInput names the invoice and the payment.
type PayInvoiceInput struct {
	op.ByID
	Reference string `json:"reference" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" doc:"What the payment is known by, such as that of a bank transfer."`
}

// payInvoice returns conflict if nothing is left to pay. An invoice that was written off can still be paid.
func payInvoice(ctx context.Context, tx *op.Tx, a *account, before *ent.Invoice, in PayInvoiceInput) (*ent.Invoice, error) {
	after, err := a.paid(ctx, before, Left(before))
	if err != nil {
		return nil, err
	}
	tx.Changed(before, after)
	tx.ChangedField("reference", nil, strings.TrimSpace(in.Reference))
	return after, nil
}

// paid records a payment of an invoice. What is paid beyond the rest of it, because a credit note took something off while the charge
// was under way, becomes a credit.
func (a *account) paid(ctx context.Context, inv *ent.Invoice, cents int64) (*ent.Invoice, error) {
	u := inv.Update().ClearNextChargeAt()
	if inv.Status != invoice.StatusPaid {
		u.SetStatus(invoice.StatusPaid).SetPaidAt(a.now)
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("note the payment: %w", err)
	}
	left := Left(inv)
	if err := a.book(ctx, inv.ID, amounts{journalline.AccountCash: left, owedOn(inv): -left}); err != nil {
		return nil, err
	}
	if cents > left {
		_, err = a.issue(ctx, cents-left, creditentry.ReasonDowngrade, Number(inv)+" was charged before it was reduced", journalline.AccountCash)
	}
	return after, err
}

// owedOn returns the account on which the rest of an invoice stands.
func owedOn(inv *ent.Invoice) journalline.Account {
	if inv.Status == invoice.StatusUncollectible {
		return journalline.AccountBadDebt
	}
	return journalline.AccountReceivable
}

// VoidInvoiceInput names the invoice and the reason.
type VoidInvoiceInput struct {
	op.ByID
	Reason string `json:"reason" minLength:"1" maxLength:"500" pattern:"\\S" patternDescription:"more than blanks" doc:"Why, for the audit log."`
}

// voidInvoice voids an open invoice and issues its applied credits again, or deletes a draft. Returns conflict for other states.
func voidInvoice(ctx context.Context, tx *op.Tx, a *account, before *ent.Invoice, in VoidInvoiceInput) (*ent.Invoice, error) {
	tx.ChangedField("reason", nil, in.Reason)
	if before.Status == invoice.StatusDraft {
		tx.Changed(before, nil)
		if err := a.discard(ctx, before); err != nil {
			return nil, err
		}
		return before, nil
	}
	after, err := before.Update().SetStatus(invoice.StatusVoid).ClearNextChargeAt().Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("void the invoice: %w", err)
	}
	tx.Changed(before, after)
	// The applied credits are not booked here: issuing them again below books them.
	if err := a.book(ctx, before.ID, amounts{journalline.AccountReceivable: -Left(before), journalline.AccountRevenue: Left(before)}); err != nil {
		return nil, err
	}
	if before.CreditsApplied > 0 {
		_, err = a.issue(ctx, before.CreditsApplied, creditentry.ReasonAdjustment, "Invoice "+Number(before)+" was voided", journalline.AccountRevenue)
		if err != nil {
			return nil, err
		}
	}
	return after, nil
}

// WriteOffInvoiceInput names the invoice and the reason.
type WriteOffInvoiceInput struct {
	op.ByID
	Reason string `json:"reason" minLength:"1" maxLength:"500" pattern:"\\S" patternDescription:"more than blanks" doc:"Why, for the audit log."`
}

// writeOffInvoice returns conflict if the invoice is not open.
func writeOffInvoice(ctx context.Context, tx *op.Tx, a *account, before *ent.Invoice, in WriteOffInvoiceInput) (*ent.Invoice, error) {
	after, err := before.Update().SetStatus(invoice.StatusUncollectible).ClearNextChargeAt().Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("give up on the invoice: %w", err)
	}
	tx.Changed(before, after)
	tx.ChangedField("reason", nil, in.Reason)
	if err := a.book(ctx, before.ID, amounts{journalline.AccountBadDebt: Left(before), journalline.AccountReceivable: -Left(before)}); err != nil {
		return nil, err
	}
	return after, nil
}

// CreditInvoiceInput describes a credit note.
type CreditInvoiceInput struct {
	op.ByID
	Amount      int64  `json:"amount" minimum:"1" maximum:"100000000" doc:"In cents."`
	Description string `json:"description" minLength:"1" maxLength:"500" pattern:"\\S" patternDescription:"more than blanks"`
}

// creditInvoice reduces the amount left to pay of an open invoice, and issues the rest of the note as a credit, since money is
// never paid out. Returns conflict if the credit notes would exceed the invoice, and for an invoice that is neither open nor paid.
func creditInvoice(ctx context.Context, tx *op.Tx, a *account, before *ent.Invoice, in CreditInvoiceInput) (*ent.CreditNote, error) {
	if in.Amount > before.Subtotal-before.Credited {
		return nil, apperr.New(apperr.Conflict, "The invoice and its credit notes leave %d cents that can be credited.", before.Subtotal-before.Credited)
	}
	note, after, err := a.note(ctx, before, in.Amount, in.Description)
	if err != nil {
		return nil, err
	}
	tx.Changed(before, after)
	tx.ChangedField("creditNote", nil, NoteNumber(note))
	if note.Credited > 0 {
		what := NoteNumber(note) + " for " + Number(before) + ": " + in.Description
		if _, err := a.issue(ctx, note.Credited, creditentry.ReasonAdjustment, text.Short(what, 500), journalline.AccountRevenue); err != nil {
			return nil, err
		}
	}
	return note, nil
}

// note makes a credit note of at most what earlier notes have left of the invoice. It takes off what is left to pay first. The caller
// issues the rest, the note's Credited, as a credit. Returns the note, and the invoice as it is now.
func (a *account) note(ctx context.Context, inv *ent.Invoice, cents int64, description string) (*ent.CreditNote, *ent.Invoice, error) {
	notes, err := a.db.CreditNote.Query().Where(creditnote.InvoiceID(inv.ID)).Count(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("count the credit notes: %w", err)
	}
	if notes >= maxNotes {
		return nil, nil, apperr.New(apperr.Conflict, "The invoice has %d credit notes, the most that it can have.", maxNotes)
	}
	a.CreditNotes++
	off := min(cents, Left(inv))
	note, err := a.db.CreditNote.Create().SetNumber(a.CreditNotes).SetInvoiceID(inv.ID).SetBillTo(a.company.Name).
		SetDescription(description).SetAmount(cents).SetCredited(cents - off).Save(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("make the credit note: %w", err)
	}
	u := inv.Update().AddCredited(cents)
	if inv.Status != invoice.StatusPaid && off == Left(inv) {
		u.SetStatus(invoice.StatusPaid).SetPaidAt(a.now)
		switch p, err := a.pending(ctx, inv.ID); {
		case err != nil:
			return nil, nil, err
		case p == nil: // else the job still has to ask for the charge's outcome
			u.ClearNextChargeAt()
		}
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("credit the invoice: %w", err)
	}
	return note, after, a.book(ctx, note.ID, amounts{owedOn(inv): -off, journalline.AccountRevenue: off})
}

// NoteNumber returns a credit note's number as people read it.
func NoteNumber(n *ent.CreditNote) string { return fmt.Sprintf("CN-%06d", n.Number) }

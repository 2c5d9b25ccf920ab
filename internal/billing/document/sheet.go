package document

import (
	"fmt"
	"time"

	"atrium/ent/invoice"
	"atrium/internal/billing"
	"atrium/internal/platform/locale"
)

// sheet is the content of a document as text, in the company's language.
type sheet struct {
	in            locale.Printer // of the company
	Title, Number string
	From          []string // the seller's lines
	To            string
	Facts         [][2]string // label and value, beside the addressee
	Lines         [][2]string
	Totals        [][2]string // label and amount; the last row is the total
	State         string      // the current state; only on pages
	Notes         []link      // the credit notes of an invoice; only on its page
	PDF           string      // the address of the PDF
	Made          time.Time
}

// link is a link to a credit note.
type link struct{ Address, Text string }

// invoiceSheet returns the sheet of an invoice as it was issued, and its current state.
func invoiceSheet(d *billing.Document, from []string, in locale.Printer) (*sheet, error) {
	inv := d.Invoice
	lines, err := billing.Lines(inv)
	if err != nil {
		return nil, err
	}
	s := &sheet{
		in: in, Title: in.T(locale.Say("Invoice")), Number: billing.Number(inv), From: from, To: inv.BillTo, PDF: inv.ID + ".pdf", Made: inv.CreatedAt,
		Facts: [][2]string{
			{in.T(locale.Say("Date")), in.Date(inv.CreatedAt)}, {in.T(locale.Say("From")), in.Time(inv.PeriodStart)}, {in.T(locale.Say("Until")), in.Time(inv.PeriodEnd)},
		},
		Totals: [][2]string{
			{in.T(locale.Say("Subtotal")), in.Money(inv.Subtotal)}, {in.T(locale.Say("Credits applied")), in.Money(-inv.CreditsApplied)},
			{in.T(locale.Say("Amount due")), in.Money(inv.AmountDue)},
		},
	}
	for _, l := range lines {
		s.Lines = append(s.Lines, [2]string{l.Description, in.Money(l.Amount)})
	}
	switch {
	case inv.Status == invoice.StatusPaid && inv.PaidAt != nil:
		s.State = in.T(locale.Say("Paid on %s", locale.Date(*inv.PaidAt)))
	case inv.Status == invoice.StatusVoid:
		s.State = in.T(locale.Say("Void"))
	default:
		s.State = in.T(locale.Say("Left to pay: %s", locale.Cents(billing.Left(inv))))
	}
	for _, n := range d.Notes {
		s.Notes = append(s.Notes, link{
			Address: fmt.Sprintf("%s/credit-notes/%d", inv.ID, n.Number),
			Text:    in.T(locale.Say("%s of %s: %s", billing.NoteNumber(n), locale.Date(n.CreatedAt), locale.Cents(n.Amount))),
		})
	}
	return s, nil
}

// noteSheet returns the sheet of the credit note with the number; nil if the invoice has no such note.
func noteSheet(d *billing.Document, number int64, from []string, in locale.Printer) *sheet {
	for _, n := range d.Notes {
		if n.Number != number {
			continue
		}
		corrects := locale.Say("%s of %s", billing.Number(d.Invoice), locale.Date(d.Invoice.CreatedAt))
		return &sheet{
			in: in, Title: in.T(locale.Say("Credit note")), Number: billing.NoteNumber(n), From: from, To: n.BillTo, PDF: fmt.Sprintf("%d.pdf", n.Number), Made: n.CreatedAt,
			Facts: [][2]string{{in.T(locale.Say("Date")), in.Date(n.CreatedAt)}, {in.T(locale.Say("Corrects")), in.T(corrects)}},
			Lines: [][2]string{{n.Description, in.Money(n.Amount)}},
			Totals: [][2]string{
				{in.T(locale.Say("Taken off the amount due")), in.Money(n.Amount - n.Credited)}, {in.T(locale.Say("Issued as a credit")), in.Money(n.Credited)},
				{in.T(locale.Say("Credited")), in.Money(n.Amount)},
			},
		}
	}
	return nil
}

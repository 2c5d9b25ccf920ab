package document

import (
	"fmt"
	"time"

	"atrium/ent/invoice"
	"atrium/internal/billing"
)

// sheet is the content of a document as text.
type sheet struct {
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

func date(t time.Time) string { return t.UTC().Format("2 January 2006") }

// moment formats the bounds of periods, which are not at midnight.
func moment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// invoiceSheet returns the sheet of an invoice as it was issued, and its current state.
func invoiceSheet(d *billing.Document, from []string) (*sheet, error) {
	inv := d.Invoice
	lines, err := billing.Lines(inv)
	if err != nil {
		return nil, err
	}
	s := &sheet{
		Title: "Invoice", Number: billing.Number(inv), From: from, To: inv.BillTo, PDF: inv.ID + ".pdf", Made: inv.CreatedAt,
		Facts: [][2]string{{"Date", date(inv.CreatedAt)}, {"From", moment(inv.PeriodStart)}, {"Until", moment(inv.PeriodEnd)}},
		Totals: [][2]string{
			{"Subtotal", billing.Money(inv.Subtotal)}, {"Credits applied", billing.Money(-inv.CreditsApplied)}, {"Amount due", billing.Money(inv.AmountDue)},
		},
	}
	for _, l := range lines {
		s.Lines = append(s.Lines, [2]string{l.Description, billing.Money(l.Amount)})
	}
	switch {
	case inv.Status == invoice.StatusPaid && inv.PaidAt != nil:
		s.State = "Paid on " + date(*inv.PaidAt)
	case inv.Status == invoice.StatusVoid:
		s.State = "Void"
	default:
		s.State = "Left to pay: " + billing.Money(billing.Left(inv))
	}
	for _, n := range d.Notes {
		s.Notes = append(s.Notes, link{
			Address: fmt.Sprintf("%s/credit-notes/%d", inv.ID, n.Number),
			Text:    fmt.Sprintf("%s of %s: %s", billing.NoteNumber(n), date(n.CreatedAt), billing.Money(n.Amount)),
		})
	}
	return s, nil
}

// noteSheet returns the sheet of the credit note with the number; nil if the invoice has no such note.
func noteSheet(d *billing.Document, number int64, from []string) *sheet {
	for _, n := range d.Notes {
		if n.Number != number {
			continue
		}
		return &sheet{
			Title: "Credit note", Number: billing.NoteNumber(n), From: from, To: n.BillTo, PDF: fmt.Sprintf("%d.pdf", n.Number), Made: n.CreatedAt,
			Facts: [][2]string{{"Date", date(n.CreatedAt)}, {"Corrects", billing.Number(d.Invoice) + " of " + date(d.Invoice.CreatedAt)}},
			Lines: [][2]string{{n.Description, billing.Money(n.Amount)}},
			Totals: [][2]string{
				{"Taken off the amount due", billing.Money(n.Amount - n.Credited)}, {"Issued as a credit", billing.Money(n.Credited)},
				{"Credited", billing.Money(n.Amount)},
			},
		}
	}
	return nil
}

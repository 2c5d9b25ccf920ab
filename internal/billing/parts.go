package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/creditentry"
	"atrium/ent/invoice"
	"atrium/ent/journalline"
)

// part is the part of the plan's monthly price that one invoice of the period bills: from where the part below it ends up to UpTo.
type part struct {
	InvoiceID string `json:"invoiceId"` // empty if the rest of the period was too short to charge for
	UpTo      int64  `json:"upTo"`      // cents a month
}

// billed is the column of an account that holds the parts of a period, the lowest first. The last one ends at the plan's price.
type billed struct {
	Until time.Time `json:"until"` // the end of the period
	Parts []part    `json:"parts"`
}

// keepParts stores the parts of the current period, or none if there is no period.
func (a *account) keepParts(parts []part) (err error) {
	if a.PeriodEndAt == nil {
		a.Parts = nil
		return nil
	}
	if a.Parts, err = json.Marshal(billed{Until: *a.PeriodEndAt, Parts: parts}); err != nil {
		return fmt.Errorf("write the parts of a price: %w", err)
	}
	return nil
}

// parts returns the parts of the current period, the lowest first.
func (a *account) parts(ctx context.Context) ([]part, error) {
	var kept billed
	if len(a.Parts) > 0 {
		if err := json.Unmarshal(a.Parts, &kept); err != nil {
			return nil, fmt.Errorf("read the parts of a price: %w", err)
		}
	}
	if n := len(kept.Parts); n > 0 && kept.Until.Equal(*a.PeriodEndAt) && kept.Parts[n-1].UpTo == a.plan.Price {
		return kept.Parts, nil
	}
	return a.derivedParts(ctx)
}

// derivedParts derives the parts from the invoices of the period, the newest first, for periods that a version without parts has
// billed. The difference of prices that an invoice bills follows from its amount and its period.
func (a *account) derivedParts(ctx context.Context) ([]part, error) {
	all, err := a.db.Invoice.Query().Where(invoice.NumberGT(0), invoice.PeriodEnd(*a.PeriodEndAt), invoice.PeriodStartGTE(*a.PeriodStartAt)).
		Order(ent.Desc(invoice.FieldNumber)).Limit(len(Plans)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the invoices of the period: %w", err)
	}
	whole := a.PeriodEndAt.Unix() - a.PeriodStartAt.Unix()
	var out []part
	top := a.plan.Price
	for _, inv := range all {
		if top <= 0 {
			break
		}
		out = append(out, part{InvoiceID: inv.ID, UpTo: top})
		top = nearestPrice(top - inv.Subtotal*whole/max(1, inv.PeriodEnd.Unix()-inv.PeriodStart.Unix()))
	}
	if top > 0 {
		out = append(out, part{UpTo: top}) // nothing was billed for it
	}
	slices.Reverse(out)
	return out, nil
}

// nearestPrice returns the price of a plan that is nearest to cents. Amounts are rounded, so prices that follow from them are not exact.
func nearestPrice(cents int64) (price int64) {
	for _, p := range Plans {
		if max(p.Price-cents, cents-p.Price) < max(price-cents, cents-price) {
			price = p.Price
		}
	}
	return price
}

// cut is what a cheaper plan leaves unused of an invoice.
type cut struct {
	invoice *ent.Invoice
	cents   int64
	off     int64 // the part of cents that is taken off what is left to pay; the company has paid for the rest
}

// unused returns what the rest of the period leaves unused of each invoice if the company changes to a plan now. Nothing is unused
// of an invoice that was voided, and nothing beyond what its credit notes have left of it.
func (a *account) unused(ctx context.Context, parts []part, to Plan) (out []cut, err error) {
	below := int64(0)
	for _, p := range parts {
		cents := a.period().prorate(p.UpTo-max(below, to.Price), a.now)
		below = p.UpTo
		if p.InvoiceID == "" || cents <= 0 {
			continue
		}
		inv, err := a.db.Invoice.Get(ctx, p.InvoiceID)
		if err != nil {
			return nil, fmt.Errorf("read an invoice of the period: %w", err)
		}
		if inv.Status == invoice.StatusVoid {
			continue
		}
		if cents = min(cents, inv.Subtotal-inv.Credited); cents > 0 {
			out = append(out, cut{invoice: inv, cents: cents, off: min(cents, Left(inv))})
		}
	}
	return out, nil
}

// giveBack takes the cuts off their invoices by credit notes. What the company has paid of them becomes a credit.
func (a *account) giveBack(ctx context.Context, cuts []cut, text string) (notes []*ent.CreditNote, err error) {
	var paid int64
	for _, c := range cuts {
		note, _, err := a.note(ctx, c.invoice, c.cents, text)
		if err != nil {
			return nil, err
		}
		notes = append(notes, note)
		paid += note.Credited
	}
	if paid > 0 {
		_, err = a.issue(ctx, paid, creditentry.ReasonDowngrade, text, journalline.AccountRevenue)
	}
	return notes, err
}

// lowered returns the parts that a plan with a lower price leaves.
func lowered(parts []part, price int64) []part {
	for i, p := range parts {
		if p.UpTo >= price {
			return append(slices.Clone(parts[:i]), part{InvoiceID: p.InvoiceID, UpTo: price})
		}
	}
	return parts
}

package billing

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/creditentry"
	"atrium/ent/journalline"
)

// drawnAtOnce is how many issued credits one query reads.
const drawnAtOnce = 100

// issue adds a credit, and books it against the account from.
func (a *account) issue(ctx context.Context, cents int64, reason creditentry.Reason, text string, from journalline.Account) (*ent.CreditEntry, error) {
	e, err := a.entry(creditentry.TypeIssued, cents, reason, text).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("issue the credit: %w", err)
	}
	return e, a.book(ctx, e.ID, amounts{from: cents, journalline.AccountCredit: -cents})
}

// apply uses credits for up to cents of an invoice, oldest first, with one entry for each credit that it draws from. Returns how
// much it used.
func (a *account) apply(ctx context.Context, cents int64, invoiceID, text string) (applied int64, err error) {
	for applied < cents && a.Balance > 0 {
		credits, err := a.db.CreditEntry.Query().
			Where(creditentry.TypeEQ(creditentry.TypeIssued), creditentry.NumberGTE(a.DrawnEntry)).
			Order(creditentry.ByNumber()).Limit(drawnAtOnce).All(ctx)
		if err != nil {
			return 0, fmt.Errorf("read the credits: %w", err)
		}
		before := applied
		for _, c := range credits {
			if c.Number != a.DrawnEntry {
				a.DrawnEntry, a.DrawnAmount = c.Number, 0
			}
			take := min(c.Amount-a.DrawnAmount, cents-applied)
			if take == 0 {
				continue // the credit is used up
			}
			a.DrawnAmount += take
			applied += take
			// Insert one by one: PostgreSQL gets these inserts in one batch with the next statements. Ent waits for a bulk
			// insert.
			e := a.entry(creditentry.TypeApplied, -take, creditentry.ReasonInvoice, text).SetInvoiceID(invoiceID).SetDrawnFrom(c.Number)
			if err := e.Exec(ctx); err != nil {
				return 0, fmt.Errorf("apply the credits: %w", err)
			}
			if applied == cents {
				break
			}
		}
		if applied == before {
			return 0, fmt.Errorf("billing: no credits make up the balance of %s", a.company.ID)
		}
	}
	return applied, nil
}

// forfeit removes the remaining credits.
func (a *account) forfeit(ctx context.Context) error {
	if a.Balance == 0 {
		return nil
	}
	lost := a.Balance
	e, err := a.entry(creditentry.TypeForfeited, -lost, creditentry.ReasonCancellation, "Not used within 30 days of the cancellation").Save(ctx)
	if err != nil {
		return fmt.Errorf("forfeit the credits: %w", err)
	}
	a.DrawnEntry, a.DrawnAmount = e.Number, 0 // credits issued later have a higher number
	return a.book(ctx, e.ID, amounts{journalline.AccountCredit: lost, journalline.AccountRevenue: -lost})
}

// entry returns the next entry of the ledger and updates the account's balance and entry count.
func (a *account) entry(typ creditentry.Type, cents int64, reason creditentry.Reason, text string) *ent.CreditEntryCreate {
	a.Entries++
	a.Balance += cents
	return a.db.CreditEntry.Create().SetNumber(a.Entries).SetBalance(a.Balance).
		SetType(typ).SetAmount(cents).SetReason(reason).SetDescription(text)
}

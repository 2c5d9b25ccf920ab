package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/billingaccount"
	"atrium/ent/company"
	"atrium/ent/invoice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
)

// retention is how long credits stay valid after a cancellation.
const retention = 30 * 24 * time.Hour

// account is a company's billing account, locked in a transaction, with its plan.
type account struct {
	*ent.BillingAccount
	db      *ent.Client
	company *ent.Company
	plan    Plan
	now     time.Time
}

// Open creates the account of a new company, in the transaction that creates the company, and bills its plan. ctx is bound to
// the company.
func Open(ctx context.Context, db *ent.Client, co *ent.Company, now time.Time) error {
	row, err := db.BillingAccount.Create().Save(ctx)
	if err != nil {
		return fmt.Errorf("open the billing account: %w", err)
	}
	a := &account{BillingAccount: row, db: db, company: co, plan: planOf(string(co.Plan)), now: now}
	if err := a.catchUp(ctx); err != nil {
		return err
	}
	return a.save(ctx)
}

// open locks the account of the caller's company and settles it up to now. A sandbox has none.
func open(ctx context.Context, tx *op.Tx) (*account, error) {
	row, err := op.Lock(tx, tx.BillingAccount.Query()).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock the billing account: %w", err)
	}
	co, err := op.Lock(tx, tx.Company.Query()).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	a := &account{BillingAccount: row, db: tx.Client, company: co, plan: planOf(string(co.Plan)), now: tx.Now(ctx)}
	return a, a.catchUp(ctx)
}

// onAccount returns the function of an operation that works on the account: it opens the account before fn and saves it after.
func onAccount[In, Out any](fn func(ctx context.Context, tx *op.Tx, a *account, in In) (Out, error)) func(context.Context, *op.Tx, In) (Out, error) {
	return func(ctx context.Context, tx *op.Tx, in In) (Out, error) {
		var none Out
		a, err := open(ctx, tx)
		if err != nil {
			return none, err
		}
		out, err := fn(ctx, tx, a, in)
		if err != nil {
			return none, err
		}
		return out, a.save(ctx)
	}
}

// onInvoice is onAccount for an operation on an invoice in one of the given states. fn gets the invoice as it is under the account's
// lock. Returns conflict for any other state, and while a charge whose outcome is unknown is under way.
func onInvoice[In, Out any](fn func(ctx context.Context, tx *op.Tx, a *account, inv *ent.Invoice, in In) (Out, error), states ...invoice.Status) func(context.Context, *op.Tx, *ent.Invoice, In) (Out, error) {
	return func(ctx context.Context, tx *op.Tx, row *ent.Invoice, in In) (Out, error) {
		return onAccount(func(ctx context.Context, tx *op.Tx, a *account, in In) (out Out, err error) {
			inv, err := reread(ctx, tx, row.ID)
			if err != nil {
				return out, err
			}
			if !slices.Contains(states, inv.Status) {
				return out, apperr.New(apperr.Conflict, "The invoice is %s.", inv.Status)
			}
			switch p, err := a.pending(ctx, inv.ID); {
			case err != nil:
				return out, err
			case p != nil:
				return out, apperr.New(apperr.Conflict, "The invoice is being charged. Try again when the outcome is known.")
			}
			return fn(ctx, tx, a, inv, in)
		})(ctx, tx, in)
	}
}

// accountOf reads the company's account as it was last brought up to date, without a lock. In a sandbox the account is empty.
func accountOf(ctx context.Context, tx *op.Tx) (*ent.BillingAccount, error) {
	a, err := tx.BillingAccount.Query().Only(ctx)
	if ent.IsNotFound(err) {
		return &ent.BillingAccount{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the billing account: %w", err)
	}
	return a, nil
}

// catchUp makes the invoices of the periods that have begun, and forfeits the credits that have expired.
func (a *account) catchUp(ctx context.Context) error {
	if a.AnchorAt == nil && a.plan.Price > 0 {
		_, err := a.begin(ctx)
		return err
	}
	for a.PeriodEndAt != nil && !a.PeriodEndAt.After(a.now) {
		if _, err := a.startPeriod(ctx, periodAt(*a.AnchorAt, *a.PeriodEndAt)); err != nil {
			return err
		}
	}
	if a.ForfeitAt != nil && !a.ForfeitAt.After(a.now) {
		a.ForfeitAt = nil
		return a.forfeit(ctx)
	}
	return nil
}

// begin starts a subscription to the account's plan and makes its first invoice. Returns nil for a plan without a price.
func (a *account) begin(ctx context.Context) (*ent.Invoice, error) {
	a.AnchorAt, a.PeriodStartAt, a.PeriodEndAt, a.ForfeitAt = nil, nil, nil, nil
	if a.plan.Price == 0 {
		return nil, nil
	}
	anchor := a.now.UTC()
	a.AnchorAt = &anchor
	return a.startPeriod(ctx, periodAt(anchor, anchor))
}

// startPeriod moves the account to a period and bills the plan for it.
func (a *account) startPeriod(ctx context.Context, p Period) (*ent.Invoice, error) {
	a.PeriodStartAt, a.PeriodEndAt = &p.Start, &p.End
	inv, err := a.bill(ctx, p, Line{Description: a.says(locale.Say("%s, a month", a.plan.Title)), Amount: a.plan.Price})
	if err != nil {
		return nil, err
	}
	return inv, a.keepParts([]part{{InvoiceID: inv.ID, UpTo: a.plan.Price}})
}

// says returns a text as documents of the company say it.
func (a *account) says(t locale.Text) string { return op.ReaderOf(nil, a.company).T(t) }

// period is the current paid period.
func (a *account) period() Period { return Period{*a.PeriodStartAt, *a.PeriodEndAt} }

// change moves the company to a plan. It bills the difference for the rest of the period, or takes what is unused off the invoices
// of the period. Returns the new invoice, nil if nothing is billed, and the credit notes.
func (a *account) change(ctx context.Context, to Plan) (*ent.Invoice, []*ent.CreditNote, error) {
	from := a.plan
	if a.PeriodEndAt == nil {
		a.plan = to
		if err := a.setPlan(ctx); err != nil {
			return nil, nil, err
		}
		inv, err := a.begin(ctx)
		return inv, nil, err
	}
	parts, err := a.parts(ctx) // of the old plan
	if err != nil {
		return nil, nil, err
	}
	a.plan = to
	if err := a.setPlan(ctx); err != nil {
		return nil, nil, err
	}
	if to.Price > from.Price {
		text := a.says(locale.Say("Change from %s to %s, for the rest of the month", from.Title, to.Title))
		inv, err := a.raise(ctx, parts, a.period().prorate(to.Price-from.Price, a.now), text)
		return inv, nil, err
	}
	cuts, err := a.unused(ctx, parts, to)
	if err != nil {
		return nil, nil, err
	}
	notes, err := a.giveBack(ctx, cuts, a.says(locale.Say("Change from %s to %s", from.Title, to.Title)))
	if err != nil {
		return nil, nil, err
	}
	switch {
	case to.Name == Free:
		a.unsubscribe()
	case to.Price == 0: // Enterprise, which the product does not charge for
		a.AnchorAt, a.PeriodStartAt, a.PeriodEndAt = nil, nil, nil
	}
	return nil, notes, a.keepParts(lowered(parts, to.Price))
}

// raise bills the difference to a more expensive plan for the rest of the period. Returns nil if that is less than half a cent.
func (a *account) raise(ctx context.Context, parts []part, cents int64, text string) (inv *ent.Invoice, err error) {
	added := part{UpTo: a.plan.Price}
	if cents > 0 {
		inv, err = a.bill(ctx, Period{a.now, *a.PeriodEndAt}, Line{Description: text, Amount: cents})
		if err != nil {
			return nil, err
		}
		added.InvoiceID = inv.ID
	}
	return inv, a.keepParts(append(slices.Clone(parts), added))
}

// cancel ends the subscription, without a credit for the rest of the period.
func (a *account) cancel(ctx context.Context) error {
	a.plan = planOf(Free)
	a.unsubscribe()
	return a.setPlan(ctx)
}

// unsubscribe ends the periods. The remaining credits expire after the retention.
func (a *account) unsubscribe() {
	a.AnchorAt, a.PeriodStartAt, a.PeriodEndAt, a.Parts = nil, nil, nil, nil
	until := a.now.Add(retention)
	a.ForfeitAt = &until
}

// setPlan writes the account's plan to the company, whose limits follow from it. A sandbox always has the limits of the free plan.
func (a *account) setPlan(ctx context.Context) (err error) {
	a.company, err = a.company.Update().SetPlan(company.Plan(a.plan.Name)).Save(ctx)
	if err != nil {
		return fmt.Errorf("change the plan: %w", err)
	}
	return nil
}

// save writes the account to the database.
func (a *account) save(ctx context.Context) error {
	a.DueAt = a.PeriodEndAt
	if a.ForfeitAt != nil {
		a.DueAt = a.ForfeitAt
	}
	u := a.db.BillingAccount.Update().Where(billingaccount.ID(a.ID)) // unlike UpdateOneID, this does not read the row back
	u.SetBalance(a.Balance).SetEntries(a.Entries).SetDrawnEntry(a.DrawnEntry).
		SetDrawnAmount(a.DrawnAmount).SetInvoices(a.Invoices).SetCreditNotes(a.CreditNotes).
		SetCustomer(a.Customer).SetPaymentMethod(a.PaymentMethod)
	if a.Parts != nil {
		u.SetParts(a.Parts)
	} else {
		u.ClearParts()
	}
	for _, f := range []struct {
		at    *time.Time
		set   func(time.Time) *ent.BillingAccountUpdate
		clear func() *ent.BillingAccountUpdate
	}{
		{a.AnchorAt, u.SetAnchorAt, u.ClearAnchorAt},
		{a.PeriodStartAt, u.SetPeriodStartAt, u.ClearPeriodStartAt},
		{a.PeriodEndAt, u.SetPeriodEndAt, u.ClearPeriodEndAt},
		{a.ForfeitAt, u.SetForfeitAt, u.ClearForfeitAt},
		{a.DueAt, u.SetDueAt, u.ClearDueAt},
	} {
		if f.at != nil {
			f.set(*f.at)
		} else {
			f.clear()
		}
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("write the billing account: %w", err)
	}
	return nil
}

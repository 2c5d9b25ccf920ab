package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"atrium/ent"
	"atrium/ent/invoice"
	"atrium/ent/payment"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// Provider charges companies. Its calls take their time, and none is made in a transaction.
type Provider interface {
	// Charge takes the money. The same charge asked for twice within a day is one. An error says that nobody knows what became
	// of it.
	Charge(ctx context.Context, c Charge) (Outcome, error)
	// Find says what became of a charge that may have been asked for before, however long ago; false when the provider has
	// never heard of it.
	Find(ctx context.Context, c Charge) (Outcome, bool, error)
}

// Charge is what a provider is asked for. It is the same whenever it is asked for.
type Charge struct {
	Company, Invoice, Payment string // ids
	Number                    string // the invoice's
	Amount                    int64  // cents
	Currency                  string
	Customer, Method          string // the provider's names
}

// Outcome is what became of a charge.
type Outcome struct {
	Status    payment.Status // pending: it takes longer
	Reference string         // the provider's name for it
	Failure   string         // the provider's code of why it failed
}

const (
	chargesAtOnce = 8
	chargeTimeout = time.Minute // of all calls that one charge takes
	duePage       = 200
)

// charge charges what is due, a page at a time, several invoices at once. One that fails holds up no other.
func (r *renewer) charge(ctx context.Context) error {
	system := principal.System(ctx, "invoices of all companies come due")
	return jobs.Due(ctx, duePage, func(last *ent.Invoice) ([]*ent.Invoice, error) {
		q := r.engine.Store.Reader().Invoice.Query().Where(invoice.NextChargeAtLTE(r.engine.Store.Clock().Now()))
		if last != nil {
			q.Where(invoice.IDGT(last.ID))
		}
		due, err := q.Order(invoice.ByID()).Limit(duePage).All(system)
		if err != nil {
			return nil, fmt.Errorf("look for invoices that are due: %w", err)
		}
		return due, nil
	}, func(due []*ent.Invoice) error {
		errs := make([]error, len(due))
		var g errgroup.Group
		g.SetLimit(chargesAtOnce)
		for i, inv := range due {
			g.Go(func() error {
				if errs[i] = r.chargeOne(ctx, inv); errs[i] != nil {
					errs[i] = fmt.Errorf("charge invoice %s: %w", inv.ID, errs[i])
				}
				return nil // the others go on
			})
		}
		_ = g.Wait()
		return errors.Join(errs...)
	})
}

// chargeOne begins a payment, asks the provider, and settles it. A process that ends in between leaves a pending payment:
// the next run asks the provider what it knows of it, and asks for it again only when that is nothing.
func (r *renewer) chargeOne(ctx context.Context, inv *ent.Invoice) error {
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	var b Begun
	err := r.engine.Work(ctx, inv.CompanyID, "billing", func(ctx context.Context, tx *op.Tx) (err error) {
		b, err = op.RunIn(ctx, tx, BeginPayment, BeginPaymentInput{InvoiceID: inv.ID})
		return err
	})
	if err != nil || b.Payment == nil {
		return err
	}
	c := Charge{
		Company: inv.CompanyID, Invoice: inv.ID, Payment: b.Payment.ID, Number: b.Number, Amount: b.Payment.Amount, Currency: inv.Currency,
		Customer: b.Payment.Customer, Method: b.Payment.PaymentMethod,
	}
	out, known := Outcome{}, false
	if b.Again {
		if out, known, err = r.provider.Find(ctx, c); err != nil {
			return fmt.Errorf("find payment %s: %w", c.Payment, err)
		}
	}
	if !known {
		if out, err = r.provider.Charge(ctx, c); err != nil {
			return fmt.Errorf("ask for payment %s: %w", c.Payment, err)
		}
	}
	return r.engine.Work(ctx, inv.CompanyID, "billing", func(ctx context.Context, tx *op.Tx) error {
		_, err := op.RunIn(ctx, tx, SettlePayment, SettlePaymentInput{PaymentID: c.Payment, Status: string(out.Status), Reference: out.Reference, Failure: out.Failure})
		return err
	})
}

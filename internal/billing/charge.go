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
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
)

// Provider charges companies. Its calls are slow, so none is made within a transaction.
type Provider interface {
	// Charge takes the money. A repetition of the same charge within a day has no effect. After an error the outcome is
	// unknown.
	Charge(ctx context.Context, c Charge) (Outcome, error)
	// Find returns the outcome of an earlier charge, however old; false when the provider does not know it.
	Find(ctx context.Context, c Charge) (Outcome, bool, error)
}

// Charge is a charge to ask the provider for. It is the same in every attempt for the same payment.
type Charge struct {
	Company, Invoice, Payment string // ids
	Number                    string // the number of the invoice
	Amount                    int64  // cents
	Currency                  string
	Customer, Method          string // the provider's ids
}

// Outcome is the result of a charge.
type Outcome struct {
	Status    payment.Status // pending: the provider has not decided yet
	Reference string         // the provider's id of the charge
	Failure   string         // the provider's error code
}

const (
	chargesAtOnce = 8
	chargeTimeout = time.Minute // for all calls of one charge
	duePage       = 200
)

// charge charges the invoices that are due, a page at a time and several at once. A failure does not stop the others.
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
				return nil // the other charges continue
			})
		}
		_ = g.Wait()
		return errors.Join(errs...)
	})
}

// chargeOne begins a payment, asks the provider for it, and settles it. If the process ends in between, the payment stays
// pending: the next run asks the provider for its outcome, and asks for the payment again only if the provider does not know it.
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

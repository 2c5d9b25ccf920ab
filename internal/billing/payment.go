package billing

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/invoice"
	"atrium/ent/payment"
	"atrium/ent/user"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// chargeAgainAfter is when a payment with an unknown outcome is checked again, after a crash or while the provider is down.
const chargeAgainAfter = 10 * time.Minute

// dunning holds the waits after the first, second, … failed charge of an invoice. After one failure more than that there is no
// retry.
var dunning = []time.Duration{24 * time.Hour, 72 * time.Hour, 120 * time.Hour, 168 * time.Hour}

// The steps of a charge, for the worker (charge.go) and for messages of the provider. No role of a company may run them.
var (
	BeginPayment = op.New("payment.begin", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Begin to charge an invoice", Past: map[string]string{"payment.begin": "payment.begun"},
	}, onAccount(beginPayment))

	SettlePayment = op.New("payment.settle", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Note what became of a charge",
	}, onAccount(settlePayment))

	RecheckPayment = op.New("payment.recheck", op.Spec{
		Resource: "Invoice", Action: op.Update, Summary: "Ask the provider what became of a charge",
	}, recheckPayment)

	// SetPaymentMethod is for the operator's command line.
	SetPaymentMethod = op.New("billing.set_payment_method", op.Spec{
		Resource: "Company", Action: op.Update, LiveOnly: true, Summary: "Set what the payment provider charges",
		Past: map[string]string{"billing.set_payment_method": "billing.payment_method_set"},
	}, onAccount(setPaymentMethod))
)

// BeginPaymentInput names the invoice.
type BeginPaymentInput struct {
	InvoiceID string `json:"invoiceId"`
}

// Begun is a payment to ask the provider for.
type Begun struct {
	Payment *ent.Payment // nil when nothing is to be charged
	Number  string       // the number of the invoice
	Again   bool         // the payment was begun before, so the provider may know it
}

// beginPayment stores a payment before the provider is asked for it. If a payment is pending, it returns that one.
func beginPayment(ctx context.Context, tx *op.Tx, a *account, in BeginPaymentInput) (Begun, error) {
	inv, err := reread(ctx, tx, in.InvoiceID)
	if err != nil {
		return Begun{}, err
	}
	if inv.NextChargeAt == nil || inv.NextChargeAt.After(a.now) {
		return Begun{}, nil // another run of the job has begun the charge since this one read the invoice
	}
	out := Begun{Number: Number(inv)}
	if out.Payment, err = a.pending(ctx, inv.ID); err != nil {
		return Begun{}, err
	}
	out.Again = out.Payment != nil
	u := inv.Update().SetNextChargeAt(a.now.Add(chargeAgainAfter))
	switch {
	case out.Again:
	case Left(inv) == 0 || inv.Status != invoice.StatusOpen || a.PaymentMethod == "":
		u.ClearNextChargeAt()
	default:
		n, err := tx.Payment.Query().Where(payment.InvoiceID(inv.ID)).Count(ctx)
		if err != nil {
			return Begun{}, fmt.Errorf("count the attempts: %w", err)
		}
		out.Payment, err = tx.Payment.Create().SetInvoiceID(inv.ID).SetAttempt(n + 1).SetAmount(Left(inv)).
			SetCustomer(a.Customer).SetPaymentMethod(a.PaymentMethod).SetStatus(payment.StatusPending).Save(ctx)
		if err != nil {
			return Begun{}, fmt.Errorf("begin the payment: %w", err)
		}
	}
	if err := u.Exec(ctx); err != nil {
		return Begun{}, fmt.Errorf("note when to look again: %w", err)
	}
	tx.About(inv.ID)
	if out.Payment != nil {
		tx.ChangedField("payment", nil, out.Payment.ID)
	}
	return out, nil
}

// pending returns the payment of an invoice whose outcome is unknown; nil when there is none.
func (a *account) pending(ctx context.Context, invoiceID string) (*ent.Payment, error) {
	p, err := a.db.Payment.Query().Where(payment.InvoiceID(invoiceID), payment.StatusEQ(payment.StatusPending)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a pending payment: %w", err)
	}
	return p, nil
}

// SettlePaymentInput holds the outcome of a payment.
type SettlePaymentInput struct {
	PaymentID string `json:"paymentId"`
	Status    string `json:"status" enum:"pending,succeeded,failed"`
	Reference string `json:"reference" maxLength:"200"`
	Failure   string `json:"failure" maxLength:"200"`
}

// settlePayment records the first final outcome of a payment and ignores later ones.
func settlePayment(ctx context.Context, tx *op.Tx, a *account, in SettlePaymentInput) (struct{}, error) {
	p, err := tx.Payment.Get(ctx, in.PaymentID)
	if err != nil {
		return struct{}{}, fmt.Errorf("read the payment: %w", err)
	}
	inv, err := reread(ctx, tx, p.InvoiceID)
	if err != nil {
		return struct{}{}, err
	}
	tx.About(inv.ID)
	to := payment.Status(in.Status)
	if p.Status != payment.StatusPending || to == payment.StatusPending {
		return struct{}{}, nil
	}
	err = p.Update().SetStatus(to).SetReference(in.Reference).SetFailure(in.Failure).SetSettledAt(a.now).Exec(ctx)
	if err != nil {
		return struct{}{}, fmt.Errorf("settle the payment: %w", err)
	}
	tx.ChangedField("payment", p.Status, to)
	if to == payment.StatusSucceeded {
		_, err = a.paid(ctx, inv, p.Amount)
	} else {
		err = a.dun(ctx, tx, inv, p)
	}
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, nil
}

// dun schedules the retry of a failed charge and mails the owners. If the payment method was replaced while the charge was under
// way, the retry is at once. If a credit note has meanwhile taken off all that was left to pay, nothing is to be told.
func (a *account) dun(ctx context.Context, tx *op.Tx, inv *ent.Invoice, failed *ent.Payment) error {
	u, then := inv.Update().ClearNextChargeAt(), locale.Say("It will not be tried again.")
	if Left(inv) == 0 {
		if err := u.Exec(ctx); err != nil {
			return fmt.Errorf("charge the invoice no more: %w", err)
		}
		return nil
	}
	switch {
	case a.PaymentMethod != "" && a.PaymentMethod != failed.PaymentMethod:
		u, then = inv.Update().SetNextChargeAt(a.now), locale.Say("It will be tried with the new payment method.")
	case failed.Attempt <= len(dunning):
		next := a.now.Add(dunning[failed.Attempt-1])
		u, then = inv.Update().SetNextChargeAt(next), locale.Say("It will be tried again on %s.", locale.Date(next))
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("note the next attempt: %w", err)
	}
	owners, err := tx.User.Query().Where(user.RoleEQ(user.RoleOwner), user.StatusEQ(user.StatusActive)).
		All(tx.Unfiltered(ctx, "owners are told whatever policies hide of people"))
	if err != nil {
		return fmt.Errorf("look for the owners: %w", err)
	}
	for _, owner := range owners {
		err := tx.Mail(func(m op.Mailer, db *store.Tx) error {
			return m.Write(ctx, db, owner, locale.Say("Payment of invoice %s failed", Number(inv)),
				locale.Say("The charge of %s for invoice %s of %s failed. %s", locale.Cents(failed.Amount), Number(inv), mail.Plain(a.company.Name, 200), then),
				locale.Say("Please see to the payment method, or pay the invoice in another way."))
		})
		if err != nil {
			return fmt.Errorf("mail an owner: %w", err)
		}
	}
	return nil
}

// Money formats cents for people, in English.
func Money(cents int64) string { return locale.Printer{}.Money(cents) }

// RecheckPaymentInput names the payment, by the id that the provider's message contains.
type RecheckPaymentInput struct {
	PaymentID string `json:"paymentId"`
}

// recheckPayment makes the next run of the job check a pending payment. It changes nothing for a settled payment, so the
// provider's messages may come late, twice or in any order.
func recheckPayment(ctx context.Context, tx *op.Tx, in RecheckPaymentInput) (struct{}, error) {
	// Under the account's lock: beside settlePayment, the wait for the next charge would be taken back that it has just set.
	if _, err := op.Lock(tx, tx.BillingAccount.Query()).Only(ctx); err != nil {
		return struct{}{}, fmt.Errorf("lock the billing account: %w", err)
	}
	p, err := tx.Payment.Get(ctx, in.PaymentID)
	if ent.IsNotFound(err) {
		return struct{}{}, apperr.New(apperr.NotFound, "There is no such payment.")
	}
	if err != nil {
		return struct{}{}, fmt.Errorf("read the payment: %w", err)
	}
	tx.About(p.InvoiceID)
	if p.Status != payment.StatusPending {
		return struct{}{}, nil
	}
	if err := tx.Invoice.UpdateOneID(p.InvoiceID).SetNextChargeAt(tx.Now(ctx)).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("have the invoice looked at: %w", err)
	}
	return struct{}{}, nil
}

// SetPaymentMethodInput holds the provider's ids of the company and its payment method. Both are empty for none.
type SetPaymentMethodInput struct {
	Customer      string `json:"customer" maxLength:"200"`
	PaymentMethod string `json:"paymentMethod" maxLength:"200"`
}

// setPaymentMethod makes open invoices due for a charge to the new method at once. Without a method nothing is charged.
func setPaymentMethod(ctx context.Context, tx *op.Tx, a *account, in SetPaymentMethodInput) (struct{}, error) {
	if (in.Customer == "") != (in.PaymentMethod == "") {
		return struct{}{}, apperr.InvalidField("paymentMethod", "must be set together with the customer")
	}
	before := *a.BillingAccount
	a.Customer, a.PaymentMethod = in.Customer, in.PaymentMethod
	if a.PaymentMethod != "" {
		err := tx.Invoice.Update().Where(invoice.StatusEQ(invoice.StatusOpen)).SetNextChargeAt(a.now).Exec(ctx)
		if err != nil {
			return struct{}{}, fmt.Errorf("have what is open charged: %w", err)
		}
	}
	tx.About(a.company.ID)
	tx.ChangedField("customer", before.Customer, a.Customer)
	tx.ChangedField("paymentMethod", before.PaymentMethod, a.PaymentMethod)
	return struct{}{}, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"atrium/ent"
	"atrium/internal/billing"
	"atrium/internal/op"
)

// companyFlags are the flags of commands about a company's invoices and payments.
type companyFlags struct {
	dataFlags
	jsonFlag
	Company string `required:"" help:"The live company's id (co_…)."`
}

// onInvoice runs an operator's operation on an invoice and prints the result.
func onInvoice[In any](ctx context.Context, m companyFlags, name, done string, o *op.Operation[In, *ent.Invoice], in In) error {
	return m.inCompany(ctx, m.Company, name, func(ctx context.Context, c *core) error {
		inv, _, err := op.Run(ctx, c.engine, o, in, nil)
		if err != nil {
			return err
		}
		return m.print(map[string]any{"invoice": map[string]any{
			"id": inv.ID, "number": billing.Number(inv), "status": inv.Status,
			"subtotal": inv.Subtotal, "creditsApplied": inv.CreditsApplied, "amountDue": inv.AmountDue, "left": billing.Left(inv),
		}}, fmt.Sprintf("%s %s (%s): %d cents due", done, billing.Number(inv), inv.ID, inv.AmountDue))
	})
}

type invoicePayCmd struct {
	companyFlags
	Invoice   string `required:"" help:"The invoice's id (inv_…)."`
	Reference string `required:"" help:"What the payment is known by, such as that of a bank transfer."`
}

// Run records a payment.
func (m *invoicePayCmd) Run(ctx context.Context) error {
	return onInvoice(ctx, m.companyFlags, "invoice pay", "paid", billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: m.Invoice}, Reference: m.Reference})
}

type invoiceVoidCmd struct {
	companyFlags
	Invoice string `required:"" help:"The invoice's id (inv_…)."`
	Reason  string `required:"" help:"Why, for the audit log."`
}

// Run voids an invoice.
func (m *invoiceVoidCmd) Run(ctx context.Context) error {
	return onInvoice(ctx, m.companyFlags, "invoice void", "voided", billing.VoidInvoice, billing.VoidInvoiceInput{ByID: op.ByID{ID: m.Invoice}, Reason: m.Reason})
}

type invoiceWriteOffCmd struct {
	companyFlags
	Invoice string `required:"" help:"The invoice's id (inv_…)."`
	Reason  string `required:"" help:"Why, for the audit log."`
}

// Run writes an invoice off.
func (m *invoiceWriteOffCmd) Run(ctx context.Context) error {
	return onInvoice(ctx, m.companyFlags, "invoice write-off", "wrote off", billing.WriteOffInvoice,
		billing.WriteOffInvoiceInput{ByID: op.ByID{ID: m.Invoice}, Reason: m.Reason})
}

type invoiceIssueCmd struct {
	companyFlags
	Invoice string `required:"" help:"The draft's id (inv_…)."`
}

// Run issues a draft.
func (m *invoiceIssueCmd) Run(ctx context.Context) error {
	return onInvoice(ctx, m.companyFlags, "invoice issue", "issued", billing.IssueInvoice, op.ByID{ID: m.Invoice})
}

type invoiceDraftCmd struct {
	companyFlags
	Line []string  `required:"" sep:"none" help:"A line, \"CENTS DESCRIPTION\"; may be given several times."`
	From time.Time `required:"" format:"2006-01-02" help:"The first day of the time that it is for, in UTC."`
	To   time.Time `required:"" format:"2006-01-02" help:"The day after the last one."`
}

// Run drafts an invoice.
func (m *invoiceDraftCmd) Run(ctx context.Context) error {
	in := billing.DraftInvoiceInput{PeriodStart: m.From, PeriodEnd: m.To}
	for _, line := range m.Line {
		cents, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		amount, err := strconv.ParseInt(cents, 10, 64)
		if err != nil {
			return errors.New("--line: begin with the amount in cents")
		}
		in.Lines = append(in.Lines, billing.Line{Description: text, Amount: amount})
	}
	return onInvoice(ctx, m.companyFlags, "invoice draft", "drafted", billing.DraftInvoice, in)
}

type invoiceCreditCmd struct {
	companyFlags
	Invoice     string    `required:"" help:"The invoice's id (inv_…)."`
	Amount      centsFlag `required:"" help:"Cents."`
	Description string    `required:"" help:"What the company reads on the credit note."`
}

// Run creates a credit note.
func (m *invoiceCreditCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "invoice credit", func(ctx context.Context, c *core) error {
		n, _, err := op.Run(ctx, c.engine, billing.CreditInvoice, billing.CreditInvoiceInput{
			ByID: op.ByID{ID: m.Invoice}, Amount: int64(m.Amount), Description: m.Description,
		}, nil)
		if err != nil {
			return err
		}
		return m.print(map[string]any{"creditNote": map[string]any{
			"id": n.ID, "number": billing.NoteNumber(n), "invoiceId": n.InvoiceID, "amount": n.Amount, "credited": n.Credited,
		}}, fmt.Sprintf("made %s (%s): %d cents, %d of them as a credit", billing.NoteNumber(n), n.ID, n.Amount, n.Credited))
	})
}

type paymentMethodCmd struct {
	companyFlags
	Customer string `help:"The provider's name for the company (cus_…); empty for none."`
	Method   string `help:"The provider's name for what is charged (pm_…)."`
}

// Run sets the payment method. Open invoices are charged at once.
func (m *paymentMethodCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "company payment-method", func(ctx context.Context, c *core) error {
		_, _, err := op.Run(ctx, c.engine, billing.SetPaymentMethod, billing.SetPaymentMethodInput{Customer: m.Customer, PaymentMethod: m.Method}, nil)
		if err != nil {
			return err
		}
		return m.print(map[string]any{"customer": m.Customer, "paymentMethod": m.Method}, "set")
	})
}

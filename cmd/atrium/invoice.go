package main

import (
	"context"
	"fmt"

	"atrium/internal/billing"
	"atrium/internal/op"
)

type invoicePayCmd struct {
	dataFlags
	jsonFlag
	Company   string `required:"" help:"The live company's id (co_…)."`
	Invoice   string `required:"" help:"The invoice's id (inv_…)."`
	Reference string `required:"" help:"What the payment is known by, such as that of a bank transfer."`
}

// Run notes a payment.
func (m *invoicePayCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "invoice pay", func(ctx context.Context, c *core) error {
		inv, _, err := op.Run(ctx, c.engine, billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: m.Invoice}, Reference: m.Reference}, nil)
		if err != nil {
			return err
		}
		return m.print(map[string]any{"invoice": map[string]any{
			"id": inv.ID, "number": billing.Number(inv), "status": inv.Status, "amountDue": inv.AmountDue,
		}}, fmt.Sprintf("paid %s: %d cents", billing.Number(inv), inv.AmountDue))
	})
}

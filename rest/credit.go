package rest

import (
	"atrium/ent"
	"atrium/internal/billing"
)

// Credits are the balance and the history of credits. They are answered without an envelope.
type Credits struct {
	Balance  int64         `json:"balance" doc:"In cents, over the whole history." example:"4200"`
	Currency string        `json:"currency" enum:"usd"`
	Entries  []CreditEntry `json:"entries" doc:"A page of the history, the newest first."`

	Pagination Pagination `json:"pagination" doc:"Which part of the history the entries are."`
}

// CreditEntry is one line of the history.
type CreditEntry struct {
	Date        Time    `json:"date"`
	Type        string  `json:"type" enum:"issued,applied,forfeited"`
	Amount      int64   `json:"amount" doc:"In cents: positive when issued, else negative." example:"4200"`
	Description string  `json:"description" example:"Service disruption on 1 March"`
	InvoiceID   *string `json:"invoiceId,omitempty" doc:"The invoice that it was applied to."`
}

func creditsOut(c billing.Credits) Credits {
	page := pageOf(c.Entries, creditEntryOut)
	return Credits{Balance: c.Balance, Currency: c.Currency, Entries: page.Data, Pagination: page.Pagination}
}

func creditEntryOut(e *ent.CreditEntry) CreditEntry {
	return CreditEntry{
		Date: at(e.CreatedAt), Type: string(e.Type), Amount: e.Amount, Description: e.Description, InvoiceID: e.InvoiceID,
	}
}

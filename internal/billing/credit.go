package billing

import (
	"context"

	"atrium/ent"
	"atrium/ent/creditentry"
	"atrium/ent/journalline"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// Currency is the currency of credits and invoices.
const Currency = "usd"

// The operations on credits.
var (
	GetCredits = op.New("billing.read", op.Spec{
		Resource: "Credit", Action: op.Read, Scope: "billing:read",
		Summary: "Get the credit balance and history",
	}, getCredits)

	// IssueCredit is for the operator's command line: no role of a company may run it.
	IssueCredit = op.New("credit.issue", op.Spec{
		Resource: "Credit", Action: op.Create, LiveOnly: true,
		Summary: "Issue a credit",
	}, onAccount(issueCredit))
)

// GetCreditsInput selects a page of the history, newest first.
type GetCreditsInput struct {
	Page     int `json:"-" query:"page" default:"1" minimum:"1" doc:"The page of the history, counted from 1."`
	PageSize int `json:"-" query:"pageSize" default:"20" minimum:"1" maximum:"100" doc:"Entries a page."`
}

// Credits holds the balance over all entries, and one page of the entries.
type Credits struct {
	Balance  int64 // cents
	Currency string
	Entries  paging.List[*ent.CreditEntry]
}

func getCredits(ctx context.Context, tx *op.Tx, in GetCreditsInput) (Credits, error) {
	balance, err := getBalance(ctx, tx, GetBalanceInput{})
	if err != nil {
		return Credits{}, err
	}
	history, err := listHistory(ctx, tx, ListHistoryInput{Page: paging.Page{Number: in.Page, Size: in.PageSize}})
	return Credits{Balance: balance.Balance, Currency: Currency, Entries: history}, err
}

// IssueCreditInput describes a credit to issue to a company.
type IssueCreditInput struct {
	Amount      int64  `json:"amount" minimum:"1" maximum:"100000000" doc:"In cents."`
	Reason      string `json:"reason" enum:"downgrade,disruption,promotion,adjustment,enterprise"`
	Description string `json:"description" minLength:"1" maxLength:"500" pattern:"\\S" patternDescription:"more than blanks"`
}

func issueCredit(ctx context.Context, tx *op.Tx, a *account, in IssueCreditInput) (*ent.CreditEntry, error) {
	e, err := a.issue(ctx, in.Amount, creditentry.Reason(in.Reason), in.Description, journalline.AccountAllowance)
	if err != nil {
		return nil, err
	}
	tx.Changed(nil, e)
	return e, nil
}

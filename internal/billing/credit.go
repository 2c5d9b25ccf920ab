package billing

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/creditentry"
	"atrium/internal/op"
	"atrium/internal/paging"
)

// Currency is the one that credits are in.
const Currency = "usd"

// The operations on credits.
var (
	GetCredits = op.New("billing.read", op.Spec{
		Resource: "Credit", Action: op.Read, Scope: "billing:read",
		Summary: "Get the credit balance and history",
	}, getCredits)

	// IssueCredit is for the operator's command line: no role of a company holds it.
	IssueCredit = op.New("credit.issue", op.Spec{
		Resource: "Credit", Action: op.Create,
		Summary: "Issue a credit",
	}, issueCredit)
)

// GetCreditsInput pages the history.
type GetCreditsInput struct {
	Page     int `json:"-" query:"page" default:"1" minimum:"1" doc:"The page of the history, counted from 1."`
	PageSize int `json:"-" query:"pageSize" default:"100" minimum:"1" maximum:"100" doc:"Entries a page."`
}

// Credits are the balance over all entries, and one page of them, the newest first.
type Credits struct {
	Balance  int64 // cents
	Currency string
	Entries  []*ent.CreditEntry
}

func getCredits(ctx context.Context, tx *op.Tx, in GetCreditsInput) (Credits, error) {
	out := Credits{Currency: Currency}
	q := tx.CreditEntry.Query()
	var totals []struct {
		Balance int64
		Count   int
	}
	if err := q.Clone().Aggregate(ent.As(balance, "balance"), ent.Count()).Scan(ctx, &totals); err != nil {
		return out, fmt.Errorf("sum the credits up: %w", err)
	}
	out.Balance = totals[0].Balance
	page := paging.Page{Number: max(in.Page, 1), Size: in.PageSize}
	if page.Size < 1 {
		page.Size = 100
	}
	offset, some := page.Offset(totals[0].Count)
	if !some {
		return out, nil
	}
	var err error
	out.Entries, err = q.Order(page.Order(nil)).Offset(offset).Limit(page.Size).All(ctx)
	if err != nil {
		return out, fmt.Errorf("read the credits: %w", err)
	}
	return out, nil
}

// balance sums the amounts as an integer on both databases; PostgreSQL's SUM of bigint is numeric.
func balance(s *sql.Selector) string {
	return "CAST(COALESCE(" + sql.Sum(s.C(creditentry.FieldAmount)) + ", 0) AS BIGINT)"
}

// IssueCreditInput describes a credit that a company is given.
type IssueCreditInput struct {
	Amount      int64  `json:"amount" minimum:"1" maximum:"100000000" doc:"In cents."`
	Reason      string `json:"reason" enum:"downgrade,disruption,promotion,adjustment,enterprise"`
	Description string `json:"description" minLength:"1" maxLength:"500" pattern:"\\S" patternDescription:"more than blanks"`
}

func issueCredit(ctx context.Context, tx *op.Tx, in IssueCreditInput) (*ent.CreditEntry, error) {
	e, err := tx.CreditEntry.Create().
		SetType(creditentry.TypeIssued).
		SetAmount(in.Amount).
		SetReason(creditentry.Reason(in.Reason)).
		SetDescription(in.Description).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("issue the credit: %w", err)
	}
	tx.Changed(nil, e)
	return e, nil
}

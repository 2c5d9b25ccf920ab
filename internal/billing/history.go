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

// The operations on credits of the GraphQL door, which asks for the balance and for the history apart.
var (
	GetBalance = op.New("billing.balance", op.Spec{
		Resource: "Credit", Action: op.Read, Scope: "billing:read",
		Summary: "Get the credit balance",
	}, getBalance)

	ListHistory = op.New("billing.history", op.Spec{
		Resource: "Credit", Action: op.Read, Scope: "billing:read",
		Summary: "List the credit history, each entry with the balance after it",
	}, listHistory)
)

// Balance is what is left of a company's credits.
type Balance struct {
	Balance  int64 // cents
	Currency string
}

// GetBalanceInput names nothing: a company has one balance.
type GetBalanceInput struct{}

func getBalance(ctx context.Context, tx *op.Tx, _ GetBalanceInput) (*Balance, error) {
	sum, err := sumOf(ctx, tx.CreditEntry.Query())
	return &Balance{Balance: sum, Currency: Currency}, err
}

// sumOf adds up the entries that a query finds.
func sumOf(ctx context.Context, q *ent.CreditEntryQuery) (int64, error) {
	var sums []struct{ Balance int64 }
	if err := q.Aggregate(ent.As(balance, "balance")).Scan(ctx, &sums); err != nil {
		return 0, fmt.Errorf("sum the credits up: %w", err)
	}
	return sums[0].Balance, nil
}

// ListHistoryInput pages the history, the newest first.
type ListHistoryInput struct{ paging.Page }

// HistoryEntry is an entry with what was left after it.
type HistoryEntry struct {
	*ent.CreditEntry
	Balance int64 // cents
}

func listHistory(ctx context.Context, tx *op.Tx, in ListHistoryInput) (paging.List[*HistoryEntry], error) {
	q := tx.CreditEntry.Query()
	return paging.Read(ctx, in.Page, nil, q.Count, func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]*HistoryEntry, error) {
		rows, err := q.Clone().Order(order).Offset(offset).Limit(limit).All(ctx)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		// The balance after the newest entry of the page is the sum up to it; each older one lacks what came after.
		newest := rows[0]
		left, err := sumOf(ctx, tx.CreditEntry.Query().Where(func(s *sql.Selector) {
			key := []string{s.C(creditentry.FieldCreatedAt), s.C(creditentry.FieldID)}
			s.Where(sql.Or(sql.CompositeLT(key, newest.CreatedAt.UTC(), newest.ID), sql.EQ(s.C(creditentry.FieldID), newest.ID)))
		}))
		if err != nil {
			return nil, err
		}
		out := make([]*HistoryEntry, len(rows))
		for i, row := range rows {
			out[i] = &HistoryEntry{CreditEntry: row, Balance: left}
			left -= row.Amount
		}
		return out, nil
	})
}

package billing

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/creditentry"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// The operations on credits for GraphQL, which queries the balance and the history separately.
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

// Balance is the remaining credit of a company.
type Balance struct {
	Balance  int64 // cents
	Currency string
}

// GetBalanceInput is empty: a company has one balance.
type GetBalanceInput struct{}

func getBalance(ctx context.Context, tx *op.Tx, _ GetBalanceInput) (*Balance, error) {
	a, err := accountOf(ctx, tx)
	if err != nil {
		return nil, err
	}
	return &Balance{Balance: a.Balance, Currency: Currency}, nil
}

// ListHistoryInput selects a page of the history, newest first.
type ListHistoryInput struct{ paging.Page }

// listHistory orders by the entries' numbers. The account holds the last number, so the total needs no count.
func listHistory(ctx context.Context, tx *op.Tx, in ListHistoryInput) (paging.List[*ent.CreditEntry], error) {
	a, err := accountOf(ctx, tx)
	if err != nil {
		return paging.List[*ent.CreditEntry]{}, err
	}
	in.Sort = "-number"
	count := func(context.Context) (int, error) { return int(a.Entries), nil }
	return paging.Read(ctx, in.Page, op.Sorts{"number": creditentry.FieldNumber}, count,
		func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]*ent.CreditEntry, error) {
			return tx.CreditEntry.Query().Order(order).Offset(offset).Limit(limit).All(ctx)
		})
}

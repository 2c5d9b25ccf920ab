package graph

import (
	"context"

	"atrium/graph/internal/relay"
	"atrium/internal/billing"
)

func (r *queryResolver) CreditBalance(ctx context.Context) (*billing.Balance, error) {
	return run(ctx, r.engine, billing.GetBalance, billing.GetBalanceInput{})
}

func (r *queryResolver) CreditHistory(ctx context.Context, first *int, after *string) (*relay.Connection[billing.HistoryEntry], error) {
	return list(ctx, r.engine, billing.ListHistory, nil, first, after, nil)
}

package graph

import (
	"context"

	"atrium/graph/internal/relay"
)

func (r *queryResolver) Node(ctx context.Context, id string) (relay.Node, error) {
	return r.node(ctx, id)
}

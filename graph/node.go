package graph

import (
	"context"
	"strings"

	"atrium/graph/internal/registry"
	"atrium/graph/internal/relay"
	"atrium/internal/platform/apperr"
)

// nodes maps the prefixes of ids to the entities that have them.
var nodes = func() map[string]registry.Entity {
	out := map[string]registry.Entity{}
	for _, e := range registry.Entities {
		if e.Prefix != "" {
			out[e.Prefix] = e
		}
	}
	return out
}()

// node returns the row with the id, of any type. Also returns not_found for an unknown prefix.
func (r *queryResolver) node(ctx context.Context, id string) (relay.Node, error) {
	prefix, _, _ := strings.Cut(id, "_")
	entity, known := nodes[prefix]
	if !known {
		return nil, apperr.Missing("Node")
	}
	row, err := entity.Node(ctx, r.Engine, id)
	if err != nil {
		return nil, err
	}
	return row, nil
}

package graph

import (
	"context"
	"strings"

	"atrium/graph/internal/registry"
	"atrium/graph/internal/relay"
	"atrium/internal/apperr"
)

// nodes are the entities that have an id of their own, by its prefix.
var nodes = func() map[string]registry.Entity {
	out := map[string]registry.Entity{}
	for _, e := range registry.Entities {
		if e.Prefix != "" {
			out[e.Prefix] = e
		}
	}
	return out
}()

// node returns the row with the id, of whatever type. Returns not_found for an id of no type, too.
func (r *Resolver) node(ctx context.Context, id string) (relay.Node, error) {
	prefix, _, _ := strings.Cut(id, "_")
	entity, known := nodes[prefix]
	if !known {
		return nil, apperr.Missing("Node")
	}
	row, err := entity.Node(ctx, r.engine, id)
	if err != nil {
		return nil, err
	}
	return row, nil
}

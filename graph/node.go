package graph

import (
	"context"
	"strings"

	"atrium/graph/internal/relay"
	"atrium/internal/apperr"
	"atrium/internal/catalog"
	"atrium/internal/op"
)

// nodes read a row of any type by its id, by the id's prefix.
var nodes = map[string]func(context.Context, *Resolver, string) (relay.Node, error){
	"svc": node(catalog.GetService),
	"off": node(catalog.GetOffering),
}

func node[Row any](o *op.Operation[op.ByID, *Row]) func(context.Context, *Resolver, string) (relay.Node, error) {
	return func(ctx context.Context, r *Resolver, id string) (relay.Node, error) {
		row, err := read(ctx, r, o, id)
		if err != nil {
			return nil, err
		}
		return row, nil
	}
}

// node returns the row with the id, of whatever type. Returns not_found for an id of no type, too.
func (r *Resolver) node(ctx context.Context, id string) (relay.Node, error) {
	prefix, _, _ := strings.Cut(id, "_")
	get, known := nodes[prefix]
	if !known {
		return nil, apperr.Missing("Node")
	}
	return get(ctx, r, id)
}

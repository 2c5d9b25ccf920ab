package graph

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"atrium/ent"
	"atrium/graph/internal/relay"
	"atrium/internal/op"
)

// follow reads the row that an edge leads to, for all rows of the cohort at once; id is the edge's column. Rows that are
// gone are null, and so are edges that lead nowhere.
func follow[P, T any](ctx context.Context, e *op.Engine, from *P, id func(*P) *string,
	o *op.Operation[op.ByIDs, map[string]*T],
) (*T, error) {
	to := id(from)
	if to == nil {
		return nil, nil //nolint:nilnil // null
	}
	c, parents := cohortOf(ctx, from)
	found, err := once(ctx, c, func() (map[string]*T, error) {
		in := op.ByIDs{Lean: lean[T](ctx, "", nil)}
		seen := map[string]bool{}
		for _, row := range parents {
			if id := id(row); id != nil && !seen[*id] {
				seen[*id] = true
				in.IDs = append(in.IDs, *id)
			}
		}
		found, err := run(ctx, e, o, in)
		rows := make([]*T, 0, len(found))
		for _, id := range in.IDs {
			if row := found[id]; row != nil {
				rows = append(rows, row)
			}
		}
		together(ctx, rows)
		return found, err
	})
	return found[*to], err
}

// attach reads a value that belongs to a row, for all rows of the cohort at once.
func attach[P, V any](ctx context.Context, e *op.Engine, to *P, id func(*P) string,
	o *op.Operation[op.ByIDs, map[string]V],
) (V, error) {
	c, parents := cohortOf(ctx, to)
	values, err := once(ctx, c, func() (map[string]V, error) {
		var in op.ByIDs
		for _, row := range parents {
			in.IDs = append(in.IDs, id(row))
		}
		return run(ctx, e, o, in)
	})
	return values[id(to)], err
}

// branch lists the children of a row for a connection, for all rows of the cohort at once; node is what stands behind a
// row of the list.
func branch[P, Row, T any](ctx context.Context, e *op.Engine, from *P, id func(*P) string,
	o *op.Operation[op.OfParents, map[string]op.List[Row]], first *int, after *string, node func(Row) *T,
) (*relay.Connection[T], error) {
	c, parents := cohortOf(ctx, from)
	connections, err := once(ctx, c, func() (map[string]*relay.Connection[T], error) {
		size, err := sizeOf(first)
		if err != nil {
			return nil, err
		}
		in := op.OfParents{}
		in.SetWindow(size, op.Or(after, ""), "", graphql.FieldRequested(ctx, "totalCount"), lean[T](ctx, "edges.node.", nil))
		for _, row := range parents {
			in.IDs = append(in.IDs, id(row))
		}
		lists, err := run(ctx, e, o, in)
		if err != nil {
			return nil, err
		}
		out := make(map[string]*relay.Connection[T], len(lists))
		var nodes []*T
		for _, id := range in.IDs {
			c := relay.New(lists[id], node)
			for _, e := range c.Edges {
				nodes = append(nodes, e.Node)
			}
			out[id] = c
		}
		together(ctx, nodes)
		return out, nil
	})
	return connections[id(from)], err
}

// lean tells whether nothing is selected below a path of what op.Lean leaves out of a row, nor ordered by it.
func lean[T any](ctx context.Context, path string, order *relay.Order) bool {
	left := op.LeftOut[T]()
	if order != nil && slices.Contains(left, order.Field) {
		return false
	}
	paths := make([]string, len(left))
	for i, name := range left {
		paths[i] = path + name
	}
	return !graphql.AnyFieldRequested(ctx, paths...)
}

// teamOf and userOf are what stands on either side of a membership.
func teamOf(m *ent.TeamMember) *ent.Team { return m.Edges.Team }

func userOf(m *ent.TeamMember) *ent.User { return m.Edges.User }

// same is for lists whose rows are the nodes themselves.
func same[T any](row *T) *T { return row }

package resolve

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/ent"
	"atrium/graph/internal/relay"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
)

// Edge resolves an edge to one row, for all rows of the batch at once; id returns the edge's column. The edge is null when the
// column is, or when the row it refers to is gone.
func Edge[P, T any](ctx context.Context, e *op.Engine, from *P, id func(*P) *string,
	o *op.Operation[paging.ByIDs, map[string]*T],
) (*T, error) {
	to := id(from)
	if to == nil {
		return nil, nil // null
	}
	l, parents := loaderOf(ctx, from)
	found, err := once(ctx, l, func() (map[string]*T, error) {
		in := paging.ByIDs{Columns: columns[T](ctx)}
		seen := map[string]bool{}
		for _, row := range parents {
			if id := id(row); id != nil && !seen[*id] {
				seen[*id] = true
				in.IDs = append(in.IDs, *id)
			}
		}
		found, err := Run(ctx, e, o, in)
		rows := make([]*T, 0, len(found))
		for _, id := range in.IDs {
			if row := found[id]; row != nil {
				rows = append(rows, row)
			}
		}
		Batch(ctx, rows)
		return found, err
	})
	return found[*to], err
}

// NamedUser and NamedTeam are Edge for rows about a request. Whoever reads such a row may know the names of those whom it tells of, and
// needs no right to read users or teams unless the document asks for more.
func NamedUser[P any](ctx context.Context, e *op.Engine, from *P, id func(*P) *string) (*ent.User, error) {
	return Edge(ctx, e, from, id, ifNames(ctx, request.NameUsers, people.LookUpUsers))
}

// NamedTeam is described at NamedUser.
func NamedTeam[P any](ctx context.Context, e *op.Engine, from *P, id func(*P) *string) (*ent.Team, error) {
	return Edge(ctx, e, from, id, ifNames(ctx, request.NameTeams, people.LookUpTeams))
}

// ifNames returns the first operation if the document asks for ids and names alone, and else the second.
func ifNames[T any](ctx context.Context, names, all *op.Operation[paging.ByIDs, map[string]*T]) *op.Operation[paging.ByIDs, map[string]*T] {
	asked := columns[T](ctx)
	if asked == nil || slices.ContainsFunc(asked, func(c string) bool { return c != "id" && c != "name" }) {
		return all
	}
	return names
}

// Actor resolves the edge of a request to a user or service account, for all rows of the batch at once. Names are as in NamedUser.
func Actor[P any](ctx context.Context, e *op.Engine, from *P, id func(*P) string) (relay.Actor, error) {
	l, parents := loaderOf(ctx, from)
	found, err := once(ctx, l, func() (map[string]relay.Actor, error) {
		var users, accounts []string
		for _, row := range parents {
			if id := id(row); strings.HasPrefix(id, "sa_") {
				accounts = append(accounts, id)
			} else {
				users = append(users, id)
			}
		}
		out := map[string]relay.Actor{}
		return out, errors.Join(actors(ctx, e, out, users, ifNames(ctx, request.NameUsers, people.LookUpUsers)),
			actors(ctx, e, out, accounts, ifNames(ctx, request.NameRobots, people.LookUpServiceAccounts)))
	})
	return found[id(from)], err
}

// actors looks up the actors of one kind and adds them to known, by their ids.
func actors[T any](ctx context.Context, e *op.Engine, known map[string]relay.Actor, ids []string, o *op.Operation[paging.ByIDs, map[string]*T]) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	found, err := Run(ctx, e, o, paging.ByIDs{Columns: columns[T](ctx), IDs: ids})
	rows := make([]*T, 0, len(found))
	for _, id := range ids {
		if row := found[id]; row != nil {
			known[id] = row
			rows = append(rows, row)
		}
	}
	Batch(ctx, rows)
	return err
}

// Attached resolves a value that belongs to a row, for all rows of the batch at once.
func Attached[P, V any](ctx context.Context, e *op.Engine, to *P, id func(*P) string,
	o *op.Operation[paging.ByIDs, map[string]V],
) (V, error) {
	l, parents := loaderOf(ctx, to)
	values, err := once(ctx, l, func() (map[string]V, error) {
		var in paging.ByIDs
		for _, row := range parents {
			in.IDs = append(in.IDs, id(row))
		}
		return Run(ctx, e, o, in)
	})
	return values[id(to)], err
}

// parents is implemented by inputs that embed paging.OfParents.
type parents[In any] interface {
	window[In]
	SetParents(ids []string)
}

// Children lists the children of a row as a connection, for all rows of the batch at once; node returns the node of a row of the
// list.
func Children[P, Row, T any](ctx context.Context, e *op.Engine, from *P, id func(*P) string,
	o *op.Operation[paging.OfParents, map[string]paging.List[Row]], first *int, after *string, node func(Row) *T,
) (*relay.Connection[T], error) {
	return ChildrenWith(ctx, e, from, id, o, &paging.OfParents{}, first, after, node)
}

// ChildrenWith is Children for an operation whose input has more than the parents.
func ChildrenWith[P, In, Row, T any, W parents[In]](ctx context.Context, e *op.Engine, from *P, id func(*P) string,
	o *op.Operation[In, map[string]paging.List[Row]], in W, first *int, after *string, node func(Row) *T,
) (*relay.Connection[T], error) {
	l, rows := loaderOf(ctx, from)
	connections, err := once(ctx, l, func() (map[string]*relay.Connection[T], error) {
		size, err := sizeOf(first)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = id(row)
		}
		in.SetParents(ids)
		in.SetWindow(size, op.Or(after, ""), "", graphql.FieldRequested(ctx, "totalCount"))
		lists, err := Run(ctx, e, o, *in)
		if err != nil {
			return nil, err
		}
		out := make(map[string]*relay.Connection[T], len(lists))
		var nodes []*T
		for _, id := range ids {
			c := relay.New(lists[id], node)
			for _, e := range c.Edges {
				nodes = append(nodes, e.Node)
			}
			out[id] = c
		}
		Batch(ctx, nodes)
		return out, nil
	})
	return connections[id(from)], err
}

// TeamOf returns the team of a membership.
func TeamOf(m *ent.TeamMember) *ent.Team { return m.Edges.Team }

// UserOf returns the user of a membership.
func UserOf(m *ent.TeamMember) *ent.User { return m.Edges.User }

// Same returns the row itself, for lists whose rows are the nodes.
func Same[T any](row *T) *T { return row }

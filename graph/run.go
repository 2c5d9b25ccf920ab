package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/99designs/gqlgen/graphql"

	"atrium/ent"
	"atrium/graph/internal/limit"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/view"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// change runs the operation of a mutation on its input, which is read as REST reads a path and a body. target is the
// input's field that holds what REST has in its path.
func change[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], input map[string]any, target string) (Out, error) {
	var none Out
	id, _ := input[target].(string)
	if err := o.Admit(ctx, e, id); err != nil {
		return none, err //nolint:wrapcheck // an *apperr.Error
	}
	body := maps.Clone(input)
	delete(body, target)
	raw, err := json.Marshal(body)
	if err != nil {
		return none, apperr.Wrap(fmt.Errorf("read the input: %w", err), apperr.Validation, "The input cannot be read.")
	}
	in, err := o.Decode(raw, func(string) string { return id }, nil)
	if err != nil {
		return none, err //nolint:wrapcheck // an *apperr.Error
	}
	out, _, err := op.Run(ctx, e, o, in, op.Call{}.Checked())
	return out, err //nolint:wrapcheck // an *apperr.Error
}

// run runs an operation whose input the schema is bound to.
func run[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], in In) (Out, error) {
	out, _, err := op.Run(ctx, e, o, in, nil)
	return out, err //nolint:wrapcheck // an *apperr.Error
}

// read runs the operation that reads one row.
func read[Row any](ctx context.Context, e *op.Engine, o *op.Operation[op.ByID, *Row], id string) (*Row, error) {
	in, err := o.Decode(nil, func(string) string { return id }, nil)
	if err != nil {
		return nil, err //nolint:wrapcheck // an *apperr.Error
	}
	return run(ctx, e, o, in)
}

// window is what an operation's input has when it embeds op.Page.
type window[In any] interface {
	*In
	SetWindow(size int, after, sort string, counted bool)
}

// list runs the operation of a list for a connection.
func list[In, T any, W window[In]](ctx context.Context, e *op.Engine, o *op.Operation[In, op.List[*T]], in W,
	first *int, after *string, order *relay.Order,
) (*relay.Connection[T], error) {
	if in == nil {
		in = new(In)
	}
	size, err := sizeOf(first)
	if err != nil {
		return nil, err
	}
	in.SetWindow(size, op.Or(after, ""), order.Sort(), graphql.FieldRequested(ctx, "totalCount"))
	l, _, err := op.Run(ctx, e, o, *in, nil)
	if err != nil {
		return nil, err //nolint:wrapcheck // an *apperr.Error
	}
	together(ctx, l.Rows)
	return relay.New(l, same[T]), nil
}

// sizeOf returns how many rows `first` asks for.
func sizeOf(first *int) (int, error) {
	n := op.Or(first, limit.DefaultFirst)
	if n < 1 || n > limit.MaxFirst {
		return 0, apperr.InvalidField("first", "must be from 1 to %d", limit.MaxFirst)
	}
	return n, nil
}

// follow reads the row that an edge leads to, for all rows of the cohort at once; id is the edge's column. Rows that are
// gone are null, and so are edges that lead nowhere.
func follow[P, T any](ctx context.Context, e *op.Engine, from *P, edge string, id func(*P) *string,
	o *op.Operation[op.ByIDs, map[string]*T],
) (*T, error) {
	to := id(from)
	if to == nil {
		return nil, nil //nolint:nilnil // null
	}
	c, parents := cohortOf(ctx, from)
	value, err := c.once(edge, func() (any, error) {
		seen := map[string]bool{}
		var ids []string
		for _, row := range parents {
			if id := id(row); id != nil && !seen[*id] {
				seen[*id] = true
				ids = append(ids, *id)
			}
		}
		found, _, err := op.Run(ctx, e, o, op.ByIDs{IDs: ids}, nil)
		if err != nil {
			return nil, err //nolint:wrapcheck // an *apperr.Error
		}
		rows := make([]*T, 0, len(found))
		for _, id := range ids {
			if row := found[id]; row != nil {
				rows = append(rows, row)
			}
		}
		together(ctx, rows)
		return found, nil
	})
	if err != nil {
		return nil, err
	}
	found, _ := value.(map[string]*T)
	return found[*to], nil
}

// attach reads a value that belongs to a row, for all rows of the cohort at once.
func attach[P, V any](ctx context.Context, e *op.Engine, to *P, name string, id func(*P) string,
	o *op.Operation[op.ByIDs, map[string]V],
) (V, error) {
	c, parents := cohortOf(ctx, to)
	value, err := c.once(name, func() (any, error) {
		var in op.ByIDs
		for _, row := range parents {
			in.IDs = append(in.IDs, id(row))
		}
		return run(ctx, e, o, in)
	})
	if err != nil {
		return *new(V), err
	}
	values, _ := value.(map[string]V)
	return values[id(to)], nil
}

// branch lists the children of a row for a connection, for all rows of the cohort at once; node is what stands behind a
// row of the list.
func branch[P, Row, T any](ctx context.Context, e *op.Engine, from *P, edge string, id func(*P) string,
	o *op.Operation[op.OfParents, map[string]op.List[Row]], first *int, after *string, node func(Row) *T,
) (*relay.Connection[T], error) {
	size, err := sizeOf(first)
	if err != nil {
		return nil, err
	}
	in := op.OfParents{}
	in.SetWindow(size, op.Or(after, ""), "", graphql.FieldRequested(ctx, "totalCount"))
	key := fmt.Sprintf("%s %d %q %t", edge, size, in.Window.After, in.Window.Uncounted)
	c, parents := cohortOf(ctx, from)
	value, err := c.once(key, func() (any, error) {
		for _, row := range parents {
			in.IDs = append(in.IDs, id(row))
		}
		lists, _, err := op.Run(ctx, e, o, in, nil)
		if err != nil {
			return nil, err //nolint:wrapcheck // an *apperr.Error
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
	if err != nil {
		return nil, err
	}
	connections, _ := value.(map[string]*relay.Connection[T])
	return connections[id(from)], nil
}

// The fields of inputs that hold what REST has in its path.
const (
	none = ""
	id   = "id"
)

// idOf returns the id that an input names.
func idOf(input map[string]any) string {
	s, _ := input[id].(string)
	return s
}

// teamOf and userOf are what stands on either side of a membership.
func teamOf(m *ent.TeamMember) *ent.Team { return m.Edges.Team }

func userOf(m *ent.TeamMember) *ent.User { return m.Edges.User }

// same is for lists whose rows are the nodes themselves.
func same[T any](row *T) *T { return row }

// textsOf shows no texts as {}.
func textsOf(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// objectOf shows nothing, and null, as {}.
func objectOf(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// viewer returns the caller.
func viewer(ctx context.Context) (*view.Viewer, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.New(apperr.Unauthorized, "Authentication is required.")
	}
	return view.NewViewer(p), nil
}

// textOrNil shows no text as null.
func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

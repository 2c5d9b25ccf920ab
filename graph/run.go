package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/99designs/gqlgen/graphql"

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
	SetWindow(size int, after, sort string, counted, lean bool)
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
	in.SetWindow(size, op.Or(after, ""), order.Sort(), graphql.FieldRequested(ctx, "totalCount"), lean[T](ctx, "edges.node.", order))
	l, err := run(ctx, e, o, *in)
	if err != nil {
		return nil, err
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

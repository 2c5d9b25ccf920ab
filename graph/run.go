package graph

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph/internal/limit"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/view"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// change runs the operation of a mutation. It checks the operation's rules against the input as the caller sent it, as REST
// checks a body. about names the input's field that REST has in its path; "" for none.
func change[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], in In, about string) (Out, error) {
	var none Out
	target, _ := any(in).(op.Target)
	id := ""
	if about != "" && target != nil {
		id = target.TargetID()
	}
	call, err := o.Admit(ctx, e, id)
	if err != nil {
		return none, err
	}
	if err := o.Check(sent(ctx, about)); err != nil {
		return none, err
	}
	if seen, ok := any(in).(interface{ SeenAs() *string }); ok && seen.SeenAs() != nil {
		call.IfMatch = func(row any) bool { return tagOf(row) == *seen.SeenAs() }
	}
	return underKey(ctx, e, o, in, call.Checked())
}

// underKey runs a changing operation under the context's idempotency key, if there is one.
func underKey[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], in In, call *op.Call) (Out, error) {
	var none Out
	key := keyOf(ctx)
	if key != nil {
		call.IdempotencyKey, call.Fingerprint = key.text, key.fingerprint
		call.Render = func(out any) (op.Answer, error) {
			typed, _ := out.(Out) // it is what the operation returned
			return encodeStored(e, key, typed)
		}
	}
	out, kept, err := op.Run(ctx, e, o, in, call)
	if err == nil && kept != nil && kept.Status == http.StatusAccepted {
		return none, &pendingActionError{kept.Body}
	}
	if err == nil && kept != nil && kept.Repeated {
		key.replayed = true
		return decodeStored[Out](e, key, kept)
	}
	return out, err
}

// sent returns the input of the context's field as the caller sent it, without ifMatch and the field that REST has in its path. A
// field without an argument named input uses all of its arguments.
func sent(ctx context.Context, about string) map[string]any {
	arguments := graphql.GetFieldContext(ctx).Field.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
	if input, ok := arguments["input"].(map[string]any); ok {
		arguments = maps.Clone(input)
	}
	delete(arguments, about)
	delete(arguments, "ifMatch")
	return arguments
}

// run runs an operation with an input that gqlgen has decoded.
func run[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], in In) (Out, error) {
	out, _, err := op.Run(ctx, e, o, in, nil)
	return out, err
}

// readJSON decodes a JSON value into an input's field. A value that does not fit leaves the field empty: the operation's rules,
// which check what was sent, report it.
func readJSON(data json.RawMessage, field any) error {
	if data == nil {
		data = json.RawMessage("null")
	}
	if err := json.Unmarshal(data, field); err != nil {
		reflect.ValueOf(field).Elem().SetZero()
	}
	return nil
}

// read runs the operation that reads one row.
func read[Row any](ctx context.Context, e *op.Engine, o *op.Operation[op.ByID, *Row], id string) (*Row, error) {
	return run(ctx, e, o, op.ByID{ID: id})
}

// window is implemented by inputs that embed paging.Page.
type window[In any] interface {
	*In
	SetWindow(size int, after, sort string, counted bool, columns ...string)
}

// list runs the operation of a list and returns its rows as a connection.
func list[In, T any, W window[In]](ctx context.Context, e *op.Engine, o *op.Operation[In, paging.List[*T]], in W,
	first *int, after *string, order *relay.Order,
) (*relay.Connection[T], error) {
	if in == nil {
		in = new(In)
	}
	size, err := sizeOf(first)
	if err != nil {
		return nil, err
	}
	in.SetWindow(size, op.Or(after, ""), order.Sort(), graphql.FieldRequested(ctx, "totalCount"), columns[T](ctx, "edges", "node")...)
	l, err := run(ctx, e, o, *in)
	if err != nil {
		return nil, err
	}
	batch(ctx, l.Rows)
	return relay.New(l, same[T]), nil
}

// sizeOf returns how many rows `first` asks for. Returns validation_error for a number out of bounds.
func sizeOf(first *int) (int, error) {
	n := op.Or(first, limit.DefaultFirst)
	if n < 1 || n > limit.MaxFirst {
		return 0, apperr.InvalidField("first", "must be from 1 to %d", limit.MaxFirst)
	}
	return n, nil
}

// textsOf returns {} for nil.
func textsOf(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// objectOf returns {} for null and for no value.
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
		return nil, apperr.Unauthenticated(nil)
	}
	return view.NewViewer(p), nil
}

// textOrNil returns nil for an empty text.
func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

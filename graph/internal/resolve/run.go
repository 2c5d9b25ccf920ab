package resolve

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph/internal/limit"
	"atrium/graph/internal/relay"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// Change runs the operation of a mutation. It checks the operation's rules against the input as the caller sent it, as REST
// checks a body. about names the input's field that REST has in its path; "" for none.
func Change[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], in In, about string) (Out, error) {
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
		return none, o.AllFaults(ctx, e, in, err)
	}
	if seen, ok := any(in).(interface{ SeenAs() *string }); ok && seen.SeenAs() != nil {
		call.IfMatch = func(row any) bool { return tagOf(row) == *seen.SeenAs() }
	}
	return UnderKey(ctx, e, o, in, call.Checked())
}

// PendingAction is the error of an agent's mutation that has become an action, which waits for a person. REST answers it with 202.
type PendingAction struct{ Answer json.RawMessage }

func (*PendingAction) Error() string {
	return "This was not done: it has become an action, which people look at."
}

// UnderKey runs a changing operation under the context's idempotency key, if there is one.
func UnderKey[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], in In, call *op.Call) (Out, error) {
	return underKey(e, KeyOf(ctx), call, func(call *op.Call) (Out, *op.Answer, error) { return op.Run(ctx, e, o, in, call) })
}

// Row runs an operation on one row of several that a mutation changes, under a key of its own if the context has one.
func Row[Out any](ctx context.Context, e *op.Engine, row, seen string, run func(op.Call) (Out, *op.Answer, error)) (Out, error) {
	var key *Key
	if of := KeyOf(ctx); of != nil {
		key = &Key{text: gate.RowKey(of.text, row), fingerprint: of.fingerprint}
	}
	call := &op.Call{}
	if seen != "" {
		call.IfMatch = func(row any) bool { return tagOf(row) == seen }
	}
	return underKey(e, key, call, func(call *op.Call) (Out, *op.Answer, error) { return run(*call) })
}

// underKey runs an operation under a key; nil for none.
func underKey[Out any](e *op.Engine, key *Key, call *op.Call, run func(*op.Call) (Out, *op.Answer, error)) (Out, error) {
	var none Out
	if key != nil {
		call.IdempotencyKey, call.Fingerprint = key.text, key.fingerprint
		call.Render = func(out any) (op.Answer, error) {
			typed, _ := out.(Out) // it is what the operation returned
			return encodeStored(e, key, typed)
		}
	}
	out, kept, err := run(call)
	if err == nil && kept != nil && kept.Status == http.StatusAccepted {
		return none, &PendingAction{kept.Body}
	}
	if err == nil && kept != nil && kept.Repeated {
		key.Replayed = true
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

// Run runs an operation with an input that gqlgen has decoded.
func Run[In, Out any](ctx context.Context, e *op.Engine, o *op.Operation[In, Out], in In) (Out, error) {
	out, _, err := op.Run(ctx, e, o, in, nil)
	return out, err
}

// ReadJSON decodes a JSON value into an input's field. A value that does not fit leaves the field empty: the operation's rules,
// which check what was sent, report it.
func ReadJSON(data json.RawMessage, field any) error {
	if data == nil {
		data = json.RawMessage("null")
	}
	if err := json.Unmarshal(data, field); err != nil {
		reflect.ValueOf(field).Elem().SetZero()
	}
	return nil
}

// Read runs the operation that reads one row.
func Read[Row any](ctx context.Context, e *op.Engine, o *op.Operation[op.ByID, *Row], id string) (*Row, error) {
	return Run(ctx, e, o, op.ByID{ID: id})
}

// window is implemented by inputs that embed paging.Page.
type window[In any] interface {
	*In
	SetWindow(size int, after, sort string, counted bool, columns ...string)
}

// List runs the operation of a list and returns its rows as a connection.
func List[In, T any, W window[In]](ctx context.Context, e *op.Engine, o *op.Operation[In, paging.List[*T]], in W,
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
	l, err := Run(ctx, e, o, *in)
	if err != nil {
		return nil, err
	}
	Batch(ctx, l.Rows)
	return relay.New(l, Same[T]), nil
}

// sizeOf returns how many rows `first` asks for. Returns validation_error for a number out of bounds.
func sizeOf(first *int) (int, error) {
	n := op.Or(first, limit.DefaultFirst)
	if n < 1 || n > limit.MaxFirst {
		return 0, apperr.InvalidField("first", "must be from 1 to %d", limit.MaxFirst)
	}
	return n, nil
}

// TextsOf returns {} for nil.
func TextsOf(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// ObjectOf returns {} for null and for no value.
func ObjectOf(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// TextOrNil returns nil for an empty text.
func TextOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

package op

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	entgo "entgo.io/ent"

	"atrium/internal/platform/strictjson"
)

// UpdateOf is an update of one row as Ent generates it, such as *ent.ServiceUpdateOne. Make it with the row's own Update.
type UpdateOf[Row any, M entgo.Mutation] interface {
	Mutation() M
	Save(ctx context.Context) (*Row, error)
}

// Save saves an update of a row and records it for the audit entry. If the update changes no value, Save writes nothing and
// returns before. The row then keeps its updatedAt and so its ETag, nobody who watches it is notified, and the operation
// leaves no audit entry.
func Save[Row any, M entgo.Mutation](ctx context.Context, tx *Tx, before *Row, u UpdateOf[Row, M]) (*Row, error) {
	changes, err := Changes(ctx, u.Mutation())
	if err != nil {
		return nil, err
	}
	after := before
	if changes {
		if after, err = u.Save(ctx); err != nil {
			return nil, err
		}
	}
	tx.Changed(before, after)
	return after, nil
}

// Remove deletes a row by the Exec of its DeleteOne, and records it for the audit entry.
func Remove[Row any](ctx context.Context, tx *Tx, row *Row, exec func(context.Context) error) (struct{}, error) {
	if err := exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("delete the row of %s: %w", tx.info.Resource, err)
	}
	tx.Changed(row, nil)
	return struct{}{}, nil
}

// Changes reports whether a mutation of one row names a value that the row does not hold. A mutation made from a loaded row
// knows the old values, so this reads nothing.
func Changes(ctx context.Context, m entgo.Mutation) (bool, error) {
	if len(m.AddedFields()) > 0 {
		return true, nil
	}
	for _, name := range append(m.Fields(), m.ClearedFields()...) {
		to, set := m.Field(name)
		if !set { // it is cleared
			to = nil
		}
		from, err := m.OldField(ctx, name)
		if err != nil {
			return false, fmt.Errorf("read the row's %s: %w", name, err)
		}
		if !same(from, to) {
			return true, nil
		}
	}
	return false, nil
}

// comparedJSON is the length up to which two texts of JSON are compared by what they say, in bytes. That takes 20 ms for each mebibyte of
// both, in the transaction. Longer ones are the same only if they are written the same.
const comparedJSON = 128 << 10

// same reports whether two values of a column look the same to a reader.
func same(a, b any) bool {
	x, y := held(a), held(b)
	if !x.IsValid() || !y.IsValid() {
		return x.IsValid() == y.IsValid()
	}
	switch a := x.Interface().(type) {
	case time.Time:
		b, ok := y.Interface().(time.Time)
		return ok && a.Equal(b)
	case []byte:
		return bytes.Equal(a, y.Bytes())
	case json.RawMessage:
		b := y.Bytes()
		return bytes.Equal(a, b) || max(len(a), len(b)) <= comparedJSON && strictjson.Equal(a, b)
	}
	if reflect.DeepEqual(x.Interface(), y.Interface()) {
		return true
	}
	if x.Kind() != reflect.Struct {
		return false
	}
	left, lerr := json.Marshal(x.Interface()) // a form read back from the database has no list where an empty one was sent
	right, rerr := json.Marshal(y.Interface())
	return lerr == nil && rerr == nil && bytes.Equal(left, right)
}

// held returns the value behind pointers. It is invalid for nil and for empty texts, maps and lists.
func held(v any) reflect.Value {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer {
		rv = rv.Elem()
	}
	switch rv.Kind() {
	case reflect.Map, reflect.Slice, reflect.String:
		if rv.Len() == 0 {
			return reflect.Value{}
		}
	}
	return rv
}

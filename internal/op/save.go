package op

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	entgo "entgo.io/ent"
)

// UpdateOf is what Ent generates to update one row, such as *ent.ServiceUpdateOne, made by the row's own Update.
type UpdateOf[Row any, M entgo.Mutation] interface {
	Mutation() M
	Save(ctx context.Context) (*Row, error)
}

// Save saves an update of a row and records it for the audit entry. An update that names nothing but what the row holds
// already writes nothing and returns before itself: the row keeps its updatedAt and so its ETag, nobody who watches it is
// woken, and the operation leaves no audit entry.
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

// Changes reports whether a mutation of one row names a value that the row does not hold. A mutation of a row that was read
// remembers its values, so that nothing is read for it.
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

// same reports whether two values of a column are one to whoever reads them.
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
		return bytes.Equal(a, y.Bytes())
	}
	if reflect.DeepEqual(x.Interface(), y.Interface()) {
		return true
	}
	if x.Kind() != reflect.Struct {
		return false
	}
	left, lerr := json.Marshal(x.Interface()) // a form as it was read back has no list where an empty one was sent
	right, rerr := json.Marshal(y.Interface())
	return lerr == nil && rerr == nil && bytes.Equal(left, right)
}

// held returns the value behind pointers; invalid for nothing, which empty texts, maps and lists are as well.
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

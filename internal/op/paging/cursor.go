package paging

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/internal/op"
	"atrium/internal/op/input"
	"atrium/internal/platform/apperr"
)

// Window pages a list by position: it holds the page's Size rows that follow the row of the cursor After. Rows that are
// added or deleted meanwhile neither repeat nor hide other rows, and the last page costs as much as the first.
type Window struct {
	After     string // a row's Cursor in the same order; empty for the beginning
	Uncounted bool   // Total is not needed
}

// SetWindow makes the page a window: size rows after a cursor, in the order of a sort. counted requests the total; columns
// are the columns to read.
func (p *Page) SetWindow(size int, after, sort string, counted bool, columns ...string) {
	p.Size, p.Sort, p.Window, p.Columns = size, sort, &Window{After: after, Uncounted: !counted}, columns
}

// readWindow is Read for windows. Returns validation_error, naming "after", for an invalid cursor.
func readWindow[T any](ctx context.Context, page Page, sorts op.Sorts, count func(context.Context) (int, error), rows Rows[T]) (List[T], error) {
	out := List[T]{Page: page, sorts: sorts}
	order, err := windowOrder[T](page, sorts)
	if err != nil {
		return out, err
	}
	if !page.Window.Uncounted {
		if out.Total, err = count(ctx); err != nil {
			return out, fmt.Errorf("count the rows: %w", err)
		}
	}
	if out.Rows, err = rows(ctx, order, 0, page.Size+1); err != nil { // one more row, to know whether rows follow
		return out, fmt.Errorf("read the page: %w", err)
	}
	out.cut()
	return out, nil
}

// cut removes the additional row, which only shows that there are more.
func (l *List[T]) cut() {
	if l.More = len(l.Rows) > l.Page.Size; l.More {
		l.Rows = l.Rows[:l.Page.Size]
	}
}

// windowOrder is Order with a filter for the rows after the cursor.
func windowOrder[T any](page Page, sorts op.Sorts) (func(*sql.Selector), error) {
	order := page.Order(sorts)
	after, err := afterCursor[T](page, sorts)
	if err != nil {
		return nil, err
	}
	return func(sel *sql.Selector) {
		after(sel)
		order(sel)
	}, nil
}

// afterCursor filters a query for the rows after the cursor, with one comparison of the whole key, which an index answers.
func afterCursor[T any](page Page, sorts op.Sorts) (func(*sql.Selector), error) {
	if page.Window.After == "" {
		return func(*sql.Selector) {}, nil
	}
	keys, desc := page.keys(sorts)
	values, err := readCursor[T](page, keys)
	if err != nil {
		return nil, apperr.InvalidField("after", "is no cursor of this list") // the cause would not help the caller
	}
	return func(sel *sql.Selector) {
		columns := make([]string, len(keys))
		for i, k := range keys {
			columns[i] = k.of(sel.Dialect(), sel.C)
		}
		if desc {
			sel.Where(sql.CompositeLT(columns, values...))
		} else {
			sel.Where(sql.CompositeGT(columns, values...))
		}
	}, nil
}

// cursor is the content of a cursor: the order that it was made for, and the row's key in that order.
type cursor struct {
	Sort string `json:"s"`
	Key  []any  `json:"k"`
}

// Cursor returns a row's position in the list, as text for Window.After.
func (l List[T]) Cursor(row T) string {
	keys, _ := l.Page.keys(l.sorts)
	c := cursor{Sort: l.Page.Sort, Key: make([]any, len(keys))}
	v := reflect.Indirect(reflect.ValueOf(row))
	for i, k := range keys {
		c.Key[i] = v.FieldByIndex(columnOf(v.Type(), k.column)).Interface()
	}
	raw, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("cursor of %T: %v", row, err)) // texts, numbers and times always encode
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// readCursor returns the key's values in a cursor, with the types of their columns.
func readCursor[T any](page Page, keys []key) ([]any, error) {
	raw, err := base64.RawURLEncoding.DecodeString(page.Window.After)
	if err != nil {
		return nil, fmt.Errorf("read the cursor: %w", err)
	}
	var c struct {
		Sort string            `json:"s"`
		Key  []json.RawMessage `json:"k"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("read the cursor: %w", err)
	}
	if c.Sort != page.Sort || len(c.Key) != len(keys) {
		return nil, errors.New("read the cursor: it is of another order")
	}
	typ := reflect.TypeFor[T]()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	values := make([]any, len(keys))
	for i, k := range keys {
		v := reflect.New(typ.FieldByIndex(columnOf(typ, k.column)).Type)
		if err := json.Unmarshal(c.Key[i], v.Interface()); err != nil {
			return nil, fmt.Errorf("read the cursor: %w", err)
		}
		value := plain(v.Elem())
		if s, ok := value.(string); ok && !input.Storable(s) {
			return nil, errors.New("read the cursor: a character that no column takes")
		}
		values[i] = value
	}
	return values, nil
}

// plain returns a value in a form that drivers accept, without its named type.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int64:
		return v.Int()
	}
	if t, ok := v.Interface().(time.Time); ok {
		return t.UTC()
	}
	return v.Interface()
}

// columnOf returns the index of the field for a column of an Ent entity.
func columnOf(t reflect.Type, column string) []int {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == column && f.IsExported() {
			return f.Index
		}
	}
	panic(fmt.Sprintf("%s has no column %s to order by", t, column)) // a list's sorts name columns of its rows
}

package paging

import (
	"context"
	"fmt"
	"reflect"

	"entgo.io/ent/dialect/sql"

	"atrium/internal/op"
)

// paged is an input that embeds Page.
type paged interface{ page() Page }

// NewList declares the operation that lists an entity. query returns the rows that the input selects, without an order.
func NewList[In paged, Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](
	name string, spec op.Spec, query func(ctx context.Context, tx *op.Tx, in In) Q,
) *op.Operation[In, List[*Row]] {
	return op.New(name, spec, func(ctx context.Context, tx *op.Tx, in In) (List[*Row], error) {
		return Of(ctx, in.page(), spec.Sorts, query(ctx, tx, in))
	})
}

// ByIDs is the input of operations that look many rows up at once, for edges of the graph. They leave out ids that are no
// rows of the company.
type ByIDs struct {
	IDs     []string `json:"-"`
	Columns []string `json:"-"` // the columns to read; empty for all
}

// NewLookUp declares the operation that reads many rows at once by their ids, under the rights of reading a single row,
// and returns them by id.
func NewLookUp[Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](
	name string, spec op.Spec, query func(tx *op.Tx) Q,
) *op.Operation[ByIDs, map[string]*Row] {
	return op.New(name, spec, func(ctx context.Context, tx *op.Tx, in ByIDs) (map[string]*Row, error) {
		return LookUp(ctx, query(tx), in)
	})
}

// LookUp returns the rows of a query that have one of the ids, by id. Without ids it reads nothing.
func LookUp[Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](ctx context.Context, q Q, in ByIDs) (map[string]*Row, error) {
	if len(in.IDs) == 0 {
		return map[string]*Row{}, nil
	}
	if len(in.Columns) > 0 {
		q.Where(P(selecting(in.Columns)))
	}
	rows, err := q.Where(P(sql.FieldIn("id", in.IDs...))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up by id: %w", err)
	}
	id := columnOf(reflect.TypeFor[Row](), "id")
	out := make(map[string]*Row, len(rows))
	for _, row := range rows {
		out[reflect.ValueOf(row).Elem().FieldByIndex(id).String()] = row
	}
	return out, nil
}

// NewChildren declares the operation that lists the children of many rows at once. query reads table, whose column holds
// the parent's id; only filters the children further, for the caller's role.
func NewChildren[Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](
	name string, spec op.Spec, table, column string, query func(tx *op.Tx) Q, only ...func(tx *op.Tx) []P,
) *op.Operation[OfParents, map[string]List[*Row]] {
	return op.New(name, spec, func(ctx context.Context, tx *op.Tx, in OfParents) (map[string]List[*Row], error) {
		var where []P
		for _, f := range only {
			where = append(where, f(tx)...)
		}
		return Children(ctx, tx, in, spec.Sorts, table, column, query(tx), where...)
	})
}

package jobs

import (
	"context"
	"errors"
	"time"

	"entgo.io/ent/dialect/sql"
)

// Due hands on rows that have fallen due, a page at a time, until a page is not full. page returns at most size rows behind last,
// which is nil at first, in an order that act does not change: each row is looked at once, so that one that fails holds up none
// behind it, and is found again by the next run. What act returns is joined; an error of page ends it.
func Due[R any](ctx context.Context, size int, page func(last *R) ([]*R, error), act func([]*R) error) error {
	var errs []error
	var last *R
	for {
		rows, err := page(last)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		errs = append(errs, act(rows))
		if len(rows) < size || ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		last = rows[len(rows)-1]
	}
}

// Behind narrows a query of Due to rows behind the last one, in the order of the time at which they fell due, and of their ids.
func Behind[P ~func(*sql.Selector)](column string, at time.Time, id string) P {
	return P(sql.OrPredicates(sql.FieldGT(column, at), sql.AndPredicates(sql.FieldEQ(column, at), sql.FieldGT("id", id))))
}

// DueEach is Due for what is done row by row.
func DueEach[R any](ctx context.Context, size int, page func(last *R) ([]*R, error), act func(*R) error) error {
	return Due(ctx, size, page, func(rows []*R) error {
		var errs []error
		for _, r := range rows {
			if ctx.Err() != nil {
				break
			}
			errs = append(errs, act(r))
		}
		return errors.Join(errs...)
	})
}

package jobs

import (
	"context"
	"errors"
	"time"

	"entgo.io/ent/dialect/sql"
)

// Due passes rows that have fallen due to act, one page at a time, until a page is not full. page returns at most size rows after
// last, which is nil for the first page, in an order that act does not change. So each row is visited once per run: a row that
// fails does not hold up the rows after it, and the next run finds it again. Due returns act's errors joined; an error of page
// ends the run.
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

// After limits a query of Due to the rows after the last one, ordered by the time at which they fell due and then by id.
func After[P ~func(*sql.Selector)](column string, at time.Time, id string) P {
	return func(s *sql.Selector) { s.Where(sql.CompositeGT([]string{s.C(column), s.C("id")}, at.UTC(), id)) }
}

// DueEach is Due for an act that handles one row.
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

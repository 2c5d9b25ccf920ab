package timer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/internal/op"
)

// Behind returns the ids of rows at which something has fallen due or whose columns hold another clock than their log gives. It
// writes nothing, so that what a change of service levels leaves as it is costs no transaction. Call it outside of one.
func Behind[R any](ctx context.Context, rows Rows[R], list []*R) (ids []string, err error) {
	for _, r := range list {
		c, err := rows.Derive(ctx, r)
		if err != nil {
			return nil, err
		}
		behind := len(c.Firings) > 0
		if !behind {
			if behind, err = rows.Changes(ctx, r, c); err != nil {
				return nil, err
			}
		}
		if behind {
			ids = append(ids, rows.ID(r))
		}
	}
	return ids, nil
}

// AdvanceAll advances rows that the log's transaction has locked, in their order, for one turn. Returns the ids of those that it has
// not brought up to the log's moment.
func AdvanceAll[R any](ctx context.Context, l *Log, rows Rows[R], list []*R) (rest []string, err error) {
	l.inTurn()
	for i, r := range list {
		if i == 0 || !l.over() {
			_, err = Advance(ctx, l, rows, r)
		} else {
			err = errTurnOver
		}
		switch {
		case errors.Is(err, errTurnOver):
			for _, r := range list[i:] {
				rest = append(rest, rows.ID(r))
			}
			return rest, nil
		case err != nil:
			return nil, err
		}
	}
	return nil, nil
}

// InTurns advances rows of a company in transactions of one turn each, so that others write in between. advance locks at most size
// rows and advances those that still need it; it returns the ids that its turn was too short for. If a transaction of several rows
// fails, each is tried alone, so that one row does not block the others.
func InTurns(ctx context.Context, e *op.Engine, company string, ids []string, size int, advance func(ctx context.Context, tx *op.Tx, ids []string) (rest []string, err error)) error {
	var errs []error
	for len(ids) > 0 {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		some := ids[:min(len(ids), size)]
		var rest []string
		err := e.Work(ctx, company, Worker, func(ctx context.Context, tx *op.Tx) (err error) {
			rest, err = advance(ctx, tx, some)
			return err
		})
		switch {
		case err == nil:
			ids = slices.Concat(rest, ids[len(some):])
			continue
		case len(some) > 1:
			errs = append(errs, InTurns(ctx, e, company, some, 1, advance))
		default:
			errs = append(errs, fmt.Errorf("advance the clock of %s: %w", some[0], err))
		}
		ids = ids[len(some):]
	}
	return errors.Join(errs...)
}

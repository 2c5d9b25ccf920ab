package op

import (
	"context"
	"runtime"
	"time"

	"atrium/authz"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/share"
)

const (
	maxNarrowed   = 2 * time.Second       // for a statement that access policies narrow
	maxNarrowedTx = 50 * time.Millisecond // for such a statement inside a write transaction, where policies are slow: other writers wait for it
)

// narrowedTurns limits how many statements narrowed by slow policies run at once. It is apart from the queue of costly work, because
// costly work makes such statements itself.
var narrowedTurns = share.New(max(1, runtime.GOMAXPROCS(0)/2), 1)

// bounded is the caller's row filter, and limits the statements that it narrows, because the company chooses what its filter
// costs. Each statement has a deadline. Where the policies are slow on a database (authz.Set.Slow), a company runs one such
// statement at a time, and all companies together run half as many as there are processors, so that connections stay free for
// others.
type bounded struct {
	principal.Rows
	attempt *attempt
}

type enteredKey struct{}

// Enter bounds a statement. A statement that Ent makes on behalf of another, to load edges, runs within the other's bound.
func (b *bounded) Enter(ctx context.Context, entity string) (within context.Context, leave func(), err error) {
	if ctx.Value(enteredKey{}) != nil || b.Narrow(entity) == nil {
		return ctx, func() {}, nil
	}
	a, most := b.attempt, maxNarrowed
	slow := a.set.Slow()
	turn := func() {}
	switch {
	case a.writing && slow:
		most = maxNarrowedTx
	case !a.writing && slow:
		wait, cancel := context.WithTimeout(ctx, prepareTimeout)
		turn, err = narrowedTurns.Take(wait, a.principal.CompanyID)
		cancel()
		if err != nil {
			return nil, nil, apperr.Busy(err)
		}
	}
	until := time.Now().Add(most)
	within, cancel := context.WithDeadline(context.WithValue(ctx, enteredKey{}, true), until)
	return within, func() {
		if time.Now().After(until) {
			a.late.Store(true)
		}
		cancel()
		turn()
	}, nil
}

// Bounded returns what a hand-written query finds that Visible narrows for the table, within the bound of such statements. The query
// must use the context that it is given.
func Bounded[T any](ctx context.Context, tx *Tx, table string, query func(context.Context) (T, error)) (found T, err error) {
	if tx.narrowed == nil {
		return query(ctx)
	}
	ctx, leave, err := tx.narrowed.Enter(ctx, authz.EntityOfTable(table))
	if err != nil {
		return found, err
	}
	defer leave()
	return query(ctx)
}

// tooLong is the error of a call whose statements ran into their deadline.
func tooLong(err error) *apperr.Error {
	return apperr.Wrap(err, apperr.Unavailable, "The company's access policies take too long to find what you may see. Ask for less, or have the policies simplified.")
}

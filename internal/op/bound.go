package op

import (
	"context"
	"runtime"
	"time"

	"atrium/authz"
	"atrium/internal/apperr"
	"atrium/internal/principal"
)

const (
	maxNarrowed   = 2 * time.Second       // of a statement that access policies narrow
	maxNarrowedTx = 50 * time.Millisecond // of one inside a write transaction, where the policies are slow: others wait for it
)

// lists are the turns of statements that slow policies narrow. They are not those of costly work, which makes such statements.
var lists = &queue{all: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), companies: map[string]*turn{}}

// bounded are the rows that the caller may read, and bounds the statements that are narrowed to them: what the filter costs was
// chosen by the company. Each has a deadline. Where the policies are slow on a database (authz.Set.Slow), a company has one of
// them at a time, and all companies together half of as many as there are processors, so that connections are left for
// others.
type bounded struct {
	principal.Rows
	attempt *attempt
}

type enteredKey struct{}

// Enter bounds a statement. One that is made on behalf of another, to load edges, is bounded with it.
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
		turn, err = lists.take(wait, a.principal.CompanyID)
		cancel()
		if err != nil {
			return nil, nil, busy(err)
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

// Bounded runs a query that is written by hand and narrowed by Visible of a table; its selector carries the context.
func (tx *Tx) Bounded(ctx context.Context, table string, query func(context.Context) error) error {
	if tx.narrowed == nil {
		return query(ctx)
	}
	ctx, leave, err := tx.narrowed.Enter(ctx, authz.EntityOfTable(table))
	if err != nil {
		return err
	}
	defer leave()
	return query(ctx)
}

// tooLong is the error of a call whose statements were given up.
func tooLong(err error) *apperr.Error {
	return apperr.Wrap(err, apperr.Unavailable, "The company's access policies take too long to find what you may see. Ask for less, or have the policies simplified.")
}

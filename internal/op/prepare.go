package op

import (
	"context"
	"errors"
	"runtime"
	"time"

	"atrium/ent"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/share"
)

// Work whose cost the caller chooses (reading definitions, forms and policies) runs outside of transactions, because SQLite has
// one writer for all companies. An operation does this work in its preparation. In its transaction it only compares the versions
// of the rows that the preparation read. Only an operation that RunIn runs is prepared in the transaction that it joins, and
// waits there for its turn no longer than maxTurnInTx.

// ErrOutdated is returned by an operation's function when a row has changed since the preparation read it. Run then prepares
// and runs the operation again.
var ErrOutdated = errors.New("the row has changed since the operation was prepared")

const (
	prepareTimeout  = 5 * time.Second        // for one preparation, including the wait for its turn
	maxTurnInTx     = 250 * time.Millisecond // for a turn inside a write transaction, where RunIn prepares
	maxPreparations = 5                      // for one call, each after another change of the row
)

// Prepared makes prepare run before the operation's transaction begins; RunIn runs it in the transaction that the operation
// joins. prepare reads through tx, and sees rows that policies hide; the function gets its result from Preparation. prepare
// returns faults of the input in that result, so that the function reports them only after the rights were checked. An error ends
// the call. Work that takes more than a millisecond goes through Costly.
func (o *Operation[In, Out]) Prepared(prepare func(ctx context.Context, tx *Tx, in In) (any, error)) *Operation[In, Out] {
	o.prepare = prepare
	return o
}

// Calling is Prepared for a preparation that calls other servers. The caller's right to the row and If-Match are asked before it. Nobody
// is called again for the same call, nor for the same idempotency key: see callOnce.
func (o *Operation[In, Out]) Calling(prepare func(ctx context.Context, tx *Tx, in In) (any, error)) *Operation[In, Out] {
	o.prepare, o.calls = prepare, true
	return o
}

// Preparation returns the preparation's result; false if it has none of that type.
func Preparation[T any](tx *Tx) (T, bool) {
	v, ok := tx.preparation.(T)
	return v, ok
}

// prepared runs the operation's preparation, reading from db, if there is one and the caller's role allows the operation at
// all.
func (o *Operation[In, Out]) prepared(ctx context.Context, a *attempt, db *ent.Client, in In) error {
	if o.prepare == nil || !a.decision.Allow || a.target == "" && isTarget(in) { // no row has such an id, as the operation will find
		return nil
	}
	ctx, tx := principal.With(ctx, a.principal), &Tx{Client: db, attempt: a}
	if o.calls {
		return o.callOnce(ctx, tx, in)
	}
	var err error
	a.preparation, err = o.prepare(ctx, tx, in)
	return err
}

// callOnce runs a preparation that calls other servers unless this attempt has run it or the idempotency key has an answer, which the
// operation then returns. The key is reserved before, so that neither a second call with it nor one after a crash calls again.
func (o *Operation[In, Out]) callOnce(ctx context.Context, tx *Tx, in In) error {
	if first, err := o.firstAnswer(ctx, tx, in); first != nil || err != nil {
		return err
	}
	if tx.called {
		return tx.callErr
	}
	if err := o.rights(ctx, tx, in); err != nil {
		return err
	}
	if err := tx.reserveKey(ctx); err != nil {
		return err
	}
	tx.called = true
	tx.preparation, tx.callErr = o.prepare(ctx, tx, in)
	return tx.callErr
}

// Costly runs work whose cost the caller chooses: one at a time for each company, and on half of the processors for all
// companies together, so that nobody else waits for it. Returns unavailable when the turn does not come within 5 seconds, or in a
// write transaction, for which others wait, within 250 ms.
func (tx *Tx) Costly(ctx context.Context, work func(context.Context) error) error {
	longest := prepareTimeout
	if tx.writing {
		longest = maxTurnInTx
	}
	return costly(ctx, tx.principal.CompanyID, longest, work)
}

// Costly is Tx.Costly for workers.
func (e *Engine) Costly(ctx context.Context, companyID string, work func(context.Context) error) error {
	return costly(ctx, companyID, prepareTimeout, work)
}

func costly(ctx context.Context, companyID string, longest time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	waiting, stop := context.WithTimeout(ctx, longest)
	leave, err := turns.Take(waiting, companyID)
	stop()
	if err != nil {
		return apperr.Busy(err)
	}
	defer leave()
	return work(ctx)
}

// CostlyNow is Costly for callers that must not wait: it returns false when it would have to wait.
func (e *Engine) CostlyNow(ctx context.Context, companyID string, work func(context.Context) error) (ran bool, err error) {
	leave, ok := turns.TakeNow(companyID)
	if !ok {
		return false, nil
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	return true, work(ctx)
}

// turns limits costly work for the whole process, not for each engine: two engines, as tests have, must not take all
// processors.
var turns = share.New(max(1, runtime.GOMAXPROCS(0)/2), 1)

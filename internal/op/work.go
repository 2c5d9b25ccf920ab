package op

import (
	"context"
	"errors"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Work runs fn in one transaction within a company, as the worker of that name (principal.Worker). Inside, the worker runs
// operations (RunIn), emits events, inserts jobs and completes its own, and touches only rows of the company. All of it
// commits together when fn returns nil. fn may run more than once, after a serialization failure of PostgreSQL.
//
// If an operation that fn ran was refused, the refusal is returned and audited and the transaction is rolled back, even when
// fn does not return the refusal.
func (e *Engine) Work(ctx context.Context, companyID, name string, fn func(ctx context.Context, tx *Tx) error) error {
	return e.WorkAs(ctx, principal.Worker(companyID, name), fn)
}

// WorkAs is Work for a worker with an identity of its own (principal.WorkerAs).
func (e *Engine) WorkAs(ctx context.Context, p *principal.Principal, fn func(ctx context.Context, tx *Tx) error) error {
	a := &attempt{engine: e, principal: p, info: &Info{Name: p.Name}}
	ctx = principal.With(ctx, a.principal)
	var inner refusal
	err := e.Store.Write(ctx, func(ctx context.Context, dbtx *store.Tx) error {
		tx := &Tx{Client: dbtx.Client, attempt: a, db: dbtx}
		err := fn(ctx, tx)
		inner = tx.inner
		if err == nil {
			err = inner.err
		}
		return err
	})
	if inner.of != nil && errors.Is(err, inner.err) {
		return inner.of.failed(ctx, inner.err)
	}
	return err
}

// Reading returns the context in which the worker of that name reads of a company outside of any transaction.
func (e *Engine) Reading(ctx context.Context, companyID, name string) context.Context {
	return clock.With(principal.With(ctx, principal.Worker(companyID, name)), e.Store.Clock())
}

// Outside returns a Tx that asks policies and reads as p, a worker of a company, outside of any transaction.
func (e *Engine) Outside(p *principal.Principal) *Tx {
	return &Tx{Client: e.Store.Reader(), attempt: &attempt{engine: e, principal: p, info: &Info{Name: p.Name}}}
}

// AsWorker returns the transaction with the worker of that name as its principal. It is for what the product does by itself in
// an operation's transaction, which needs no right of the caller. The operation must return an error that RunIn returns on it.
func (tx *Tx) AsWorker(name string) *Tx {
	return tx.ActingAs(principal.Worker(tx.principal.CompanyID, name))
}

// ActingAs returns the transaction with another principal of the company: an agent whose action a person approved. RunIn then
// checks that principal's rights and audits that principal.
func (tx *Tx) ActingAs(p *principal.Principal) *Tx {
	a := &attempt{engine: tx.engine, principal: p, info: &Info{Name: p.Name}}
	return &Tx{Client: tx.Client, attempt: a, db: tx.db, outer: tx}
}

// RunIn performs an operation inside an open transaction, as the transaction's principal: an operation's caller, or a worker. Inside of
// one that reads it performs one that reads. It takes the steps of Run, with an audit entry of its own. Returns what the operation's function returns, or an
// *apperr.Error. After an error the transaction cannot commit any more, and its function returns the error.
//
// The input is checked while the transaction is open. If a customer chose the input, so that checking it may be costly, the
// caller checks it before.
func RunIn[In, Out any](ctx context.Context, tx *Tx, o *Operation[In, Out], in In) (Out, error) {
	return runIn(ctx, tx, o, in, nil, func(ctx context.Context, a *attempt) error {
		return o.prepared(ctx, a, tx.Client, in) // it sees what the transaction has written
	})
}

// Ready is an input that was checked and prepared outside of any transaction.
type Ready[In any] struct {
	in          In
	preparation any
}

// Prepare checks and prepares an input for RunReady, as a worker and outside of any transaction. It is for an input that a
// customer sent and that may be costly to check. Returns the operation's refusal of the input.
func Prepare[In, Out any](ctx context.Context, e *Engine, p *principal.Principal, o *Operation[In, Out], in In) (Ready[In], error) {
	ctx, a, err := start(principal.With(ctx, p), e, o, in, nil)
	if err != nil {
		return Ready[In]{}, apperr.From(err)
	}
	if err := o.prepared(ctx, a, e.Store.Reader(), in); err != nil {
		return Ready[In]{}, a.public(err)
	}
	return Ready[In]{in, a.preparation}, nil
}

// PrepareWithin is Prepare within the preparation of another operation, whose function runs the prepared one: as the same caller.
func PrepareWithin[In, Out any](ctx context.Context, tx *Tx, o *Operation[In, Out], in In) (Ready[In], error) {
	return Prepare(ctx, tx.engine, tx.principal, o, in)
}

// RunReady is RunIn for an input that Prepare has prepared. Returns ErrOutdated if a row has changed since.
func RunReady[In, Out any](ctx context.Context, tx *Tx, o *Operation[In, Out], r Ready[In]) (Out, error) {
	return runIn(ctx, tx, o, r.in, (Call{}).Checked(), func(_ context.Context, a *attempt) error {
		a.preparation = r.preparation
		return nil
	})
}

// runIn performs an operation inside a transaction; prepare sets the attempt's preparation.
func runIn[In, Out any](ctx context.Context, tx *Tx, o *Operation[In, Out], in In, c *Call, prepare func(context.Context, *attempt) error) (Out, error) {
	var none Out
	if tx.db == nil && o.info.Action != Read {
		return none, tx.refuse(nil, errors.New("op: an operation was to write in a transaction that only reads"))
	}
	ctx, a, err := start(principal.With(ctx, tx.principal), tx.engine, o, in, c)
	if err != nil {
		return none, tx.refuse(a, err)
	}
	a.writing = true
	within := &Tx{Client: tx.Client, attempt: a, db: tx.db}
	var out Out
	if o.info.Action == Read {
		out, err = o.perform(ctx, within, in)
	} else if err = prepare(ctx, a); err == nil {
		out, err = o.complete(ctx, within, in)
	}
	if err == nil && tx.db != nil { // what only reads has no transaction
		err = tx.db.Flush(ctx) // run its constraint checks now, so that a violation counts as this operation's
	}
	if err != nil {
		return none, tx.refuse(a, store.AsViolation(err))
	}
	return out, nil
}

// refusal is an error of RunIn with the attempt that caused it; the attempt is nil if none was started.
type refusal struct {
	err error
	of  *attempt
}

// refuse marks the transaction as one that must not commit, and returns the public error.
func (tx *Tx) refuse(a *attempt, err error) error {
	out := apperr.From(err)
	if a != nil {
		out = a.public(err)
	}
	for t := tx; t != nil; t = t.outer {
		t.inner = refusal{err: out, of: a}
	}
	return out
}

package op

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"sync"
	"time"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/apperr"
	"atrium/internal/principal"
)

// Work whose cost the caller chooses (reading definitions, forms and policies) never runs inside a transaction: SQLite
// has one writer for all companies. An operation does it in its preparation, and compares in its transaction what it was
// made from.

// ErrOutdated is what an operation's function returns when a row has changed since the preparation read it: the operation
// is prepared and run again.
var ErrOutdated = errors.New("the row has changed since the operation was prepared")

const (
	prepareTimeout  = 5 * time.Second // of one preparation, with the wait for its turn
	maxPreparations = 5               // of one call, each after another change of the row
)

// Prepared makes prepare run before the operation's transaction begins. It reads through tx, outside of any transaction
// and whatever policies hide; the function gets what it returns from Preparation. Faults of the input belong into that, so
// that they are named after the rights were checked; an error ends the call. What takes more than a millisecond belongs
// into Costly.
func (o *Operation[In, Out]) Prepared(prepare func(ctx context.Context, tx *Tx, in In) (any, error)) *Operation[In, Out] {
	o.prepare = prepare
	return o
}

// Preparation returns what the operation's preparation made; false when it made nothing of that type.
func Preparation[T any](tx *Tx) (T, bool) {
	v, ok := tx.preparation.(T)
	return v, ok
}

// prepared runs the operation's preparation with what db reads, if it has one and the caller's role may do it at all.
func (o *Operation[In, Out]) prepared(ctx context.Context, a *attempt, db *ent.Client, in In) error {
	if o.prepare == nil || !a.decision.Allow {
		return nil
	}
	var err error
	a.preparation, err = o.prepare(principal.With(ctx, a.principal), &Tx{Client: db, attempt: a}, in)
	return err
}

// foresee asks the policies about the row as it is, and as the input would make it, before the transaction. Where there are
// many policies, what they answer is remembered, so that the same question within costs nothing. Nothing is refused here,
// and what is not foreseen is decided within.
func (a *attempt) foresee(ctx context.Context, in any) {
	name, action := a.info.Resource, a.info.Action
	if a.set == nil || !authz.Bound(name) || !a.engine.Authz.Heavy(a.set, string(action), name) && !a.engine.Authz.Heavy(a.set, string(Read), name) {
		return
	}
	tx := &Tx{Client: a.engine.Store.Reader(), attempt: a}
	_ = tx.Costly(principal.With(ctx, a.principal), func(ctx context.Context) error { // whose turn does not come decides within
		who, err := tx.who(ctx)
		if err != nil {
			return err
		}
		ask := func(action Action, row authz.Row) bool {
			d, err := a.engine.Authz.DecideRow(ctx, a.set, who, tx.question(action, name), row)
			return err == nil && d.Allow
		}
		doc := map[string]any{}
		if entity, err := authz.Load(ctx, tx.Client, name, a.target); err == nil {
			row, err := tx.RowOf(ctx, entity)
			if err != nil {
				return err
			}
			if a.rows != nil && ask(Read, row) {
				a.rows.Knows(name, a.target)
			}
			ask(action, row)
			doc = maps.Clone(row.Document())
		}
		body, err := json.Marshal(in)
		if err != nil || action == Delete || json.Unmarshal(body, &doc) != nil {
			return err
		}
		ask(action, authz.RowOfInput(name, a.target, doc))
		return nil
	})
}

// Costly runs work whose cost the caller chooses: one at a time for a company, and on half of the processors for all of
// them together, so that nobody else waits for it. Returns unavailable when its turn does not come in time.
func (tx *Tx) Costly(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	leave, err := turns.take(ctx, tx.principal.CompanyID)
	if err != nil {
		out := apperr.Wrap(err, apperr.Unavailable, "The service is busy. Try again shortly.")
		out.RetryAfter = 1
		return out
	}
	defer leave()
	return work(ctx)
}

// turns bound the processors of this process, which all of its engines share: two engines, as tests have, must not take all
// of them.
var turns = &queue{all: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), companies: map[string]*turn{}}

// queue lets in one a company, and as many companies as there is room for.
type queue struct {
	all chan struct{}

	mu        sync.Mutex
	companies map[string]*turn
}

// turn is a company's, for as long as somebody has it or waits for it.
type turn struct {
	free chan struct{}
	refs int
}

// take waits for the company's turn, and returns what ends it.
func (q *queue) take(ctx context.Context, company string) (leave func(), err error) {
	q.mu.Lock()
	t := q.companies[company]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		q.companies[company] = t
	}
	t.refs++
	q.mu.Unlock()
	forget := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if t.refs--; t.refs == 0 {
			delete(q.companies, company)
		}
	}
	select {
	case t.free <- struct{}{}:
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
	select {
	case q.all <- struct{}{}:
	case <-ctx.Done():
		<-t.free
		forget()
		return nil, ctx.Err()
	}
	return func() {
		<-q.all
		<-t.free
		forget()
	}, nil
}

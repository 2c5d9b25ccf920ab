package op

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"slices"
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

// foresee asks the policies about the row as it is, as the input would make it, and about the rows that the input refers to,
// before the transaction. Where there are many policies, what they answer is remembered, so that the same question within
// costs nothing, and queries within do not evaluate them for these rows. Nothing is refused here, and what is not foreseen is
// decided within.
func (a *attempt) foresee(ctx context.Context, in any) {
	name, action := a.info.Resource, a.info.Action
	if a.set == nil || !a.set.Heavy() && (!authz.Bound(name) || !a.engine.Authz.Heavy(a.set, string(action), name)) {
		return
	}
	tx := &Tx{Client: a.engine.Store.Reader(), attempt: a}
	_ = tx.Costly(principal.With(ctx, a.principal), func(ctx context.Context) error { // whose turn does not come decides within
		who, err := tx.who(ctx)
		if err != nil {
			return err
		}
		ask := func(action Action, row authz.Row) bool {
			d, err := a.engine.Authz.DecideRow(ctx, a.set, who, tx.question(action, row.Resource), row)
			return err == nil && d.Allow
		}
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		for _, id := range append(named(body), a.target) {
			if err := tx.foreseeRow(ctx, id, ask); err != nil {
				return err
			}
		}
		if !authz.Bound(name) {
			return nil
		}
		doc := map[string]any{}
		if entity, err := authz.Load(ctx, tx.Client, name, a.target); err == nil {
			row, err := tx.RowOf(ctx, entity)
			if err != nil {
				return err
			}
			ask(action, row)
			doc = maps.Clone(row.Document())
		}
		if action == Delete || json.Unmarshal(body, &doc) != nil {
			return nil
		}
		ask(action, authz.RowOfInput(name, a.target, doc))
		return nil
	})
}

// foreseeRow decides whether the caller may read the row of an id, and those that it belongs to.
func (tx *Tx) foreseeRow(ctx context.Context, id string, ask func(Action, authz.Row) bool) error {
	name := authz.OfID(id)
	if name == "" || tx.rows == nil || tx.rows.Narrow(name) == nil {
		return nil
	}
	entity, err := authz.Load(ctx, tx.Client, name, id)
	if err != nil {
		return ent.MaskNotFound(err)
	}
	row, err := tx.RowOf(ctx, entity)
	if err != nil {
		return err
	}
	shown := ask(Read, row)
	tx.rows.Knows(name, id, shown)
	for _, parent := range row.Parents() {
		if shown {
			tx.rows.Knows(parent.Resource, parent.ID, true)
		} else if err := tx.foreseeRow(ctx, parent.ID, ask); err != nil {
			return err
		}
	}
	return nil
}

// maxForeseen bounds the rows that are asked about for one call.
const maxForeseen = 20

// named returns the ids that an input refers to.
func named(body []byte) []string {
	var ids []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(ids) < maxForeseen && authz.OfID(v) != "" && !slices.Contains(ids, v) {
				ids = append(ids, v)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(v[key])
			}
		}
	}
	var v any
	if json.Unmarshal(body, &v) == nil {
		walk(v)
	}
	return ids
}

// Costly runs work whose cost the caller chooses: one at a time for a company, and on half of the processors for all of
// them together, so that nobody else waits for it. Returns unavailable when its turn does not come in time.
func (tx *Tx) Costly(ctx context.Context, work func(context.Context) error) error {
	return tx.engine.Costly(ctx, tx.principal.CompanyID, work)
}

// Costly is what Tx.Costly is, for workers.
func (e *Engine) Costly(ctx context.Context, companyID string, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	leave, err := turns.take(ctx, companyID)
	if err != nil {
		return busy(err)
	}
	defer leave()
	return work(ctx)
}

// CostlyNow is Costly for who must not wait: it returns false when others are having their turn.
func (e *Engine) CostlyNow(ctx context.Context, companyID string, work func(context.Context) error) (ran bool, err error) {
	leave, ok := turns.takeNow(companyID)
	if !ok {
		return false, nil
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	return true, work(ctx)
}

func busy(err error) error {
	out := apperr.Wrap(err, apperr.Unavailable, "The service is busy. Try again shortly.")
	out.RetryAfter = 1
	return out
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

// of returns a company's turn, and what forgets it when nobody wants it any more.
func (q *queue) of(company string) (t *turn, forget func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t = q.companies[company]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		q.companies[company] = t
	}
	t.refs++
	return t, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if t.refs--; t.refs == 0 {
			delete(q.companies, company)
		}
	}
}

// take waits for the company's turn, and returns what ends it.
func (q *queue) take(ctx context.Context, company string) (leave func(), err error) {
	t, forget := q.of(company)
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

// takeNow takes the company's turn if it need not wait.
func (q *queue) takeNow(company string) (leave func(), ok bool) {
	t, forget := q.of(company)
	select {
	case t.free <- struct{}{}:
	default:
		forget()
		return nil, false
	}
	select {
	case q.all <- struct{}{}:
	default:
		<-t.free
		forget()
		return nil, false
	}
	return func() {
		<-q.all
		<-t.free
		forget()
	}, true
}

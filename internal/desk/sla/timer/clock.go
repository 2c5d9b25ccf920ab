package timer

import (
	"context"
	"errors"
	"time"

	"atrium/internal/desk/sla"
)

// Rows are the rows of one kind that have clocks, in one transaction.
type Rows[R any] interface {
	// ID returns the row's id, under which its lines are kept.
	ID(r *R) string
	// Derive returns the row's clock.
	Derive(ctx context.Context, r *R) (sla.Clock, error)
	// Fire does what has fallen due, and returns the row as it is afterwards.
	Fire(ctx context.Context, r *R, f sla.Firing) (*R, error)
	// Changes reports whether the row's columns hold other values than the clock.
	Changes(ctx context.Context, r *R, c sla.Clock) (bool, error)
	// Save writes the clock into the row's columns, if they hold other values, and returns the row as it is afterwards.
	Save(ctx context.Context, r *R, c sla.Clock) (*R, error)
}

// errTurnOver is returned by Advance when the log's turn was over before everything had fired. What has fired may commit; the columns
// are as they were.
var errTurnOver = errors.New("the turn was over before the clock was brought up to its moment")

// Advance brings a row's clock up to the log's moment, in the transaction that has locked the row. It fires each warning, breach
// and escalation that has fallen due, exactly once, and derives the columns anew. Returns the row as it is afterwards.
func Advance[R any](ctx context.Context, l *Log, rows Rows[R], r *R) (*R, error) {
	for {
		c, err := rows.Derive(ctx, r)
		if err != nil {
			return nil, err
		}
		if len(c.Firings) == 0 {
			if r, err = rows.Save(ctx, r, c); err != nil {
				return nil, err
			}
			return r, Wake(ctx, l.Tx, c.NextAt, l.Now)
		}
		// Fire one at a time: an escalation changes the row, and so what falls due next.
		if err = l.note(ctx, rows.ID(r), c.Firings[0]); err != nil {
			return nil, err
		}
		if r, err = rows.Fire(ctx, r, c.Firings[0]); err != nil {
			return nil, err
		}
		if l.over() {
			return r, errTurnOver
		}
	}
}

// columns are those in which a mutation of a request or a task stores a clock.
type columns[State ~string] interface {
	SetResponseDueAt(t time.Time)
	ClearResponseDueAt()
	SetResolutionDueAt(t time.Time)
	ClearResolutionDueAt()
	SetSLANextAt(t time.Time)
	ClearSLANextAt()
	SetSLAState(s State)
	ClearSLAState()
}

// Put sets a clock's values in a mutation.
func Put[State ~string](m columns[State], c sla.Clock) {
	setOrClear(c.ResponseDueAt, m.SetResponseDueAt, m.ClearResponseDueAt)
	setOrClear(c.ResolutionDueAt, m.SetResolutionDueAt, m.ClearResolutionDueAt)
	setOrClear(c.NextAt, m.SetSLANextAt, m.ClearSLANextAt)
	if c.State == sla.None {
		m.ClearSLAState()
	} else {
		m.SetSLAState(State(c.State))
	}
}

func setOrClear(t *time.Time, set func(time.Time), unset func()) {
	if t == nil {
		unset()
	} else {
		set(Stored(*t))
	}
}

// Stored returns a moment as the database stores it: in UTC, in whole milliseconds, rounded up so that it never lies before
// t.
func Stored(t time.Time) time.Time {
	cut := t.UTC().Truncate(time.Millisecond)
	if cut.Before(t) {
		cut = cut.Add(time.Millisecond)
	}
	return cut
}

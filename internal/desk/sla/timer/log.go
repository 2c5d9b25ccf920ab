package timer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"atrium/ent"
	"atrium/ent/slaevent"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// Worker is the name in audit entries under which clocks act.
const Worker = "service levels"

// Log reads and writes the lines of clocks in one transaction. It acts as the product's own worker, not as the caller.
type Log struct {
	Tx    *op.Tx
	Now   time.Time
	lines map[string][]*ent.SLAEvent // by subject
	ends  time.Time                  // of the transaction's turn; zero for none
}

// turn is the time for which a transaction of the product's own writes what falls due. On SQLite others wait for it.
const turn = 2 * time.Millisecond

// inTurn makes Advance stop when the turn is over that begins now.
func (l *Log) inTurn() { l.ends = time.Now().Add(turn) }

// over reports whether the turn is over.
func (l *Log) over() bool { return !l.ends.IsZero() && time.Now().After(l.ends) }

// LogOf returns the log of a transaction, with the context in which the worker sees all rows of the company.
func LogOf(ctx context.Context, tx *op.Tx, now time.Time) (context.Context, *Log) {
	w := tx.AsWorker(Worker)
	return principal.With(ctx, w.Principal()), &Log{Tx: w, Now: now, lines: map[string][]*ent.SLAEvent{}}
}

// Read reads the lines of many subjects at once.
func (l *Log) Read(ctx context.Context, ids ...string) error {
	lines, err := l.Tx.SLAEvent.Query().Where(slaevent.SubjectIDIn(ids...)).All(ctx)
	if err != nil {
		return fmt.Errorf("read the logs of clocks: %w", err)
	}
	for _, id := range ids {
		l.lines[id] = nil
	}
	for _, e := range lines {
		l.lines[e.SubjectID] = append(l.lines[e.SubjectID], e)
	}
	return nil
}

// Events returns the lines of a subject. It reads them if Read has not.
func (l *Log) Events(ctx context.Context, id string) ([]sla.Event, error) {
	if _, ok := l.lines[id]; !ok {
		if err := l.Read(ctx, id); err != nil {
			return nil, err
		}
	}
	out := make([]sla.Event, len(l.lines[id]))
	for i, e := range l.lines[id] {
		out[i] = sla.Event{Kind: sla.Kind(e.Kind), At: e.At, Key: e.Key}
	}
	return out, nil
}

// note adds the line of what has fallen due.
func (l *Log) note(ctx context.Context, id string, f sla.Firing) error {
	line, err := l.Tx.SLAEvent.Create().SetSubjectID(id).SetKind(slaevent.Kind(f.Kind)).SetKey(f.Key).SetAt(l.Now).Save(ctx)
	if err != nil {
		return fmt.Errorf("note what has fallen due: %w", err)
	}
	l.lines[id] = append(l.lines[id], line)
	return nil
}

// Pause adds the line that a request's clock pauses, or that it runs again.
func Pause(ctx context.Context, tx *op.Tx, id string, paused bool, now time.Time) error {
	kind := slaevent.KindRESUMED
	if paused {
		kind = slaevent.KindPAUSED
	}
	all := tx.Unfiltered(ctx, "the clock's log is the product's own")
	n, err := tx.SLAEvent.Query().Where(slaevent.SubjectID(id), slaevent.KindEQ(kind)).Count(all)
	if err != nil {
		return fmt.Errorf("count the request's pauses: %w", err)
	}
	if err := tx.SLAEvent.Create().SetSubjectID(id).SetKind(kind).SetKey(strconv.Itoa(n + 1)).SetAt(now).Exec(all); err != nil {
		return fmt.Errorf("note that the request waits: %w", err)
	}
	return nil
}

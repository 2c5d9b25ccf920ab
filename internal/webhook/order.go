package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
)

const (
	maxBehind     = slots / 8             // jobs of a node that keep their worker while they wait for an earlier event
	maxInLine     = 64                    // only the first so many of one resource and subscription do
	maxCounted    = 2 * maxInLine         // of a line
	maxMissed     = 8                     // events of a resource that are looked at for the last one that goes to the subscription
	maxStay       = 10 * time.Second      // how long they do
	minPause      = 10 * time.Millisecond // before a job looks again whether its turn has come, for each delivery ahead
	maxPause      = time.Second           // the longest such pause
	believedAlive = 24 * time.Hour        // a delivery that is due for longer without an attempt has lost its job, and holds up no other
)

// earlier is the delivery that must end its first attempt before another one begins its own.
type earlier struct {
	delivery string
	ahead    int                  // deliveries that wait for their first attempt, this one and those before it; maxCounted at most
	due      time.Duration        // for how long it has been due
	of       *ent.WebhookDelivery // the one that waits
}

// order lets events of one resource arrive at a receiver in the order of their numbers. Whether a delivery must wait is read from the
// rows (earlier), so a node that dies leaves nothing behind. order only knows which deliveries the node's own jobs have, so that the
// next one goes on at once.
type order struct {
	mu      sync.Mutex
	ours    map[string]chan struct{} // by delivery; closed when its job ends
	waiting int
}

func newOrder() *order { return &order{ours: map[string]chan struct{}{}} }

// begin notes that a job of this node has a delivery, until end is called.
func (o *order) begin(delivery string) (end func()) {
	done := make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ours[delivery] = done
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if close(done); o.ours[delivery] == done { // a replay may have given the delivery a second job
			delete(o.ours, delivery)
		}
	}
}

// await waits until the first attempt at the earlier delivery has ended, as look finds, which returns nil then. It looks when this node's
// job of that delivery ends; if no job of this node has it, again and again: the more are ahead and the longer none of them moved, the
// less often. It returns what the caller should snooze behind; nil when its turn has come.
func (o *order) await(ctx context.Context, e *earlier, look func(context.Context) (*earlier, error)) (*earlier, error) {
	if !o.enter(e) {
		return e, nil
	}
	defer o.leave()
	began := time.Now()
	for moved := began; time.Since(began) < maxStay; {
		done, pause := o.jobOf(e.delivery), maxPause
		if done == nil {
			pause = min(time.Duration(e.ahead)*minPause+time.Since(moved)/4, maxPause)
		}
		select {
		case <-done:
		case <-time.After(pause):
		case <-ctx.Done():
			return e, nil
		}
		now, err := look(ctx)
		if now == nil || err != nil {
			return nil, err
		}
		if now.ahead != e.ahead {
			moved = time.Now()
		}
		e = now
	}
	return e, nil
}

// jobOf returns the channel that is closed when this node's job of a delivery ends; nil if it has none.
func (o *order) jobOf(delivery string) chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ours[delivery]
}

// enter reports whether a job keeps its worker while it waits; then leave must be called.
func (o *order) enter(e *earlier) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e.ahead > maxInLine || o.waiting >= maxBehind {
		return false
	}
	o.waiting++
	return true
}

func (o *order) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting--
}

// snooze returns how long the job behind the earlier delivery snoozes: a second for each maxInLine ahead, and longer where that one has
// been due for long.
func (e *earlier) snooze() time.Duration {
	return min(max(time.Duration(e.ahead/maxInLine)*time.Second, e.due/10, minSnooze), maxSnooze)
}

// earlier returns what a delivery must wait for: the delivery of the event before it that is about the same resource and goes to the
// same subscription. It returns nil if there is none, or if the first attempt at it or at this one has ended.
func (d *Dispatcher) earlier(ctx context.Context, row *ent.WebhookDelivery) (*earlier, error) {
	if row.Edges.Source.Sequence <= 1 || !unattempted(row) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	last, err := d.Store.Reader().WebhookDelivery.Query().Where(before(row, maxMissed)).Limit(1).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the event before %s: %w", row.EventID, err)
	}
	if len(last) == 0 || !unattempted(last[0]) {
		return nil, nil
	}
	e := &earlier{delivery: last[0].ID, of: row, due: d.Store.Clock().Now().Sub(*last[0].NextAttemptAt)}
	if e.due > believedAlive {
		return nil, nil
	}
	line, err := d.Store.Reader().WebhookDelivery.Query().Where(before(row, maxCounted)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the events before %s: %w", row.EventID, err)
	}
	for _, l := range line {
		if unattempted(l) {
			e.ahead++
		}
	}
	e.ahead = max(e.ahead, 1) // that one may have ended meanwhile
	return e, nil
}

// before narrows a query to the deliveries of the last events before a delivery's, about the same resource and to the same
// subscription; the last one comes first. Both databases must find these few events first and then their deliveries, so the index of
// all deliveries of the subscription is kept out of it: with it SQLite made a quarter as many deliveries a second.
func before(row *ent.WebhookDelivery, events int) func(*sql.Selector) {
	e := row.Edges.Source
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		t := d.Table(event.Table)
		few := d.Select(t.C(event.FieldID)).From(t).Where(sql.And(
			sql.EQ(t.C(event.FieldCompanyID), e.CompanyID), sql.EQ(t.C(event.FieldSubjectID), e.SubjectID), sql.LT(t.C(event.FieldSequence), e.Sequence),
		)).OrderBy(sql.Desc(t.C(event.FieldSequence))).Limit(events)
		s.Where(sql.And(sql.In(s.C(webhookdelivery.FieldEventID), few), sql.P(func(b *sql.Builder) {
			b.WriteString(s.C(webhookdelivery.FieldSubscriptionID) + " || '' = ").Arg(row.SubscriptionID)
		})))
		s.OrderExpr(sql.Expr("(SELECT e.sequence FROM " + event.Table + " e WHERE e.company_id = " + s.C(webhookdelivery.FieldCompanyID) +
			" AND e.id = " + s.C(webhookdelivery.FieldEventID) + ") DESC"))
	}
}

// unattempted reports whether a delivery waits for the end of its first attempt. To be interrupted is no end.
func unattempted(d *ent.WebhookDelivery) bool {
	attempts, err := AttemptsOf(d)
	return err == nil && d.Outcome == webhookdelivery.OutcomePENDING && d.NextAttemptAt != nil && nextStep(attempts) == 1
}

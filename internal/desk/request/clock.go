package request

import (
	"context"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/ent/calendar"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/ent/schema"
	"atrium/ent/slaevent"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow"
)

const slaWorker = "service levels" // its name in audit entries

// agreement holds the service levels of an offering, ready to derive clocks from.
type agreement struct {
	levels   sla.Levels
	calendar *sla.Calendar // nil: all hours count
}

// levelsOf returns the service levels of an offering.
func levelsOf(o *ent.Offering) sla.Levels {
	return sla.Levels{
		Targets:       sla.Targets{ResponseMinutes: o.ResponseMinutes, ResolutionMinutes: o.ResolutionMinutes},
		WarnAtPercent: op.Or(o.WarnAtPercent, 0), CalendarID: op.Or(o.CalendarID, ""), ByPriority: o.SLAByPriority, Escalations: o.SLAEscalations,
	}
}

// agreementOf returns the service levels of an offering; nil when it has none. ctx must see all rows of the company.
func agreementOf(ctx context.Context, db *ent.Client, o *ent.Offering) (*agreement, error) {
	l := levelsOf(o)
	if l.ResponseMinutes == nil && l.ResolutionMinutes == nil && l.ByPriority == nil && len(l.Escalations) == 0 {
		return nil, nil // the offering has no service levels
	}
	cal, err := CalendarOf(ctx, db, l.CalendarID)
	return &agreement{levels: l, calendar: cal}, err
}

// calendars caches compiled calendars by id, with the updatedAt of the row that each was compiled from. A compiled calendar
// never changes, so all engines of the process share the cache.
var calendars, _ = lru.New[string, compiled](1024)

type compiled struct {
	at       time.Time
	calendar *sla.Calendar
}

// CalendarOf returns a compiled calendar of the company; nil for an empty id, and for a calendar that was deleted.
func CalendarOf(ctx context.Context, db *ent.Client, id string) (*sla.Calendar, error) {
	if id == "" {
		return nil, nil // all hours count
	}
	row, err := db.Calendar.Query().Where(calendar.ID(id)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // all hours count
	}
	if err != nil {
		return nil, fmt.Errorf("read the calendar: %w", err)
	}
	if cached, ok := calendars.Get(id); ok && cached.at.Equal(row.UpdatedAt) {
		return cached.calendar, nil
	}
	c, err := workflow.CompileCalendar(row)
	if err != nil {
		return nil, fmt.Errorf("read the calendar %s: %w", id, err)
	}
	calendars.Add(id, compiled{row.UpdatedAt, c})
	return c, nil
}

// clocks derives the clocks of requests in one transaction. It reads each offering and calendar once. It reads a request's
// log when it needs it, or the logs of many requests ahead by read.
type clocks struct {
	tx         *op.Tx
	now        time.Time
	agreements map[string]*agreement
	logs       map[string][]*ent.SLAEvent
}

// clocksOf returns the clocks of a transaction. They act as the product's own worker, not as the caller.
func clocksOf(ctx context.Context, tx *op.Tx, now time.Time) (context.Context, *clocks) {
	w := tx.AsWorker(slaWorker)
	return principal.With(ctx, w.Principal()), &clocks{tx: w, now: now, agreements: map[string]*agreement{}, logs: map[string][]*ent.SLAEvent{}}
}

// read reads the offerings and logs of many requests at once.
func (c *clocks) read(ctx context.Context, rows []*ent.Request) error {
	ids, offerings := make([]string, len(rows)), map[string]bool{}
	for i, r := range rows {
		ids[i] = r.ID
		offerings[r.OfferingID] = true
		c.logs[r.ID] = nil
	}
	log, err := c.tx.SLAEvent.Query().Where(slaevent.SubjectIDIn(ids...)).All(ctx)
	if err != nil {
		return fmt.Errorf("read the logs of clocks: %w", err)
	}
	for _, e := range log {
		c.logs[e.SubjectID] = append(c.logs[e.SubjectID], e)
	}
	for id := range offerings {
		if _, err := c.agreement(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (c *clocks) agreement(ctx context.Context, offeringID string) (*agreement, error) {
	if p, ok := c.agreements[offeringID]; ok {
		return p, nil
	}
	o, err := c.tx.Offering.Query().Where(offering.ID(offeringID)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the offering: %w", err)
	}
	p, err := agreementOf(ctx, c.tx.Client, o)
	c.agreements[offeringID] = p
	return p, err
}

// derive returns the clock of a request.
func (c *clocks) derive(ctx context.Context, r *ent.Request) (sla.Clock, error) {
	p, err := c.agreement(ctx, r.OfferingID)
	if err != nil {
		return sla.Clock{}, err
	}
	if p == nil {
		p = &agreement{}
	}
	rows, ok := c.logs[r.ID]
	if !ok {
		if rows, err = c.tx.SLAEvent.Query().Where(slaevent.SubjectID(r.ID)).All(ctx); err != nil {
			return sla.Clock{}, fmt.Errorf("read the log of the request's clock: %w", err)
		}
		c.logs[r.ID] = rows
	}
	return sla.Derive(p.levels, string(r.Priority), p.calendar, logOf(r, rows), c.now), nil
}

// logOf returns the log of a request's clock: the events that the request's columns record, and the lines of sla_events.
func logOf(r *ent.Request, rows []*ent.SLAEvent) []sla.Event {
	log := append(make([]sla.Event, 0, len(rows)+3), sla.Event{Kind: sla.Filed, At: r.CreatedAt})
	if r.AcceptedAt != nil {
		log = append(log, sla.Event{Kind: sla.Answered, At: *r.AcceptedAt, Due: r.ResponseDueAt})
	}
	for _, end := range []*time.Time{r.CompletedAt, r.CancelledAt} {
		if end != nil {
			log = append(log, sla.Event{Kind: sla.Ended, At: *end})
		}
	}
	for _, e := range rows {
		log = append(log, sla.Event{Kind: sla.Kind(e.Kind), At: e.At, Key: e.Key})
	}
	return log
}

// startClock sets the clock of a new request in its mutation.
func startClock(ctx context.Context, tx *op.Tx, off *ent.Offering, m *ent.RequestMutation, priority request.Priority) error {
	now := tx.Now(ctx)
	c, err := firstClock(ctx, tx, off, priority, now)
	if err != nil || c == nil {
		return err
	}
	m.SetCreatedAt(now)
	putClock(m, *c)
	return WakeFor(ctx, tx, c.NextAt, now)
}

// firstClock returns the clock of a request that is filed now; nil when the offering has no service levels.
func firstClock(ctx context.Context, tx *op.Tx, off *ent.Offering, priority request.Priority, now time.Time) (*sla.Clock, error) {
	p, err := agreementOf(tx.Unfiltered(ctx, "the calendar of an offering counts for everybody who files against it"), tx.Client, off)
	if err != nil || p == nil {
		return nil, err
	}
	c := sla.Derive(p.levels, string(priority), p.calendar, []sla.Event{{Kind: sla.Filed, At: now}}, now)
	return &c, nil
}

// settle brings a request's clock up to a moment, in the transaction that has locked the row. It fires each warning, breach
// and escalation that has fallen due, exactly once, and derives the columns anew. Returns the row as it is afterwards. A
// request that never had service levels costs nothing.
func settle(ctx context.Context, tx *op.Tx, r *ent.Request, now time.Time) (*ent.Request, error) {
	if r.SLAState == nil && r.SLANextAt == nil {
		return r, nil
	}
	ctx, c := clocksOf(ctx, tx, now)
	return c.settle(ctx, r)
}

func (c *clocks) settle(ctx context.Context, r *ent.Request) (*ent.Request, error) {
	for {
		clock, err := c.derive(ctx, r)
		if err != nil {
			return nil, err
		}
		if len(clock.Firings) == 0 {
			return c.write(ctx, r, clock)
		}
		// Fire one at a time: an escalation changes the request, and so what falls due next.
		if r, err = c.fire(ctx, r, clock.Firings[0]); err != nil {
			return nil, err
		}
	}
}

// write saves the clock's values in the row, if they differ from what it holds.
func (c *clocks) write(ctx context.Context, r *ent.Request, clock sla.Clock) (*ent.Request, error) {
	u := r.Update()
	putClock(u.Mutation(), clock)
	changes, err := op.Changes(ctx, u.Mutation())
	if err != nil {
		return nil, err
	}
	if changes {
		if r, err = u.Save(ctx); err != nil {
			return nil, fmt.Errorf("write the request's clock: %w", err)
		}
	}
	return r, WakeFor(ctx, c.tx, clock.NextAt, c.now)
}

// putClock sets the clock's values in a mutation.
func putClock(m *ent.RequestMutation, c sla.Clock) {
	m.SetResponseDueOrder(dueOrder(c.ResponseDueAt))
	m.SetResolutionDueOrder(dueOrder(c.ResolutionDueAt))
	SetOrClearMoment(c.ResponseDueAt, m.SetResponseDueAt, m.ClearResponseDueAt)
	SetOrClearMoment(c.ResolutionDueAt, m.SetResolutionDueAt, m.ClearResolutionDueAt)
	SetOrClearMoment(c.NextAt, m.SetSLANextAt, m.ClearSLANextAt)
	if c.State == sla.None {
		m.ClearSLAState()
	} else {
		m.SetSLAState(request.SLAState(c.State))
	}
}

// SetOrClearMoment sets a column to a moment, or clears it for nil.
func SetOrClearMoment(t *time.Time, set func(time.Time), unset func()) {
	if t == nil {
		unset()
		return
	}
	set(stored(*t))
}

// stored returns a moment as the database stores it: in UTC, in whole milliseconds, rounded up so that it never lies before
// t.
func stored(t time.Time) time.Time {
	cut := t.UTC().Truncate(time.Millisecond)
	if cut.Before(t) {
		cut = cut.Add(time.Millisecond)
	}
	return cut
}

// dueOrder returns the number by which lists order a due time.
func dueOrder(t *time.Time) int64 {
	if t == nil {
		return schema.DueNever
	}
	return stored(*t).UnixMilli()
}

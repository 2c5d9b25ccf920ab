package request

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/ent/schema"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/workflow"
)

// agreement holds the service levels of an offering, ready to derive clocks from.
type agreement struct {
	levels   sla.Levels
	calendar *sla.Calendar // nil: all hours count
}

// agreementOf returns the service levels of an offering; nil when it has none. ctx must see all rows of the company.
func agreementOf(ctx context.Context, db *ent.Client, o *ent.Offering) (*agreement, error) {
	l := timer.LevelsOf(o)
	if l.ResponseMinutes == nil && l.ResolutionMinutes == nil && l.ByPriority == nil && len(l.Escalations) == 0 {
		return nil, nil // the offering has no service levels
	}
	cal, err := workflow.CalendarOf(ctx, db, l.CalendarID)
	return &agreement{levels: l, calendar: cal}, err
}

// clocks are the clocks of requests in one transaction. They read each offering and calendar once.
type clocks struct {
	*timer.Log
	cause      events.Cause
	agreements map[string]*agreement
}

// clocksOf returns the clocks of a transaction. They act as the product's own worker, not as the caller.
func clocksOf(ctx context.Context, tx *op.Tx, now time.Time, cause events.Cause) (context.Context, *clocks) {
	if cause.MailAt.IsZero() {
		cause.MailAt = events.MailAt(ctx)
	}
	ctx, log := timer.LogOf(ctx, tx, now)
	return ctx, &clocks{Log: log, cause: cause, agreements: map[string]*agreement{}}
}

func (c *clocks) agreement(ctx context.Context, offeringID string) (*agreement, error) {
	if p, ok := c.agreements[offeringID]; ok {
		return p, nil
	}
	o, err := c.Tx.Offering.Query().Where(offering.ID(offeringID)).Select(timer.LevelColumns...).Only(ctx) // its form may be large
	if err != nil {
		return nil, fmt.Errorf("read the offering: %w", err)
	}
	p, err := agreementOf(ctx, c.Tx.Client, o)
	c.agreements[offeringID] = p
	return p, err
}

// ID returns the request's id.
func (c *clocks) ID(r *ent.Request) string { return r.ID }

// Derive returns the clock of a request.
func (c *clocks) Derive(ctx context.Context, r *ent.Request) (sla.Clock, error) {
	p, err := c.agreement(ctx, r.OfferingID)
	if err != nil {
		return sla.Clock{}, err
	}
	if p == nil {
		p = &agreement{}
	}
	lines, err := c.Events(ctx, r.ID)
	if err != nil {
		return sla.Clock{}, err
	}
	return sla.Derive(p.levels, string(r.Priority), p.calendar, append(lines, moments(r)...), c.Now), nil
}

// moments returns the part of a clock's log that the request's columns record.
func moments(r *ent.Request) []sla.Event {
	log := append(make([]sla.Event, 0, 3), sla.Event{Kind: sla.Filed, At: r.CreatedAt})
	if at := respondedAt(r); at != nil {
		log = append(log, sla.Event{Kind: sla.Answered, At: *at, Due: r.ResponseDueAt})
	}
	for _, end := range []*time.Time{r.CompletedAt, r.CancelledAt} {
		if end != nil {
			log = append(log, sla.Event{Kind: sla.Ended, At: *end})
		}
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
	return timer.Wake(ctx, tx, c.NextAt, now)
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

// advance brings a request's clock up to a moment, in the transaction that has locked the row. Returns the row as it is
// afterwards. A request that never had service levels costs nothing. cause is of the events that fire.
func advance(ctx context.Context, tx *op.Tx, r *ent.Request, now time.Time, cause events.Cause) (*ent.Request, error) {
	if r.SLAState == nil && r.SLANextAt == nil {
		return r, nil
	}
	ctx, c := clocksOf(ctx, tx, now, cause)
	return timer.Advance(ctx, c.Log, c, r)
}

// clockColumns are those that a request's clock is derived from and stored in.
var clockColumns = []string{
	request.FieldID, request.FieldCompanyID, request.FieldOfferingID, request.FieldPriority, request.FieldCreatedAt,
	request.FieldFirstResponseAt, request.FieldAcceptedAt, request.FieldCompletedAt, request.FieldCancelledAt, request.FieldSLAState, request.FieldSLANextAt,
	request.FieldResponseDueAt, request.FieldResolutionDueAt, request.FieldResponseDueOrder, request.FieldResolutionDueOrder,
}

// Changes reports whether the request's row holds another clock.
func (*clocks) Changes(ctx context.Context, r *ent.Request, clock sla.Clock) (bool, error) {
	m := r.Update().Mutation()
	putClock(m, clock)
	return op.Changes(ctx, m)
}

// Save writes the clock's values into the request's row.
func (c *clocks) Save(ctx context.Context, r *ent.Request, clock sla.Clock) (*ent.Request, error) {
	u := r.Update()
	putClock(u.Mutation(), clock)
	r, err := op.Save(ctx, c.Tx, r, u)
	if err != nil {
		return nil, fmt.Errorf("write the request's clock: %w", err)
	}
	return r, nil
}

// putClock sets the clock's values in a mutation.
func putClock(m *ent.RequestMutation, c sla.Clock) {
	timer.Put(m, c)
	m.SetResponseDueOrder(dueOrder(c.ResponseDueAt))
	m.SetResolutionDueOrder(dueOrder(c.ResolutionDueAt))
}

// dueOrder returns the number by which lists order a due time.
func dueOrder(t *time.Time) int64 {
	if t == nil {
		return schema.DueNever
	}
	return timer.Stored(*t).UnixMilli()
}

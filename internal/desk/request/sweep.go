package request

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
)

const (
	clockBatch = 8   // requests of one company that one transaction locks to advance their clocks
	readBatch  = 100 // requests whose clocks are derived at a time outside of transactions
)

// Clocks makes a job queue run the clocks of requests, and those of the further kinds of rows, send the notices of clocks, and file the
// requests that follow others.
func Clocks(e *op.Engine, further ...timer.Kind) jobs.Option {
	requests := timer.Kind{Name: "requests", Batch: clockBatch, Due: due, Advance: advanceDue, Rederive: rederive}
	return jobs.All(timer.Work(e, append([]timer.Kind{requests}, further...)...), jobs.Work(&noticer{engine: e}), jobs.Work(&follower{engine: e}))
}

func due(db *ent.Client, match func(*sql.Selector), limit int) timer.Selection {
	return db.Request.Query().Where(match).Order(request.BySLANextAt(), request.ByID()).Limit(limit).
		Select(request.FieldID, request.FieldCompanyID, request.FieldSLANextAt)
}

func advanceDue(ctx context.Context, tx *op.Tx, ids []string, now time.Time) (rest []string, err error) {
	return advanceAll(ctx, tx, ids, request.SLANextAtLTE(now), now, events.Cause{})
}

// advanceAll locks the requests of these ids that match, and advances their clocks for one turn. It reads their logs at once.
func advanceAll(ctx context.Context, tx *op.Tx, ids []string, match predicate.Request, now time.Time, cause events.Cause) (rest []string, err error) {
	rows, err := op.Lock(tx, tx.Request.Query().Where(request.IDIn(ids...), match).Order(request.ByID())).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the requests: %w", err)
	}
	ctx, c := clocksOf(ctx, tx, now, cause)
	if err := c.Read(ctx, ids...); err != nil {
		return nil, err
	}
	return timer.AdvanceAll(ctx, c.Log, c, rows)
}

// rederive advances the clocks of the open requests of an offering or a calendar that the change has moved.
func rederive(ctx context.Context, e *op.Engine, change timer.RederiveArgs) error {
	tx := e.Outside(principal.Worker(change.Company, timer.Worker))
	match := request.OfferingID(change.Offering)
	if change.Offering == "" {
		match = countsBy(change.Calendar)
	}
	for last := ""; ; {
		now := e.Store.Clock().Now()
		reading, c := clocksOf(ctx, tx, now, events.Cause{})
		rows, err := tx.Request.Query().Where(lifecycle.OpenRequests(), request.IDGT(last), match).Order(request.ByID()).Limit(readBatch).
			Select(clockColumns...).All(reading)
		if err != nil {
			return fmt.Errorf("read the requests: %w", err)
		}
		ids := make([]string, len(rows))
		for i, r := range rows {
			ids[i] = r.ID
		}
		if err := c.Read(reading, ids...); err != nil {
			return err
		}
		err = e.Costly(reading, change.Company, func(ctx context.Context) error {
			ids, err = timer.Behind(ctx, c, rows)
			return err
		})
		if err != nil {
			return err
		}
		err = timer.InTurns(ctx, e, change.Company, ids, clockBatch, func(ctx context.Context, tx *op.Tx, ids []string) ([]string, error) {
			return advanceAll(ctx, tx, ids, lifecycle.OpenRequests(), now, events.Cause{MailAt: change.MailAt})
		})
		if err != nil || len(rows) < readBatch {
			return err
		}
		last = rows[len(rows)-1].ID
	}
}

// countsBy matches the requests whose offering uses a calendar.
func countsBy(calendarID string) predicate.Request {
	return func(s *sql.Selector) {
		o := sql.Dialect(s.Dialect()).Table(offering.Table)
		s.Where(sql.In(s.C(request.FieldOfferingID), sql.Dialect(s.Dialect()).Select(o.C(offering.FieldID)).From(o).
			Where(sql.And(sql.ColumnsEQ(o.C(offering.FieldCompanyID), s.C(request.FieldCompanyID)), sql.EQ(o.C(offering.FieldCalendarID), calendarID)))))
	}
}

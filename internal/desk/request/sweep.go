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
)

const clockBatch = 50 // requests of one company whose clocks one transaction advances

// Clocks makes a job queue run the clocks of requests, and those of the further kinds of rows, and send the notices of clocks.
func Clocks(e *op.Engine, further ...timer.Kind) jobs.Option {
	requests := timer.Kind{Name: "requests", Batch: clockBatch, Due: due, Advance: advanceDue, Rederive: rederive}
	return jobs.All(timer.Work(e, append([]timer.Kind{requests}, further...)...), jobs.Work(&noticer{engine: e}))
}

func due(db *ent.Client, match func(*sql.Selector), limit int) timer.Selection {
	return db.Request.Query().Where(match).Order(request.BySLANextAt(), request.ByID()).Limit(limit).
		Select(request.FieldID, request.FieldCompanyID, request.FieldSLANextAt)
}

func advanceDue(ctx context.Context, tx *op.Tx, ids []string, now time.Time) error {
	rows, err := op.Lock(tx, tx.Request.Query().Where(request.IDIn(ids...), request.SLANextAtLTE(now)).Order(request.ByID())).All(ctx)
	if err != nil {
		return fmt.Errorf("read the requests: %w", err)
	}
	return advanceAll(ctx, tx, rows, now, events.Cause{})
}

// advanceAll advances the clocks of requests that the transaction has locked. It reads their logs at once.
func advanceAll(ctx context.Context, tx *op.Tx, rows []*ent.Request, now time.Time, cause events.Cause) error {
	ctx, c := clocksOf(ctx, tx, now, cause)
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	if err := c.Read(ctx, ids...); err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := timer.Advance(ctx, c.Log, c, r); err != nil {
			return err
		}
	}
	return nil
}

// rederive advances the clocks of the open requests of an offering or a calendar, one batch in each transaction.
func rederive(ctx context.Context, e *op.Engine, change timer.RederiveArgs) error {
	for last := ""; ; {
		var rows []*ent.Request
		err := e.Work(ctx, change.Company, timer.Worker, func(ctx context.Context, tx *op.Tx) (err error) {
			q := tx.Request.Query().Where(lifecycle.OpenRequests(), request.IDGT(last))
			if change.Offering != "" {
				q.Where(request.OfferingID(change.Offering))
			} else {
				q.Where(countsBy(change.Calendar))
			}
			if rows, err = op.Lock(tx, q.Order(request.ByID()).Limit(clockBatch)).All(ctx); err != nil {
				return fmt.Errorf("read the requests: %w", err)
			}
			return advanceAll(ctx, tx, rows, tx.Now(ctx), events.Cause{MailAt: change.MailAt})
		})
		if err != nil || len(rows) < clockBatch {
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

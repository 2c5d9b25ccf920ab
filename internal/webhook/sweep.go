package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/id"
	"atrium/internal/jobs"
	"atrium/internal/principal"
	"atrium/internal/store"
)

const sweepEvery = time.Hour

// SweepArgs is the job that deletes the history beyond 30 days: deliveries that were settled so long ago, and then events
// that no delivery is left of. What happened stays in the audit log; an event is kept so that it can be sent again.
//
// On PostgreSQL the history goes a week at a time, when all of the week is old (see weeks). What is deleted one by one is
// what has been left behind: in weeks of which something is still pending or was replayed, in the default partition, and
// events.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "webhook_sweep" }

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	store *store.Store
	weeks weeks
}

// Work deletes what is old, a batch at a time, and sees to the weeks to come before that.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[SweepArgs]) error {
	ctx = principal.System(ctx, "the history of all companies is swept together")
	before := s.store.Clock().Now().Add(-keptFor)
	weeks := s.weeks.tend(ctx, time.Now(), before) // rows can be deleted whatever became of it
	if err := errors.Join(weeks, s.deliveries(ctx, before), s.events(ctx, before)); err != nil {
		return fmt.Errorf("sweep the history of webhooks: %w", err)
	}
	return nil
}

// made narrows a query to rows that are deleted one by one, by their ids. On PostgreSQL those of the week in which what is
// kept begins wait for its end, and are dropped with it; what is younger by the machine's time is old only by a development
// clock that runs ahead.
func (s *sweeper) made(prefix, column string) func(*sql.Selector) {
	return func(q *sql.Selector) {
		if s.store.Dialect() != dialect.Postgres {
			return
		}
		kept := time.Now().Add(-keptFor)
		one := sql.LT(q.C(column), id.From(prefix, monday(kept)))
		if s.store.Clock().Offset() > 0 {
			one = sql.Or(one, sql.GTE(q.C(column), id.From(prefix, kept)))
		}
		q.Where(one)
	}
}

// deliveries deletes those that were settled before a moment.
func (s *sweeper) deliveries(ctx context.Context, before time.Time) error {
	return jobs.InBatches(ctx, s.store, func(ctx context.Context, db *ent.Client) (int, error) { return s.oldDeliveries(ctx, db, before) })
}

// oldDeliveries deletes a batch and returns how many there were.
func (s *sweeper) oldDeliveries(ctx context.Context, db *ent.Client, before time.Time) (int, error) {
	ids, err := db.WebhookDelivery.Query().
		Where(webhookdelivery.UpdatedAtLT(before), webhookdelivery.OutcomeNEQ(webhookdelivery.OutcomePENDING), s.made("whd", webhookdelivery.FieldID)).
		Order(webhookdelivery.ByUpdatedAt(), webhookdelivery.ByID()).Limit(jobs.SweepBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.WebhookDelivery.Delete().Where(webhookdelivery.IDIn(ids...)).Exec(ctx)
}

// events deletes those that happened before a moment and have no deliveries any more.
func (s *sweeper) events(ctx context.Context, before time.Time) error {
	companies, err := s.store.Reader().Company.Query().Order(company.ByID()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("sweep events: %w", err)
	}
	for _, of := range companies { // whose index finds the old ones
		err := jobs.InBatches(ctx, s.store, func(ctx context.Context, db *ent.Client) (int, error) { return s.oldEvents(ctx, db, of, before) })
		if err != nil {
			return err
		}
	}
	return nil
}

// oldEvents deletes a batch of a company's and returns how many there were.
func (s *sweeper) oldEvents(ctx context.Context, db *ent.Client, of string, before time.Time) (int, error) {
	ids, err := db.Event.Query().Where(event.CompanyID(of), event.CreatedAtLT(before), s.made("evt", event.FieldID), undelivered).
		Order(event.ByCreatedAt(), event.ByID()).Limit(jobs.SweepBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.Event.Delete().Where(event.IDIn(ids...)).Exec(ctx)
}

// undelivered narrows a query to events without deliveries.
func undelivered(s *sql.Selector) {
	d := sql.Dialect(s.Dialect()).Table(webhookdelivery.Table)
	s.Where(sql.NotExists(sql.Dialect(s.Dialect()).SelectExpr(sql.Raw("1")).From(d).Where(sql.And(
		sql.ColumnsEQ(d.C(webhookdelivery.FieldCompanyID), s.C(event.FieldCompanyID)), sql.ColumnsEQ(d.C(webhookdelivery.FieldEventID), s.C(event.FieldID))))))
}

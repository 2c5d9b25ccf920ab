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
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const sweepEvery = time.Hour

// SweepArgs is the job that deletes the history older than 30 days: deliveries that were settled before that, and then events
// that have no deliveries left. The audit log keeps what happened; an event is kept only so that it can be sent again.
//
// On PostgreSQL the history is dropped a week at a time, once the whole week is old (see partitions). Rows are deleted one by one
// where they were left behind: in weeks of which something was pending or replayed, in the default partition, and events.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "webhook_sweep" }

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	store *store.Store
	weeks partitions
}

// Work makes the partitions of the coming weeks and drops old ones. Then it deletes old rows, a batch at a time.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[SweepArgs]) error {
	ctx = principal.System(ctx, "the history of all companies is swept together")
	before := s.store.Clock().Now().Add(-keptFor)
	weeks := s.weeks.maintain(ctx, time.Now(), before) // its error does not stop the deletion of rows
	if err := errors.Join(weeks, s.deliveries(ctx, before), s.events(ctx, before)); err != nil {
		return fmt.Errorf("sweep the history of webhooks: %w", err)
	}
	return nil
}

// made narrows a query to rows that are deleted one by one, by the time in their ids. On PostgreSQL it leaves out the rows of the
// week that contains the moment 30 days ago: they are dropped with their partition once that week is over. A row that is younger
// by the machine's clock is old only by a development clock that runs ahead, and is deleted one by one.
func (s *sweeper) made(prefix, column string) func(*sql.Selector) {
	return func(q *sql.Selector) {
		if s.store.Dialect() != dialect.Postgres {
			return
		}
		kept := time.Now().Add(-keptFor)
		one := sql.LT(q.C(column), id.From(prefix, period.Monday(kept)))
		if s.store.Clock().Offset() > 0 {
			one = sql.Or(one, sql.GTE(q.C(column), id.From(prefix, kept)))
		}
		q.Where(one)
	}
}

// deliveries deletes the deliveries that were settled before a moment.
func (s *sweeper) deliveries(ctx context.Context, before time.Time) error {
	return jobs.InBatches(ctx, s.store, func(ctx context.Context, db *ent.Client) (int, error) { return s.oldDeliveries(ctx, db, before) })
}

// oldDeliveries deletes a batch and returns its size.
func (s *sweeper) oldDeliveries(ctx context.Context, db *ent.Client, before time.Time) (int, error) {
	ids, err := db.WebhookDelivery.Query().
		Where(webhookdelivery.UpdatedAtLT(before), webhookdelivery.OutcomeNEQ(webhookdelivery.OutcomePENDING), s.made("whd", webhookdelivery.FieldID)).
		Order(webhookdelivery.ByUpdatedAt(), webhookdelivery.ByID()).Limit(jobs.SweepBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.WebhookDelivery.Delete().Where(webhookdelivery.IDIn(ids...)).Exec(ctx)
}

// events deletes the events that happened before a moment and have no deliveries left.
func (s *sweeper) events(ctx context.Context, before time.Time) error {
	companies, err := s.store.Reader().Company.Query().Order(company.ByID()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("sweep events: %w", err)
	}
	for _, of := range companies { // the index that finds old events begins with the company
		err := jobs.InBatches(ctx, s.store, func(ctx context.Context, db *ent.Client) (int, error) { return s.oldEvents(ctx, db, of, before) })
		if err != nil {
			return err
		}
	}
	return nil
}

// oldEvents deletes a batch of a company's events and returns its size.
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

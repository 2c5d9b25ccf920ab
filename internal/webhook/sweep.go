package webhook

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent/company"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/principal"
	"atrium/internal/store"
)

const (
	sweepEvery = time.Hour
	sweepBatch = 1000 // rows a transaction, so that no sweep holds the writer for long
)

// SweepArgs is the job that deletes the history beyond 30 days: deliveries that were settled so long ago, and then events
// that no delivery is left of. What happened stays in the audit log; an event is kept so that it can be sent again.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "webhook_sweep" }

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	store *store.Store
}

// Work deletes what is old, a batch at a time.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[SweepArgs]) error {
	ctx = principal.System(ctx, "the history of all companies is swept together")
	before := s.store.Clock().Now().Add(-keptFor)
	err := s.inBatches(ctx, func(ctx context.Context, tx *store.Tx) (int, error) {
		ids, err := tx.WebhookDelivery.Query().Where(webhookdelivery.UpdatedAtLT(before), webhookdelivery.OutcomeNEQ(webhookdelivery.OutcomePENDING)).
			Order(webhookdelivery.ByUpdatedAt(), webhookdelivery.ByID()).Limit(sweepBatch).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return 0, err //nolint:wrapcheck // wrapped below
		}
		return tx.WebhookDelivery.Delete().Where(webhookdelivery.IDIn(ids...)).Exec(ctx) //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return fmt.Errorf("sweep deliveries: %w", err)
	}
	companies, err := s.store.Reader().Company.Query().Order(company.ByID()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("sweep events: %w", err)
	}
	for _, id := range companies { // whose index finds the old ones
		err := s.inBatches(ctx, func(ctx context.Context, tx *store.Tx) (int, error) { return sweepEvents(ctx, tx, id, before) })
		if err != nil {
			return fmt.Errorf("sweep events: %w", err)
		}
	}
	return nil
}

// Timeout is generous: the first sweep of a history that has grown for long deletes much.
func (*sweeper) Timeout(*river.Job[SweepArgs]) time.Duration { return time.Minute }

func sweepEvents(ctx context.Context, tx *store.Tx, companyID string, before time.Time) (int, error) {
	ids, err := tx.Event.Query().Where(event.CompanyID(companyID), event.CreatedAtLT(before), func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect()).Table(webhookdelivery.Table)
		s.Where(sql.NotExists(sql.Dialect(s.Dialect()).SelectExpr(sql.Raw("1")).From(d).Where(sql.And(
			sql.ColumnsEQ(d.C(webhookdelivery.FieldCompanyID), s.C(event.FieldCompanyID)), sql.ColumnsEQ(d.C(webhookdelivery.FieldEventID), s.C(event.FieldID))))))
	}).Order(event.ByCreatedAt()).Limit(sweepBatch).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err //nolint:wrapcheck // wrapped by Work
	}
	return tx.Event.Delete().Where(event.IDIn(ids...)).Exec(ctx) //nolint:wrapcheck // wrapped by Work
}

// inBatches deletes until a batch is not full.
func (s *sweeper) inBatches(ctx context.Context, del func(context.Context, *store.Tx) (int, error)) error {
	for {
		n := 0
		err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			n, err = del(ctx, tx)
			return err
		})
		if err != nil || n < sweepBatch {
			return err //nolint:wrapcheck // wrapped by Work
		}
	}
}

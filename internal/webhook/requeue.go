package webhook

import (
	"context"
	"fmt"
	"time"

	"atrium/ent/webhookdelivery"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/store"
)

const requeuedAtOnce = 500

// Requeue inserts the jobs of a company's pending deliveries after an import, which moves no jobs. Each delivery continues in its
// schedule.
func Requeue(ctx context.Context, tx *store.Tx, queue *jobs.Queue, companyID string) error {
	for after := ""; ; {
		rows, err := tx.WebhookDelivery.Query().Where(webhookdelivery.CompanyID(companyID), webhookdelivery.IDGT(after),
			webhookdelivery.OutcomeEQ(webhookdelivery.OutcomePENDING)).Order(webhookdelivery.ByID()).Limit(requeuedAtOnce).All(ctx)
		if err != nil {
			return fmt.Errorf("look for pending deliveries: %w", err)
		}
		list := make([]jobs.Job, len(rows))
		for i, row := range rows {
			after = row.ID
			attempts, err := AttemptsOf(row)
			if err != nil {
				return err
			}
			args := first(row, len(attempts))
			args.Step = nextStep(attempts)
			list[i] = jobs.Job{Args: args, At: op.Or(row.NextAttemptAt, time.Time{})}
		}
		if err := queue.InsertManyTx(ctx, tx, list...); err != nil || len(rows) < requeuedAtOnce {
			return err
		}
	}
}

package execution

import (
	"context"
	"fmt"
	"time"

	"atrium/ent/execution"
	"atrium/internal/clock"
	"atrium/internal/jobs"
	"atrium/internal/open"
	"atrium/internal/store"
	"atrium/internal/workflow/engine"
)

const requeuedAtOnce = 500

// Requeue inserts the jobs by which a company's executions continue, when its rows were moved without jobs. A superfluous job
// finds nothing to do.
func Requeue(ctx context.Context, tx *store.Tx, queue *jobs.Queue, companyID string) error {
	now := clock.From(ctx).Now()
	for after := ""; ; {
		rows, err := tx.Execution.Query().Where(execution.CompanyID(companyID), execution.IDGT(after),
			open.Executions()).Order(execution.ByID()).Limit(requeuedAtOnce).All(ctx)
		if err != nil {
			return fmt.Errorf("look for executions: %w", err)
		}
		var list []jobs.Job
		for _, row := range rows {
			after = row.ID
			state, err := readState(row.State)
			if err != nil {
				return err
			}
			step := StepArgs{Company: companyID, Execution: row.ID, bulk: true}
			list = append(list, jobs.Job{Args: step})
			w := state.Wait
			if w == nil || w.Until == nil && w.For != engine.ForCall {
				continue
			}
			var at time.Time
			if w.Until != nil {
				at = jobs.At(*w.Until, now)
			}
			if w.For == engine.ForCall {
				list = append(list, jobs.Job{Args: CallArgs{Company: companyID, Execution: row.ID, Visit: state.Visit.Number, Attempt: w.Attempt}, At: at})
				continue
			}
			list = append(list, jobs.Job{Args: step, At: at})
		}
		if err := queue.InsertManyTx(ctx, tx, list...); err != nil || len(rows) < requeuedAtOnce {
			return err
		}
	}
}

package erasure

import (
	"context"
	"fmt"

	"atrium/ent/user"
	"atrium/internal/jobs"
	"atrium/internal/store"
)

// Requeue queues the erasure of every erased person of a company that was moved here. Jobs do not move, and a company may have been
// exported before an erasure had ended. Erasing a person again changes nothing.
func Requeue(ctx context.Context, tx *store.Tx, queue *jobs.Queue, companyID string) error {
	ids, err := tx.User.Query().Where(user.CompanyID(companyID), user.StatusEQ(user.StatusErased)).Order(user.ByID()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look for erased people: %w", err)
	}
	list := make([]jobs.Job, len(ids))
	for i, id := range ids {
		list[i] = jobs.Job{Args: Args{Company: companyID, User: id}}
	}
	if err := queue.InsertManyTx(ctx, tx, list...); err != nil {
		return fmt.Errorf("queue erasures: %w", err)
	}
	return nil
}

package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent/idempotencykey"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/store"
)

const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 1000 // rows a transaction, so that no sweep holds the writer for long
)

// SweepArgs is the job that deletes what is kept for a time only: answers under idempotency keys.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "sweep" }

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	store *store.Store
}

// Work deletes expired rows, a batch at a time.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[SweepArgs]) error {
	ctx = principal.System(ctx, "expired rows of all companies are swept together")
	before := s.store.Clock().Now().Add(-op.IdempotencyWindow)
	for {
		n := 0
		err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			ids, err := tx.IdempotencyKey.Query().Where(idempotencykey.CreatedAtLT(before)).Limit(sweepBatch).IDs(ctx)
			if err != nil || len(ids) == 0 {
				return err
			}
			n, err = tx.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...)).Exec(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("sweep idempotency keys: %w", err)
		}
		if n < sweepBatch {
			return nil
		}
	}
}

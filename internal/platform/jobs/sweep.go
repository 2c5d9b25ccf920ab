package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const sweepEvery = 10 * time.Minute

// SweepBatch is the greatest number of rows that one transaction of a sweep deletes, so that none holds the writer for long.
const SweepBatch = 1000

// Sweep deletes expired rows of all companies.
type Sweep struct {
	Rows string        // what the rows are, for error messages
	Kept time.Duration // how long rows are kept after they have expired
	// Delete deletes up to limit rows that expired before the given time, and returns how many it deleted.
	Delete func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error)
}

// Sweeps makes the queue sweep these rows when it starts and every ten minutes, once for all nodes.
func Sweeps(list ...Sweep) Option {
	return func(k *kinds) { k.sweeps = append(k.sweeps, list...) }
}

// SweepArgs are the arguments of the sweep job, which has none.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "sweep" }

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	store  *store.Store
	sweeps []Sweep
}

// Work runs all sweeps in batches. A sweep that fails does not stop the others.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[SweepArgs]) error {
	now := s.store.Clock().Now()
	var errs []error
	for _, one := range s.sweeps {
		err := InBatches(ctx, s.store, func(ctx context.Context, db *ent.Client) (int, error) {
			return one.Delete(ctx, db, now.Add(-one.Kept), SweepBatch)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep %s: %w", one.Rows, err))
		}
	}
	return errors.Join(errs...)
}

// InBatches deletes rows of all companies, at most SweepBatch in each transaction, until a batch is not full.
func InBatches(ctx context.Context, s *store.Store, del func(context.Context, *ent.Client) (int, error)) error {
	ctx = principal.System(ctx, "expired rows of all companies are swept together")
	for n := SweepBatch; n == SweepBatch; {
		err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			n, err = del(ctx, tx.Client)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

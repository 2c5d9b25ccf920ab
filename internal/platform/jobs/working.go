package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	keepEvery = 15 * time.Second
	keepAfter = 40 * time.Second // with keepEvery well below rescueAfter, so that one failure to keep a job does no harm
)

// working are the jobs that this node works. River's rescuer judges by when an attempt began: it would begin a second one beside a
// worker that goes on after the end of its context. So the node makes its long jobs count as just begun. Those of a node that dies are
// the reaper's.
type working struct {
	river.MiddlewareDefaults
	mu   sync.Mutex
	jobs map[int64]time.Time // when each was begun, or kept last
}

func newWorking() *working { return &working{jobs: map[int64]time.Time{}} }

// Work notes the job while it is worked. River calls it as middleware around the worker.
func (w *working) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	w.mu.Lock()
	w.jobs[job.ID] = time.Now()
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.jobs, job.ID)
	}()
	return work(ctx)
}

// since returns the jobs that were begun, or kept last, before a moment.
func (w *working) since(moment time.Time) (ids []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, at := range w.jobs {
		if at.Before(moment) {
			ids = append(ids, id)
		}
	}
	return ids
}

// keepWorking keeps this node's long jobs until ctx ends.
func (q *Queue) keepWorking(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if err := q.keep(ctx, now.Add(-keepAfter)); err != nil && ctx.Err() == nil {
				q.log.WarnContext(ctx, "jobs that run for long could not be kept from a second attempt", "error", err)
			}
		}
	}
}

// keep makes the jobs that this node has worked since before a moment count as just begun.
func (q *Queue) keep(ctx context.Context, moment time.Time) error {
	ids := q.working.since(moment)
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(principal.System(ctx, "jobs belong to the installation"), lookTimeout)
	defer cancel()
	err := q.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		for _, id := range ids {
			if tx.Dialect() == dialect.Postgres {
				_, err = tx.PGX().Exec(ctx, fmt.Sprintf(refresh, "now()", "$1"), id)
			} else {
				_, err = tx.SQL().ExecContext(ctx, fmt.Sprintf(refresh, "datetime('now', 'subsec')", "?"), id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep jobs: %w", err)
	}
	now := time.Now()
	for _, id := range ids {
		q.working.keep(id, now)
	}
	return nil
}

// keep notes that a job was kept, unless it has ended meanwhile.
func (w *working) keep(id int64, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.jobs[id]; ok {
		w.jobs[id] = at
	}
}

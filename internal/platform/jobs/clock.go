package jobs

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Advance moves the queue's times, for development clocks, when tx moves the product's clock forward by a duration: waiting jobs come
// due that much earlier, and each periodic job is inserted once.
func (q *Queue) Advance(ctx context.Context, tx *store.Tx, by time.Duration) error {
	var err error
	if q.pg != nil {
		_, err = tx.PGX().Exec(ctx, advancePostgres, by.Seconds())
	} else {
		_, err = tx.SQL().ExecContext(ctx, advanceSQLite, fmt.Sprintf("-%.3f seconds", by.Seconds()))
	}
	if err != nil {
		return fmt.Errorf("move the jobs' times: %w", err)
	}
	if q.pg != nil {
		_, err = tx.PGX().Exec(ctx, releaseDue+"now()")
	} else {
		_, err = tx.SQL().ExecContext(ctx, releaseDue+"datetime('now', 'subsec')")
	}
	if err != nil {
		return fmt.Errorf("release the jobs that are due: %w", err)
	}
	tx.AfterCommit(func() { wakeAll(placeOf(q.store)) })
	for _, args := range q.periodic {
		if err := q.InsertTx(ctx, tx, args, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// Due returns how many jobs are due or running on all nodes. It returns 0 when neither this node nor any other works jobs. A job
// that has been running for longer than Timeout does not count: its process was killed, or its worker has a longer limit, and
// nobody waits for as long as that.
func (q *Queue) Due(ctx context.Context) (n int, err error) {
	ctx = principal.System(ctx, "jobs belong to the installation")
	due := countDue
	if !q.works {
		due += ifWorked
	}
	err = q.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if tx.Dialect() == dialect.Postgres {
			return tx.PGX().QueryRow(ctx, fmt.Sprintf(due, "now()", "now() - make_interval(secs => $1)"), Timeout.Seconds()).Scan(&n)
		}
		since := fmt.Sprintf("-%.0f seconds", Timeout.Seconds())
		return tx.SQL().QueryRowContext(ctx, fmt.Sprintf(due, "datetime('now', 'subsec')", "datetime('now', ?, 'subsec')"), since).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("look for due jobs: %w", err)
	}
	return n, nil
}

package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/platform/store"
)

// Oldest returns the kind of the job that has been due for longest and does not run, and how long that is; "" when no job is due.
// Without a node that works jobs, nothing makes scheduled jobs and those to try again available, so they count as well. Jobs of the
// given queues do not count.
func (q *Queue) Oldest(ctx context.Context, tx *store.Tx, but ...string) (kind string, waits time.Duration, err error) {
	params := river.NewJobListParams().States(rivertype.JobStateAvailable, rivertype.JobStateScheduled, rivertype.JobStateRetryable).
		OrderBy(river.JobListOrderByScheduledAt, river.SortOrderAsc).First(1)
	for i, queue := range but {
		name := fmt.Sprint("queue_", i)
		params = params.Where("queue <> @"+name, river.NamedArgs{name: queue})
	}
	var found *river.JobListResult
	if q.pg != nil {
		found, err = q.pg.JobListTx(ctx, tx.PGX(), params)
	} else {
		found, err = q.lite.JobListTx(ctx, tx.SQL(), params)
	}
	if err != nil {
		return "", 0, fmt.Errorf("look for jobs that wait: %w", err)
	}
	if len(found.Jobs) == 0 || found.Jobs[0].ScheduledAt.After(time.Now()) {
		return "", 0, nil
	}
	return found.Jobs[0].Kind, time.Since(found.Jobs[0].ScheduledAt), nil
}

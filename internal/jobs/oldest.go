package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/store"
)

// Oldest returns the kind of the available job that has been due for longest, and how long that is; "" when no job waits.
func (q *Queue) Oldest(ctx context.Context, tx *store.Tx) (kind string, waits time.Duration, err error) {
	params := river.NewJobListParams().States(rivertype.JobStateAvailable).OrderBy(river.JobListOrderByScheduledAt, river.SortOrderAsc).First(1)
	var found *river.JobListResult
	if q.pg != nil {
		found, err = q.pg.JobListTx(ctx, tx.PGX(), params)
	} else {
		found, err = q.lite.JobListTx(ctx, tx.SQL(), params)
	}
	if err != nil {
		return "", 0, fmt.Errorf("look for jobs that wait: %w", err)
	}
	if len(found.Jobs) == 0 {
		return "", 0, nil
	}
	return found.Jobs[0].Kind, time.Since(found.Jobs[0].ScheduledAt), nil
}

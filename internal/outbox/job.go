package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/internal/store"
)

// The jobs that attempt deliveries.
const (
	Kind  = "webhook"  // of the jobs
	Queue = "webhooks" // that they wait in

	// maxAttempts is how often River tries a job whose attempt could not even be recorded, because the database is away,
	// say. How often a delivery is attempted is the schedule's matter: each attempt is a job of its own.
	maxAttempts = "100"
)

// Args is the job of one attempt at one delivery.
type Args struct {
	Delivery     string `json:"delivery"`
	Subscription string `json:"subscription"`
	Company      string `json:"company"`
	Attempt      int    `json:"attempt"` // which attempt of the delivery this is, from 1: once there are as many, the job is stale
	Step         int    `json:"step"`    // where in the schedule of retries it stands, from 1: a replay begins anew
}

// Kind names the job.
func (Args) Kind() string { return Kind }

// InsertOpts put the jobs into a queue of their own.
func (Args) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue, MaxAttempts: 100} }

// The priorities of jobs.
const (
	Prompt  = 1 // what happens now, and its retries
	Relaxed = 3 // what happened long ago: a replay of many events holds up nothing else
)

// Job is a job to insert into the queue.
type Job struct {
	Args     river.JobArgs
	After    time.Duration // from now; 0 for at once
	Priority int           // 0 means Prompt
}

// row is a job as the statements take it.
type row struct {
	Kind     string        `json:"kind"`
	Args     river.JobArgs `json:"args"`
	Priority int           `json:"priority"`
	After    float64       `json:"after"` // seconds
}

// A job that is due later waits in the state available: River then fetches it when it is due, where one that is
// scheduled would first wait for the scheduler's round.
const (
	pgInsert = `INSERT INTO river_job (kind, queue, max_attempts, priority, scheduled_at, args)
	SELECT j.kind, '` + Queue + `', ` + maxAttempts + `, j.priority, clock_timestamp() + make_interval(secs => j.after), j.args
	FROM jsonb_to_recordset($1::jsonb) AS j(kind text, args jsonb, priority smallint, after double precision)`

	liteInsert = `INSERT INTO river_job (kind, queue, max_attempts, created_at, priority, scheduled_at, args)
	SELECT value ->> '$.kind', '` + Queue + `', ` + maxAttempts + `, datetime('now', 'subsec'), value ->> '$.priority',
		datetime('now', 'subsec', format('+%.3f seconds', value ->> '$.after')), jsonb(value -> '$.args')
	FROM json_each(?1)`
)

// Insert adds jobs in the transaction, and wakes the workers after its commit if any of them is due at once. Times are
// the machine's, as all of River's: a development clock that moves the product's time moves what waits as well.
func Insert(ctx context.Context, tx *store.Tx, jobs []Job) error {
	if len(jobs) == 0 {
		return nil
	}
	rows, due := make([]row, len(jobs)), false
	for i, j := range jobs {
		if j.Priority == 0 {
			j.Priority = Prompt
		}
		rows[i] = row{j.Args.Kind(), j.Args, j.Priority, max(0, j.After.Seconds())}
		due = due || j.After <= 0
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("write jobs: %w", err)
	}
	insert := liteInsert
	if tx.Dialect() == dialect.Postgres {
		insert = pgInsert
	}
	if err := ent.DriverOf(tx.Client).Exec(ctx, insert, []any{string(raw)}, nil); err != nil {
		return fmt.Errorf("insert jobs: %w", err)
	}
	if due {
		tx.WakeQueue(Queue)
	}
	return nil
}

// Hurry makes the waiting jobs of deliveries due at once. It changes nothing for those that are running.
func Hurry(ctx context.Context, tx *store.Tx, deliveries []string) error {
	if len(deliveries) == 0 {
		return nil
	}
	raw, err := json.Marshal(deliveries)
	if err != nil {
		return fmt.Errorf("write ids: %w", err)
	}
	hurry := `UPDATE river_job SET scheduled_at = datetime('now', 'subsec') WHERE queue = '` + Queue + `' AND kind = '` + Kind + `'
		AND state IN ('available', 'scheduled', 'retryable') AND args ->> '$.delivery' IN (SELECT value FROM json_each(?1))`
	if tx.Dialect() == dialect.Postgres {
		hurry = `UPDATE river_job SET scheduled_at = now() FROM jsonb_array_elements_text($1::jsonb) AS d(id)
			WHERE queue = '` + Queue + `' AND kind = '` + Kind + `' AND state IN ('available', 'scheduled', 'retryable')
			AND args @> jsonb_build_object('delivery', d.id)`
	}
	if err := ent.DriverOf(tx.Client).Exec(ctx, hurry, []any{string(raw)}, nil); err != nil {
		return fmt.Errorf("hurry jobs: %w", err)
	}
	tx.WakeQueue(Queue)
	return nil
}

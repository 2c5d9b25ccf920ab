package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/internal/store"
)

// Finisher lets a worker put an end to its own job in the transaction that holds what the job was for, so that no crash
// comes between the two. River would end the job once more when the worker returns: it is kept from that, which spares
// the database a statement a job.
type Finisher struct {
	mu  sync.Mutex
	ids map[int64]bool // finished in a committed transaction, and not yet reported by River
}

// Finishing hands the queue's Finisher to whoever works jobs that need it.
func Finishing(take func(*Finisher)) Option {
	return func(k *kinds) { take(k.finisher) }
}

// Finish ends running jobs in the transaction. PostgreSQL deletes them. SQLite would give their ids to the next jobs while
// River still has them in mind, and keeps them as completed until Forget.
func (f *Finisher) Finish(ctx context.Context, tx *store.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	raw, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("write ids: %w", err)
	}
	end := `UPDATE river_job SET state = 'completed', finalized_at = datetime('now', 'subsec')
		WHERE id IN (SELECT value FROM json_each(?1)) AND state = 'running'`
	if tx.Dialect() == dialect.Postgres {
		end = "DELETE FROM river_job WHERE id IN (SELECT value::bigint FROM jsonb_array_elements_text($1::jsonb) AS value) AND state = 'running'"
	}
	if err := ent.DriverOf(tx.Client).Exec(ctx, end, []any{string(raw)}, nil); err != nil {
		return fmt.Errorf("finish jobs: %w", err)
	}
	tx.AfterCommit(func() { f.add(ids) })
	return nil
}

// Back is a job that its worker puts back into the queue.
type Back struct {
	ID    int64
	After time.Duration // from now; see PutBack
}

// PutBack makes running jobs wait, as if they had not been fetched. It does for many in one statement what River's snooze
// does one by one; a job must wait for longer than River takes to report (half a second is).
func (f *Finisher) PutBack(ctx context.Context, tx *store.Tx, jobs []Back) error {
	ids := make([]int64, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ID
	}
	putBack := putBackLite
	if tx.Dialect() == dialect.Postgres {
		putBack = putBackPG
	}
	if err := putBack(ctx, ent.DriverOf(tx.Client), jobs); err != nil {
		return fmt.Errorf("put jobs back: %w", err)
	}
	tx.AfterCommit(func() { f.add(ids) })
	return nil
}

func putBackPG(ctx context.Context, db dialect.Driver, jobs []Back) error {
	type row struct {
		ID    int64   `json:"id"`
		After float64 `json:"after"` // seconds
	}
	rows := make([]row, len(jobs))
	for i, j := range jobs {
		rows[i] = row{j.ID, j.After.Seconds()}
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return err //nolint:wrapcheck // wrapped by PutBack
	}
	return db.Exec(ctx, `UPDATE river_job SET state = 'available', attempt = attempt - 1, scheduled_at = clock_timestamp() + make_interval(secs => j.after)
		FROM jsonb_to_recordset($1::jsonb) AS j(id bigint, after double precision) WHERE river_job.id = j.id AND state = 'running'`, []any{string(raw)}, nil) //nolint:wrapcheck // wrapped by PutBack
}

// putBackLite goes one by one: SQLite would read all of the list for each running job.
func putBackLite(ctx context.Context, db dialect.Driver, jobs []Back) error {
	for _, j := range jobs {
		err := db.Exec(ctx, `UPDATE river_job SET state = 'available', attempt = attempt - 1, scheduled_at = datetime('now', 'subsec', ?2)
			WHERE id = ?1 AND state = 'running'`, []any{j.ID, fmt.Sprintf("+%.3f seconds", j.After.Seconds())}, nil)
		if err != nil {
			return err //nolint:wrapcheck // wrapped by PutBack
		}
	}
	return nil
}

// Forget deletes up to so many finished jobs of a kind, on SQLite, that River has long put out of its mind.
func (*Finisher) Forget(ctx context.Context, tx *store.Tx, kind string, most int) error {
	if tx.Dialect() == dialect.Postgres {
		return nil
	}
	err := ent.DriverOf(tx.Client).Exec(ctx, `DELETE FROM river_job WHERE id IN (SELECT id FROM river_job
		WHERE state = 'completed' AND finalized_at < datetime('now', 'subsec', '-1 minute') AND kind = ?1 LIMIT ?2)`, []any{kind, most}, nil)
	if err != nil {
		return fmt.Errorf("forget finished jobs: %w", err)
	}
	return nil
}

func (f *Finisher) add(ids []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		f.ids[id] = true
	}
}

// open returns those of River's reports that are not about finished jobs, and takes note that the others have come.
func (f *Finisher) open(p *riverdriver.JobSetStateIfRunningManyParams) *riverdriver.JobSetStateIfRunningManyParams {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := &riverdriver.JobSetStateIfRunningManyParams{Now: p.Now, Schema: p.Schema}
	for i, id := range p.ID {
		if f.ids[id] {
			delete(f.ids, id)
			continue
		}
		out.ID = append(out.ID, id)
		out.Attempt = append(out.Attempt, p.Attempt[i])
		out.ErrData = append(out.ErrData, p.ErrData[i])
		out.FinalizedAt = append(out.FinalizedAt, p.FinalizedAt[i])
		out.MetadataDoMerge = append(out.MetadataDoMerge, p.MetadataDoMerge[i])
		out.MetadataUpdates = append(out.MetadataUpdates, p.MetadataUpdates[i])
		out.ScheduledAt = append(out.ScheduledAt, p.ScheduledAt[i])
		out.State = append(out.State, p.State[i])
	}
	return out
}

// executor is River's, which reports no job that is finished.
type executor struct {
	riverdriver.Executor
	finisher *Finisher
}

// JobSetStateIfRunningMany reports what became of jobs. River takes a job that is missing in the answer for one that was
// deleted meanwhile.
func (e executor) JobSetStateIfRunningMany(ctx context.Context, p *riverdriver.JobSetStateIfRunningManyParams) ([]*rivertype.JobRow, error) {
	p = e.finisher.open(p)
	if len(p.ID) == 0 {
		return nil, nil
	}
	return e.Executor.JobSetStateIfRunningMany(ctx, p) //nolint:wrapcheck // River's own
}

package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/store"
)

const (
	// Timeout is how long one attempt at a job may take.
	Timeout = time.Minute

	rescueAfter = 90 * time.Second // a job that runs for longer hangs: River tries it again
	retention   = time.Minute      // of jobs that were completed

	// fetchCooldown is how long River waits after it has fetched jobs, and after it has notified nodes of new ones. A job
	// that is inserted meanwhile waits for the next notification or poll.
	fetchCooldown = 5 * time.Millisecond
	pollInterval  = 250 * time.Millisecond // of queues that work apart; the default one and those of bulk work are polled every second
)

// Queue inserts jobs and, when it runs, works them.
type Queue struct {
	store *store.Store
	log   *slog.Logger
	pg    *river.Client[pgx.Tx]
	lite  *river.Client[*sql.Tx]
	db    *sql.DB // River's own connection to a SQLite file; nil when no jobs are worked

	node     string          // names this process among those that work jobs
	works    bool            // jobs
	periodic []river.JobArgs // what runs at intervals
}

// New returns the queue of the store's database. With work, Run fetches jobs and performs them; without, it inserts jobs of
// any kind, and holds nothing that has to be closed.
func New(s *store.Store, log *slog.Logger, work bool, opts ...Option) (*Queue, error) {
	kinds := &kinds{workers: river.NewWorkers(), queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}}}
	for _, o := range opts {
		o(kinds)
	}
	if len(kinds.sweeps) > 0 {
		Work(&sweeper{store: s, sweeps: kinds.sweeps})(kinds)
		Every(sweepEvery, SweepArgs{})(kinds)
	}
	q := &Queue{store: s, log: log, node: newNodeID(), works: work, periodic: kinds.args}
	cfg := &river.Config{
		ID: q.node, Logger: quiet(log), FetchCooldown: fetchCooldown,
		JobTimeout: Timeout, RescueStuckJobsAfter: rescueAfter, CompletedJobRetentionPeriod: retention,
	}
	if work {
		cfg.Workers, cfg.PeriodicJobs, cfg.Queues = kinds.workers, kinds.periodic, maps.Clone(kinds.queues)
		if kinds.measurer != nil {
			kinds.measurer.show(kinds.queues)
			cfg.Middleware = []rivertype.Middleware{kinds.measurer}
		}
	}
	if err := q.open(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("open the job queue: %w", err), q.Close())
	}
	return q, nil
}

// open makes River's client. One that only inserts has no connections of its own.
func (q *Queue) open(cfg *river.Config) (err error) {
	if q.store.Dialect() == dialect.Postgres {
		pool := q.store.Pool()
		if !q.works {
			pool = nil
		}
		q.pg, err = river.NewClient[pgx.Tx](riverpgxv5.New(pool), cfg)
		return err
	}
	if q.works {
		// A machine that loses power may forget that jobs were fetched or ended, and works them once more. Jobs are inserted, and
		// completed in a transaction, by the store, which waits for the disk.
		q.db = q.store.OpenForJobs()
	}
	q.lite, err = river.NewClient[*sql.Tx](riversqlite.New(q.db), cfg)
	return err
}

// Job is a job to insert.
type Job struct {
	Args     river.JobArgs
	At       time.Time // when it is due, by the product's time; the zero time for at once
	Priority int       // 1 (at first) to 4; 0 means 1
}

// InsertTx adds a job in the transaction, due at the moment of the product's time (at once for the zero time): the job
// exists if and only if the transaction commits.
func (q *Queue) InsertTx(ctx context.Context, tx *store.Tx, args river.JobArgs, due time.Time) error {
	return q.InsertManyTx(ctx, tx, Job{Args: args, At: due})
}

// InsertManyTx is InsertTx for many jobs in one statement.
func (q *Queue) InsertManyTx(ctx context.Context, tx *store.Tx, list ...Job) (err error) {
	if len(list) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(list))
	for i, j := range list {
		opts := &river.InsertOpts{Priority: j.Priority}
		// River knows the machine's time only. What is due is available at once: a scheduled job waits for River's scheduler.
		if at := j.At.Add(-q.store.Clock().Offset()); !j.At.IsZero() && at.After(time.Now()) {
			opts.ScheduledAt = at
		}
		params[i] = river.InsertManyParams{Args: j.Args, InsertOpts: opts}
	}
	if q.pg != nil {
		_, err = q.pg.InsertManyTx(ctx, tx.PGX(), params)
	} else {
		_, err = q.lite.InsertManyTx(ctx, tx.SQL(), params)
	}
	if err != nil {
		return fmt.Errorf("insert jobs: %w", err)
	}
	return nil
}

// CompleteTx ends a job in the transaction that did its work. ctx is derived from the one that River handed to the worker.
func (q *Queue) CompleteTx(ctx context.Context, tx *store.Tx, job *rivertype.JobRow) (err error) {
	done := &river.Job[anyArgs]{JobRow: job}
	if q.pg != nil {
		_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx.PGX(), done)
	} else {
		_, err = river.JobCompleteTx[*riversqlite.Driver](ctx, tx.SQL(), done)
	}
	if err != nil {
		return fmt.Errorf("complete a job: %w", err)
	}
	return nil
}

// anyArgs stands for the arguments of a job whose kind does not matter.
type anyArgs struct{}

func (anyArgs) Kind() string { return "" }

// Run works jobs until ctx ends, then waits 5 s for those that are running and cancels what is left. It gives these 4 s more to
// write down how far they came: a node may be calling hundreds of receivers that hang.
func (q *Queue) Run(ctx context.Context) error {
	var start, stop, cancelAll func(context.Context) error
	if q.pg != nil {
		start, stop, cancelAll = q.pg.Start, q.pg.Stop, q.pg.StopAndCancel
	} else {
		start, stop, cancelAll = q.lite.Start, q.lite.Stop, q.lite.StopAndCancel
	}
	var r *reaper
	err := q.patiently(ctx, func(ctx context.Context) (err error) {
		r, err = newReaper(ctx, q.store, q.log, q.node)
		return err
	})
	if err == nil {
		defer r.close()
		err = q.patiently(ctx, start)
	}
	switch {
	case err != nil && ctx.Err() != nil: // told to stop before it could start
		return q.Close()
	case err != nil:
		return errors.Join(fmt.Errorf("start the job queue: %w", err), q.Close())
	}
	<-ctx.Done()
	err = within(ctx, 5*time.Second, stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = within(ctx, 4*time.Second, cancelAll) // they are tried again later
	}
	if err != nil {
		err = fmt.Errorf("stop the job queue: %w", err)
	}
	return errors.Join(err, q.Close())
}

// patiently runs a part of the start, again after a second for as long as the database is away: calls are answered by then, and a
// database that was gone for a moment must not end the process.
func (q *Queue) patiently(ctx context.Context, part func(context.Context) error) error {
	for {
		err := part(context.WithoutCancel(ctx))
		if err == nil || !store.Lost(err) {
			return err
		}
		q.log.Error("job queue does not start", "error", err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return err
		}
	}
}

// within calls fn with a context of its own that ends after d.
func within(ctx context.Context, d time.Duration, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	return fn(ctx)
}

// Close gives up the queue's own connection; Run does so itself.
func (q *Queue) Close() error {
	if q.db == nil {
		return nil
	}
	return q.db.Close()
}

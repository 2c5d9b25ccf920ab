package jobs

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/platform/store"
)

const (
	// Timeout is the time limit of one attempt at a job whose worker sets no limit of its own.
	Timeout = time.Minute

	// rescueAfter is how long a job is in the state running, beyond its limit, until River tries it again, unless its node still works
	// it: the node has failed to record how it ended.
	rescueAfter = 90 * time.Second
	retention   = time.Minute // of completed jobs

	fetchCooldown = 5 * time.Millisecond // River's pause after it has fetched jobs
	wokenPoll     = 15 * time.Second     // of all queues, since the process knows of its jobs (wake.go): for those of nodes that were killed
)

// Queue inserts jobs and, while Run runs, works them.
type Queue struct {
	store *store.Store
	log   *slog.Logger
	pg    *river.Client[pgx.Tx]
	lite  *river.Client[*sql.Tx]
	db    *sql.DB // River's own connection to the SQLite file; nil when this queue works no jobs

	node     string          // id of this process among those that work jobs
	works    bool            // works is true when Run fetches and performs jobs
	periodic []river.JobArgs // arguments of the periodic jobs
	working  *working
	reap     reap
	wakes    *wakes // nil when this queue works no jobs
}

// New returns the queue of the store's database. With work set, Run fetches jobs and performs them. Without it, the queue inserts
// jobs of any kind and holds nothing that must be closed.
func New(s *store.Store, log *slog.Logger, work bool, opts ...Option) (*Queue, error) {
	kinds := &kinds{
		workers: river.NewWorkers(), queues: map[string]river.QueueConfig{}, shares: map[string]int{},
		reap: reap{every: 2 * time.Second, grace: 5 * time.Second},
	}
	SharedQueue(river.QueueDefault, 10, 5)(kinds)
	SharedQueue(noticeQueue, tellers, companyTell)(kinds)
	for _, o := range opts {
		o(kinds)
	}
	if len(kinds.sweeps) > 0 {
		Work(&sweeper{store: s, sweeps: kinds.sweeps})(kinds)
		Every(sweepEvery, SweepArgs{})(kinds)
	}
	if s.Dialect() == dialect.SQLite {
		Work(&analyzer{store: s, seen: map[string]int{}})(kinds)
		Every(analyzeEvery, AnalyzeArgs{})(kinds)
	}
	q := &Queue{store: s, log: log, node: newNodeID(), works: work, periodic: kinds.args, working: newWorking(), reap: kinds.reap}
	cfg := &river.Config{
		ID: q.node, Logger: warningsOnly(log), FetchCooldown: fetchCooldown,
		JobTimeout: Timeout, RescueStuckJobsAfter: rescueAfter, CompletedJobRetentionPeriod: retention,
	}
	if work {
		cfg.Workers, cfg.PeriodicJobs, cfg.Queues = kinds.workers, kinds.periodic, maps.Clone(kinds.queues)
		for name, c := range cfg.Queues {
			c.FetchPollInterval = cmp.Or(c.FetchPollInterval, wokenPoll)
			cfg.Queues[name] = c
		}
		q.wakes = newWakes(placeOf(s), slices.Collect(maps.Keys(cfg.Queues)))
		cfg.Middleware = []rivertype.Middleware{q.working}
		if kinds.measurer != nil {
			kinds.measurer.show(kinds.queues)
			cfg.Middleware = append(cfg.Middleware, kinds.measurer)
		}
		cfg.Middleware = append(cfg.Middleware, newShared(kinds.shares, kinds.queues))
	}
	if err := q.open(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("open the job queue: %w", err), q.Close())
	}
	return q, nil
}

// open creates River's client. A client that only inserts has no connections of its own.
func (q *Queue) open(cfg *river.Config) (err error) {
	if q.store.Dialect() == dialect.Postgres {
		pool := q.store.Pool()
		if !q.works {
			pool = nil
		}
		q.pg, err = river.NewClient[pgx.Tx](announcedDriver{riverpgxv5.New(pool), placeOf(q.store), q.works}, cfg)
		return err
	}
	if q.works {
		// After a power loss the database may have forgotten that jobs were fetched or completed; they are then worked once more.
		// Inserts, and completions in a transaction, go through the store, which waits for the disk.
		q.db = q.store.OpenForJobs()
	}
	q.lite, err = river.NewClient[*sql.Tx](wokenDriver{riversqlite.New(q.db), q.store.Path(), q.wakes}, cfg)
	return err
}

// Job is a job to insert.
type Job struct {
	Args     river.JobArgs
	At       time.Time // when it is due, in the product's time; the zero time means at once
	Priority int       // 1 (first) to 4; 0 means 1
}

// ShortWait is the period in which River looks for scheduled jobs.
const ShortWait = 5 * time.Second

// At returns the time of a Job that is due at a moment. A job due within ShortWait starts at once, so that River's scheduler does not
// make it late: its worker finds that it is early and snoozes, which River times exactly.
func At(at, now time.Time) time.Time {
	if at.Sub(now) < ShortWait {
		return time.Time{}
	}
	return at
}

// InsertTx adds a job in the transaction: the job exists if and only if the transaction commits. due is in the product's time;
// the zero time means at once.
func (q *Queue) InsertTx(ctx context.Context, tx *store.Tx, args river.JobArgs, due time.Time) error {
	return q.InsertManyTx(ctx, tx, Job{Args: args, At: due})
}

// InsertManyTx is InsertTx for many jobs. All jobs of a transaction are inserted by one statement, before its commit.
func (q *Queue) InsertManyTx(_ context.Context, tx *store.Tx, list ...Job) error {
	if len(list) == 0 {
		return nil
	}
	all, _ := tx.Gather(q, func() (any, func(context.Context) error) {
		all := &[]river.InsertManyParams{}
		return all, func(ctx context.Context) error { return q.insert(ctx, tx, *all) }
	}).(*[]river.InsertManyParams)
	for _, j := range list {
		opts := &river.InsertOpts{Priority: j.Priority}
		// River knows only the machine's time. A job that is already due gets no time: it is available at once, whereas a
		// scheduled job waits for River's scheduler.
		if at := j.At.Add(-q.store.Clock().Offset()); !j.At.IsZero() && at.After(time.Now()) {
			opts.ScheduledAt = at
		}
		*all = append(*all, river.InsertManyParams{Args: j.Args, InsertOpts: opts})
	}
	return nil
}

func (q *Queue) insert(ctx context.Context, tx *store.Tx, params []river.InsertManyParams) (err error) {
	var made []*rivertype.JobInsertResult
	if q.pg != nil {
		made, err = q.pg.InsertManyTx(ctx, tx.PGX(), params)
	} else {
		made, err = q.lite.InsertManyTx(ctx, tx.SQL(), params)
	}
	if err != nil {
		return fmt.Errorf("insert jobs: %w", err)
	}
	tx.AfterCommit(func() { inserted(placeOf(q.store), made) })
	return nil
}

// CompleteTx completes a job in the transaction that did its work. ctx must derive from the context that River passed to the
// worker.
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

// Run works jobs until ctx ends. Then it waits 5 s for running jobs, cancels the rest, and gives those 4 s to record how far they
// came: a node may be calling hundreds of receivers that hang.
func (q *Queue) Run(ctx context.Context) error {
	start, stop, cancelAll, subscribe := q.functions()
	events, unsubscribe := subscribe(putOff)
	defer q.hear(ctx, events)()
	defer unsubscribe()
	var r *reaper
	err := q.retryWhileUnavailable(ctx, func(ctx context.Context) (err error) {
		r, err = newReaper(ctx, q.store, q.log, q.node, q.reap)
		return err
	})
	if err == nil {
		defer r.close()
		keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			q.keepWorking(keeping)
		}()
		defer func() {
			stopKeeping()
			<-kept
		}()
		err = q.retryWhileUnavailable(ctx, start)
	}
	switch {
	case err != nil && ctx.Err() != nil: // ctx ended before the queue could start
		return q.Close()
	case err != nil:
		return errors.Join(fmt.Errorf("start the job queue: %w", err), q.Close())
	}
	<-ctx.Done()
	err = within(ctx, 5*time.Second, stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = within(ctx, 4*time.Second, cancelAll) // cancelled jobs are tried again later
	}
	if err != nil {
		err = fmt.Errorf("stop the job queue: %w", err)
	}
	return errors.Join(err, q.Close())
}

// functions returns River's, of whichever database it works on.
func (q *Queue) functions() (start, stop, cancelAll func(context.Context) error, subscribe func(*river.SubscribeConfig) (<-chan *river.Event, func())) {
	if q.pg != nil {
		return q.pg.Start, q.pg.Stop, q.pg.StopAndCancel, q.pg.SubscribeConfig
	}
	return q.lite.Start, q.lite.Stop, q.lite.StopAndCancel, q.lite.SubscribeConfig
}

// hear makes the queues hear of due jobs until end is called. events are those of jobs that are put off.
func (q *Queue) hear(ctx context.Context, events <-chan *river.Event) (end func()) {
	go q.wakes.follow(events)
	if q.pg == nil {
		return func() {}
	}
	announcing, silence := context.WithCancel(context.WithoutCancel(ctx))
	var announced sync.WaitGroup
	announced.Go(func() { q.announce(announcing) })
	return func() {
		silence()
		announced.Wait()
	}
}

// retryWhileUnavailable runs a step of the start, and retries it every second while the database is unreachable. By then the
// process answers calls, and a short loss of the database must not end it.
func (q *Queue) retryWhileUnavailable(ctx context.Context, part func(context.Context) error) error {
	for {
		err := part(context.WithoutCancel(ctx))
		if err == nil || !store.IsUnavailable(err) {
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

// within calls fn with a context that ends after d and ignores the cancellation of ctx.
func within(ctx context.Context, d time.Duration, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	return fn(ctx)
}

// Close closes the queue's own connection. Run calls it.
func (q *Queue) Close() error {
	if q.wakes != nil {
		q.wakes.close(placeOf(q.store))
	}
	if q.db == nil {
		return nil
	}
	return q.db.Close()
}

// Package jobs is the queue of work that outlives a request: River on the store's own database, so that a job is
// inserted in the transaction that makes it necessary, and several nodes on one PostgreSQL share the work.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/store"
)

// Timeout is how long one attempt at a job may take.
const Timeout = time.Minute

// rescueAfter is when a job that was running on a node that died is given to another one.
const rescueAfter = 90 * time.Second

// Queue inserts jobs and, when it runs, works them.
type Queue struct {
	store  *store.Store
	pg     *river.Client[pgx.Tx]
	lite   *river.Client[*sql.Tx]
	works  bool
	closer func() error

	log      *slog.Logger
	node     string          // names this process among those that work jobs
	periodic []river.JobArgs // what runs at intervals
}

// New returns the queue of the store's database. With work, Run fetches jobs and performs them; without, it only
// inserts. opts say which jobs there are besides the sweep.
func New(s *store.Store, log *slog.Logger, work bool, opts ...Option) (*Queue, error) {
	kinds := &kinds{workers: river.NewWorkers(), finisher: &Finisher{ids: map[int64]bool{}}}
	for _, o := range append([]Option{Work(&sweeper{store: s}), Every(sweepEvery, SweepArgs{})}, opts...) {
		o(kinds)
	}
	q := &Queue{store: s, log: log, node: newNodeID(), works: work, closer: func() error { return nil }, periodic: kinds.args}
	cfg := &river.Config{ID: q.node, Logger: quiet(log), JobTimeout: Timeout, RescueStuckJobsAfter: rescueAfter}
	if work {
		cfg.Workers, cfg.PeriodicJobs = kinds.workers, kinds.periodic
		cfg.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}}
		maps.Copy(cfg.Queues, kinds.queues)
	}
	bell := q.listen()
	var err error
	if s.Dialect() == dialect.Postgres {
		q.pg, err = river.NewClient[pgx.Tx](pgDriver{riverpgxv5.New(s.Pool()), bell, kinds.finisher}, cfg)
	} else {
		var db *sql.DB
		if db, err = store.OpenSQLiteFile(s.Path()); err != nil {
			return nil, errors.Join(fmt.Errorf("open the job queue: %w", err), q.closer())
		}
		q.closes(db.Close)
		q.lite, err = river.NewClient[*sql.Tx](liteDriver{riversqlite.New(db), bell, kinds.finisher}, cfg)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the job queue: %w", err), q.closer())
	}
	return q, nil
}

// quiet keeps River's own notices out of the log unless they are warnings.
func quiet(log *slog.Logger) *slog.Logger {
	return slog.New(levelHandler{Handler: log.Handler(), least: slog.LevelWarn})
}

type levelHandler struct {
	slog.Handler
	least slog.Level
}

func (h levelHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.least && h.Handler.Enabled(ctx, l)
}

// Handle drops what River says about statements that were cut off because it is stopping: they are tried again later.
func (h levelHandler) Handle(ctx context.Context, r slog.Record) error {
	cancelled := false
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" || a.Key == "err" {
			cancelled = strings.Contains(a.Value.String(), context.Canceled.Error())
		}
		return !cancelled
	})
	if cancelled {
		return nil
	}
	return h.Handler.Handle(ctx, r) //nolint:wrapcheck // slog.Handler's contract
}

func (h levelHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelHandler{h.Handler.WithAttrs(attrs), h.least}
}

func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name), h.least}
}

// InsertTx adds a job in the transaction, due at the moment of the product's time (at once for the zero time): the job
// exists if and only if the transaction commits.
func (q *Queue) InsertTx(ctx context.Context, tx *store.Tx, args river.JobArgs, due time.Time) error {
	opts := &river.InsertOpts{}
	if !due.IsZero() {
		opts.ScheduledAt = due.Add(-q.store.Clock().Offset()) // River knows the machine's time only
	}
	var res *rivertype.JobInsertResult
	var err error
	if q.pg != nil {
		res, err = q.pg.InsertTx(ctx, tx.PGX(), args, opts)
	} else {
		res, err = q.lite.InsertTx(ctx, tx.SQL(), args, opts)
	}
	if err != nil {
		return fmt.Errorf("insert a job: %w", err)
	}
	tx.WakeQueue(res.Job.Queue)
	return nil
}

// Run works jobs until ctx ends, then waits 7 s for those that are running and cancels what is left.
func (q *Queue) Run(ctx context.Context) error {
	var start, stop, cancelAll func(context.Context) error
	if q.pg != nil {
		start, stop, cancelAll = q.pg.Start, q.pg.Stop, q.pg.StopAndCancel
	} else {
		start, stop, cancelAll = q.lite.Start, q.lite.Stop, q.lite.StopAndCancel
	}
	dead, err := watchOrphans(context.WithoutCancel(ctx), q.store, q.log, q.node)
	if err != nil {
		return errors.Join(err, q.Close())
	}
	defer dead.close()
	if err := start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(fmt.Errorf("start the job queue: %w", err), q.Close())
	}
	<-ctx.Done()
	err = within(ctx, 7*time.Second, stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = within(ctx, 2*time.Second, cancelAll) // they are tried again later
	}
	if err != nil {
		err = fmt.Errorf("stop the job queue: %w", err)
	}
	return errors.Join(err, q.Close())
}

// within calls fn with a context of its own that ends after d.
func within(ctx context.Context, d time.Duration, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	return fn(ctx)
}

// Close gives up the queue's own connection; Run does so itself.
func (q *Queue) Close() error { return q.closer() }

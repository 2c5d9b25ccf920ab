package timer

import (
	"context"
	"errors"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	sweepEvery = 5 * time.Second
	sweepBatch = 500 // rows that one query finds
	queueName  = "sla"
	nextAt     = request.FieldSLANextAt // tasks have a column of the same name
)

// Kind is a kind of row that has clocks: requests or tasks.
type Kind struct {
	Name  string // in errors: "requests"
	Batch int    // rows of one company that one transaction locks
	// Due selects id, company_id and sla_next_at of up to limit rows that match, in the order of sla_next_at and id.
	Due func(db *ent.Client, match func(*sql.Selector), limit int) Selection
	// Advance locks rows of a company and advances those of which something is due by now, as AdvanceAll does.
	Advance func(ctx context.Context, tx *op.Tx, ids []string, now time.Time) (rest []string, err error)
	// Rederive derives the clocks of open rows anew, after a change of the service levels or the calendar that they use.
	Rederive func(ctx context.Context, e *op.Engine, change RederiveArgs) error
}

// Selection is a query of columns, as Ent's Select makes it.
type Selection interface {
	Scan(ctx context.Context, rows any) error
}

// due is a row at whose clock something falls due.
type due struct {
	ID      string    `sql:"id"`
	Company string    `sql:"company_id"`
	At      time.Time `sql:"sla_next_at"`
}

// SweepArgs is the job that looks for clocks at which something falls due. One runs at every interval, and each clock whose next
// moment comes before the next interval inserts another.
type SweepArgs struct {
	At time.Time `json:"at,omitzero"` // the moment to sweep at; zero for now and the rest of the interval
}

// Kind names the job.
func (SweepArgs) Kind() string { return "sla_sweep" }

// InsertOpts gives the job a queue of its own, so that no other job that hangs delays it.
func (SweepArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queueName} }

// Work makes a job queue run the clocks.
func Work(e *op.Engine, kinds ...Kind) jobs.Option {
	return jobs.All(jobs.NamedQueue(queueName, 2), jobs.Every(sweepEvery, SweepArgs{}),
		jobs.Work(&sweeper{engine: e, kinds: kinds}), jobs.Work(&rederiver{engine: e, kinds: kinds, places: jobs.NewPlaces(atOnce, ofOne, nextTry)}))
}

// Start inserts a sweep for what fell due while no node ran. The sweep of the interval would wait until River has a leader,
// which takes 15 seconds after the last leader was killed.
func Start(ctx context.Context, s *store.Store, q *jobs.Queue) error {
	ctx = principal.System(ctx, "the clocks of all companies are kept together")
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return q.InsertTx(ctx, tx, SweepArgs{}, time.Time{})
	})
}

// Wake inserts a job for a moment that comes before the next interval.
func Wake(ctx context.Context, tx *op.Tx, next *time.Time, now time.Time) error {
	if next == nil || next.Sub(now) > sweepEvery+time.Second {
		return nil
	}
	return tx.Insert(ctx, SweepArgs{At: *next}, time.Time{})
}

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	engine *op.Engine
	kinds  []Kind
}

// Timeout is longer than River's default: after an outage there is much to do. The next run continues where this one stopped.
func (s *sweeper) Timeout(*river.Job[SweepArgs]) time.Duration { return 10 * time.Minute }

// Work sweeps. River schedules jobs with a precision of five seconds only, so a job that starts early snoozes, which River ends
// on time. The job of the interval snoozes in the same way until the interval ends and the next job takes over.
func (s *sweeper) Work(ctx context.Context, job *river.Job[SweepArgs]) error {
	now := s.engine.Store.Clock().Now()
	if early := job.Args.At.Sub(now); early > 0 {
		return river.JobSnooze(early)
	}
	var next time.Time
	var errs []error
	for _, k := range s.kinds {
		at, err := k.Sweep(ctx, s.engine, now)
		errs = append(errs, err)
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	left := time.Until(job.CreatedAt.Add(sweepEvery))
	if wait := next.Sub(s.engine.Store.Clock().Now()); job.Args.At.IsZero() && !next.IsZero() && wait < left {
		return river.JobSnooze(max(wait, time.Millisecond))
	}
	return nil
}

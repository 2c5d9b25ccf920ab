package request

import (
	"context"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/workflow"
)

const (
	sweepEvery  = 5 * time.Second
	sweepBatch  = 500 // requests that one query finds
	settleBatch = 50  // requests of one company that one transaction settles
	slaQueue    = "sla"
)

// SweepArgs is the job that looks for clocks at which something falls due. One runs at every interval, and each clock whose next
// moment comes before the next interval inserts another.
type SweepArgs struct {
	At time.Time `json:"at,omitzero"` // the moment to sweep at; zero for now and the rest of the interval
}

// Kind names the job.
func (SweepArgs) Kind() string { return "sla_sweep" }

// InsertOpts gives the job a queue of its own, so that no other job that hangs delays it.
func (SweepArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: slaQueue} }

// Sweep fires what has fallen due at the clocks of one kind of row, of all companies. It returns the next moment at which
// something falls due; zero for none within the interval.
type Sweep func(ctx context.Context, now time.Time) (next time.Time, err error)

// Clocks makes a job queue run the clocks of requests, and those of the further sweeps.
func Clocks(e *op.Engine, further ...Sweep) jobs.Option {
	s := &sweeper{engine: e}
	s.sweeps = append([]Sweep{s.requests}, further...)
	return jobs.All(jobs.NamedQueue(slaQueue, 2), jobs.Work(s), jobs.Every(sweepEvery, SweepArgs{}),
		jobs.Work(&rederiver{engine: e}), jobs.Work(&noticer{engine: e}))
}

// Start inserts a sweep for what fell due while no node ran. The sweep of the interval would wait until River has a leader,
// which takes 15 seconds after the last leader was killed.
func Start(ctx context.Context, s *store.Store, q *jobs.Queue) error {
	ctx = principal.System(ctx, "the clocks of all companies are kept together")
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return q.InsertTx(ctx, tx, SweepArgs{}, time.Time{})
	})
}

// WakeFor inserts a job for a moment that comes before the next interval.
func WakeFor(ctx context.Context, tx *op.Tx, next *time.Time, now time.Time) error {
	if next == nil || next.Sub(now) > sweepEvery+time.Second {
		return nil
	}
	return tx.Insert(ctx, SweepArgs{At: *next}, time.Time{})
}

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	engine *op.Engine
	sweeps []Sweep
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
	for _, sweep := range s.sweeps {
		at, err := sweep(ctx, now)
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

// requests settles the requests that have something due, in small transactions, each of one company.
func (s *sweeper) requests(ctx context.Context, now time.Time) (time.Time, error) {
	system := principal.System(ctx, "the clocks of all companies are kept together")
	db := s.engine.Store.Reader()
	errs := jobs.Due(ctx, sweepBatch, func(last *ent.Request) ([]*ent.Request, error) {
		q := db.Request.Query().Where(request.SLANextAtLTE(now))
		if last != nil {
			q.Where(jobs.After[predicate.Request](request.FieldSLANextAt, *last.SLANextAt, last.ID))
		}
		due, err := q.Order(request.BySLANextAt(), request.ByID()).Limit(sweepBatch).
			Select(request.FieldID, request.FieldCompanyID, request.FieldSLANextAt).All(system)
		if err != nil {
			return nil, fmt.Errorf("look for requests whose moment has come: %w", err)
		}
		return due, nil
	}, func(due []*ent.Request) error {
		var errs []error
		for company, ids := range byCompany(due) {
			errs = append(errs, s.settle(ctx, company, ids, now))
		}
		return errors.Join(errs...)
	})
	next, err := db.Request.Query().Where(request.SLANextAtGT(now), request.SLANextAtLTE(now.Add(sweepEvery))).Order(request.BySLANextAt()).
		Limit(1).Select(request.FieldID, request.FieldSLANextAt).All(system)
	if err != nil {
		return time.Time{}, errors.Join(errs, fmt.Errorf("look for the next moment: %w", err))
	}
	if len(next) == 0 || next[0].SLANextAt == nil {
		return time.Time{}, errs
	}
	return *next[0].SLANextAt, errs
}

func byCompany(rows []*ent.Request) map[string][]string {
	out := map[string][]string{}
	for _, r := range rows {
		out[r.CompanyID] = append(out[r.CompanyID], r.ID)
	}
	return out
}

// settle settles requests of a company. If a batch fails, it tries each row alone, so that one row does not block the others.
func (s *sweeper) settle(ctx context.Context, company string, ids []string, now time.Time) error {
	var errs []error
	for len(ids) > 0 {
		n := min(len(ids), settleBatch)
		batch := ids[:n]
		ids = ids[n:]
		err := s.settleIn(ctx, company, batch, now)
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return err
		}
		for _, id := range batch {
			if err := s.settleIn(ctx, company, []string{id}, now); err != nil {
				errs = append(errs, fmt.Errorf("settle the clock of %s: %w", id, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *sweeper) settleIn(ctx context.Context, company string, ids []string, now time.Time) error {
	return s.engine.Work(ctx, company, slaWorker, func(ctx context.Context, tx *op.Tx) error {
		rows, err := op.Lock(tx, tx.Request.Query().Where(request.IDIn(ids...), request.SLANextAtLTE(now)).Order(request.ByID())).All(ctx)
		if err != nil {
			return fmt.Errorf("read the requests: %w", err)
		}
		return settleAll(ctx, tx, rows, now)
	})
}

func settleAll(ctx context.Context, tx *op.Tx, rows []*ent.Request, now time.Time) error {
	ctx, c := clocksOf(ctx, tx, now)
	if err := c.read(ctx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := c.settle(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// rederiver works the jobs that derive clocks anew.
type rederiver struct {
	river.WorkerDefaults[workflow.RederiveArgs]
	engine *op.Engine
}

// Timeout is longer than River's default: a company may have a hundred thousand open requests.
func (w *rederiver) Timeout(*river.Job[workflow.RederiveArgs]) time.Duration { return 10 * time.Minute }

// Work settles the open requests of the offerings, one batch in each transaction. The new service levels apply as if they had
// always held.
func (w *rederiver) Work(ctx context.Context, job *river.Job[workflow.RederiveArgs]) error {
	a := job.Args
	if a.Calendar != "" { // tasks have service levels of their own: the sweep derives their clocks
		err := w.engine.Work(ctx, a.Company, slaWorker, func(ctx context.Context, tx *op.Tx) error {
			_, err := tx.Task.Update().Where(lifecycle.OpenTasks(), task.SLAStateNotNil()).SetSLANextAt(tx.Now(ctx)).Save(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("mark the tasks: %w", err)
		}
	}
	for last := ""; ; {
		var rows []*ent.Request
		err := w.engine.Work(ctx, a.Company, slaWorker, func(ctx context.Context, tx *op.Tx) (err error) {
			q := tx.Request.Query().Where(lifecycle.OpenRequests(), request.IDGT(last))
			if a.Offering != "" {
				q.Where(request.OfferingID(a.Offering))
			} else {
				q.Where(countsBy(a.Calendar))
			}
			if rows, err = op.Lock(tx, q.Order(request.ByID()).Limit(settleBatch)).All(ctx); err != nil {
				return fmt.Errorf("read the requests: %w", err)
			}
			return settleAll(ctx, tx, rows, tx.Now(ctx))
		})
		if err != nil {
			return fmt.Errorf("derive clocks anew: %w", err)
		}
		if len(rows) < settleBatch {
			return nil
		}
		last = rows[len(rows)-1].ID
	}
}

// countsBy matches the requests whose offering uses a calendar.
func countsBy(calendarID string) predicate.Request {
	return func(s *sql.Selector) {
		o := sql.Dialect(s.Dialect()).Table(offering.Table)
		s.Where(sql.In(s.C(request.FieldOfferingID), sql.Dialect(s.Dialect()).Select(o.C(offering.FieldID)).From(o).
			Where(sql.And(sql.ColumnsEQ(o.C(offering.FieldCompanyID), s.C(request.FieldCompanyID)), sql.EQ(o.C(offering.FieldCalendarID), calendarID)))))
	}
}

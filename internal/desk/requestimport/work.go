package requestimport

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/requestimport"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
)

const (
	worker   = "import"
	together = 25                   // rows that are checked together, and in one transaction at most
	turn     = 4 * time.Millisecond // of writing, after which others write: see doc.go
	keptFor  = 30 * 24 * time.Hour
)

// A node works one import of a company at a time, and two in all: the other jobs go on beside it.
const (
	atOnce  = 2
	ofOne   = 1
	nextTry = 2 * time.Second // after which one comes again whose company's place is taken
)

// Args is the job that brings the rows of an import in.
type Args struct {
	Company string `json:"company"`
	ID      string `json:"id"`
}

// Kind names the job.
func (Args) Kind() string { return "request_import" }

type importer struct {
	river.WorkerDefaults[Args]
	engine *op.Engine
	places *jobs.Places
}

// Timeout of an import of 5,000 rows, which takes some ten seconds on a quiet machine. What it ends goes on with the next try.
func (*importer) Timeout(*river.Job[Args]) time.Duration { return 10 * time.Minute }

// Work makes a queue bring imports in, and forget those that have not changed for 30 days.
func Work(e *op.Engine) jobs.Option { return workIn(e, jobs.NewPlaces(atOnce, ofOne, nextTry)) }

func workIn(e *op.Engine, places *jobs.Places) jobs.Option {
	return jobs.All(jobs.Work(&importer{engine: e, places: places}), jobs.Sweeps(jobs.Sweep{Rows: "imports", Kept: keptFor, Delete: forget}))
}

func forget(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.RequestImport.Query().Where(requestimport.UpdatedAtLT(before), requestimport.StatusNEQ(requestimport.StatusRUNNING)).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.RequestImport.Delete().Where(requestimport.IDIn(ids...)).Exec(ctx)
}

// running is an import whose rows are being brought in.
type running struct {
	*importer
	job  *rivertype.JobRow
	by   *principal.Principal
	plan *plan
	row  *ent.RequestImport // as the last transaction left it
}

// Work brings rows in until none is left. Each transaction goes on from where the one before it ended, whichever node that was on.
func (w *importer) Work(ctx context.Context, job *river.Job[Args]) error {
	leave, err := w.places.TakeOrSnooze(job.Args.Company)
	if err != nil {
		return err
	}
	defer leave()
	r, err := w.begin(ctx, job)
	if err != nil || r == nil {
		return err
	}
	asks := principal.With(clock.With(ctx, w.engine.Store.Clock()), r.by)
	for r.row.Done < r.row.Rows && r.row.Status == requestimport.StatusRUNNING {
		items, err := r.plan.items(asks, r.row.Done, min(r.row.Done+together, r.row.Rows))
		if err != nil {
			return err
		}
		if err := r.bring(ctx, items); err != nil {
			return err
		}
	}
	return w.engine.Work(ctx, job.Args.Company, worker, func(ctx context.Context, tx *op.Tx) error { return tx.Complete(ctx, job.JobRow) })
}

// begin reads an import that runs; nil if there is nothing to do. One whose creator is gone is stopped.
func (w *importer) begin(ctx context.Context, job *river.Job[Args]) (*running, error) {
	ctx = w.engine.Reading(ctx, job.Args.Company, worker)
	db := w.engine.Store.Reader()
	i, err := db.RequestImport.Get(ctx, job.Args.ID)
	if err != nil || i.Status != requestimport.StatusRUNNING {
		return nil, ent.MaskNotFound(err)
	}
	by, err := notice.AsWhom(ctx, db, i.CreatedBy)
	if err != nil {
		return nil, err
	}
	if by == nil {
		return nil, w.engine.Work(ctx, job.Args.Company, worker, func(ctx context.Context, tx *op.Tx) error {
			if err := ended(tx.RequestImport.UpdateOneID(i.ID), requestimport.StatusSTOPPED, tx.Now(ctx)).Exec(ctx); err != nil {
				return fmt.Errorf("stop the import: %w", err)
			}
			return tx.Complete(ctx, job.JobRow)
		})
	}
	var s Settings
	if err := json.Unmarshal(i.Settings, &s); err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	t, err := readTable(i.Csv, i.Columns)
	if err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	p, err := planOf(ctx, w.engine.Outside(by), t, s, i.CreatedBy)
	return &running{w, job.JobRow, by, p, i}, err
}

// bring makes requests of some rows, in transactions of one turn each. If one of a transaction is refused, each gets a transaction of its
// own.
func (r *running) bring(ctx context.Context, items []item) error {
	for len(items) > 0 {
		at := r.row.Done
		err := r.keep(ctx, items)
		if err != nil && apperr.Refuses(err) {
			return r.oneByOne(ctx, items)
		}
		done := r.row.Done - at
		if err != nil || done <= 0 || done > len(items) || r.row.Status != requestimport.StatusRUNNING { // it was stopped, has ended, or goes on elsewhere
			return err
		}
		items = items[done:]
	}
	return nil
}

func (r *running) oneByOne(ctx context.Context, items []item) error {
	for i := range items {
		at := r.row.Done
		err := r.keep(ctx, items[i:i+1])
		if err != nil && apperr.Refuses(err) {
			items[i].faults = []*Fault{{items[i].row, "", apperr.Said(err)}}
			err = r.keep(ctx, items[i:i+1])
		}
		if err != nil || r.row.Done != at+1 { // it was stopped, or goes on elsewhere
			return err
		}
	}
	return nil
}

// keep makes requests of those rows that have no fault, as far as the turn goes, and notes the progress.
func (r *running) keep(ctx context.Context, items []item) error {
	var after *ent.RequestImport
	err := r.engine.WorkAs(ctx, r.by, func(ctx context.Context, tx *op.Tx) error {
		now, err := op.Lock(tx, tx.RequestImport.Query().Where(requestimport.ID(r.row.ID))).Only(ctx)
		if err != nil {
			return fmt.Errorf("read the import: %w", err)
		}
		if now.Status != requestimport.StatusRUNNING || now.Done != r.row.Done { // it was stopped, or goes on elsewhere
			after = now
			return nil
		}
		c, n, began := checked{faults: FaultsOf(now)}, 0, time.Now()
		for _, it := range items {
			if n > 0 && time.Since(began) > turn {
				break
			}
			n++
			if c.count(it); it.known || len(it.faults) > 0 {
				continue
			}
			if _, err := op.RunIn(ctx, tx, request.Import, it.in); err != nil {
				return err
			}
		}
		after, err = r.note(ctx, tx, now, c, n)
		return err
	})
	if err == nil {
		r.row = after
	}
	return err
}

// note writes down how far the import has come, and ends it behind its last row.
func (r *running) note(ctx context.Context, tx *op.Tx, now *ent.RequestImport, c checked, n int) (*ent.RequestImport, error) {
	faults, err := json.Marshal(c.faults)
	if err != nil {
		return nil, fmt.Errorf("write the faults: %w", err)
	}
	u := now.Update().AddDone(n).AddImported(n - c.known - c.faulty).AddKnown(c.known).AddFaulty(c.faulty).SetFaults(faults)
	if now.Done+n == now.Rows {
		u = ended(u, requestimport.StatusCOMPLETED, tx.Now(ctx))
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("note how far it has come: %w", err)
	}
	return after, nil
}

// FaultsOf returns the faults that an import keeps.
func FaultsOf(i *ent.RequestImport) []*Fault {
	out := []*Fault{}
	_ = json.Unmarshal(i.Faults, &out) // they are written by note
	return out
}

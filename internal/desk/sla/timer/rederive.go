package timer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent/predicate"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
)

// RederiveArgs is the job that derives the clocks of open requests and tasks anew, after the service levels of an offering or a
// calendar have changed. They apply as if they had always held.
type RederiveArgs struct {
	Company  string `json:"company"`
	Offering string `json:"offering,omitempty"` // derive its open requests
	Calendar string `json:"calendar,omitempty"` // derive everything that uses it

	MailAt time.Time `json:"mailAt,omitzero"` // when people are mailed of all that the change makes due
}

// Kind names the job.
func (RederiveArgs) Kind() string { return "sla_rederive" }

// straggle is the delay of the job's second run. A request that was being filed while the levels changed still got the old
// ones, and commits within the ten seconds that a call may take.
const straggle = 30 * time.Second

// Gather is how long notices of one change are gathered, so that each person gets one mail.
const Gather = 2 * time.Minute

// Rederive inserts the job in the transaction of the change.
func Rederive(ctx context.Context, tx *op.Tx, args RederiveArgs) error {
	args.Company, args.MailAt = tx.Principal().CompanyID, tx.Now(ctx).Add(Gather)
	if err := tx.Insert(ctx, args, time.Time{}); err != nil {
		return err
	}
	args.MailAt = time.Time{} // what falls due besides in the second run is told as ever
	return tx.Insert(ctx, args, tx.Now(ctx).Add(straggle))
}

// A node derives the clocks of one company at a time, and of two in all: the other jobs go on beside it.
const (
	atOnce  = 2
	ofOne   = 1
	nextTry = 2 * time.Second // after which a job comes again whose company's place is taken
)

type rederiver struct {
	river.WorkerDefaults[RederiveArgs]
	engine *op.Engine
	kinds  []Kind
	places *jobs.Places
}

// Timeout is longer than River's default: a company may have a hundred thousand open requests.
func (*rederiver) Timeout(*river.Job[RederiveArgs]) time.Duration { return 10 * time.Minute }

// Work derives the clocks of each kind.
func (w *rederiver) Work(ctx context.Context, job *river.Job[RederiveArgs]) error {
	leave, err := w.places.TakeOrSnooze(job.Args.Company)
	if err != nil {
		return err
	}
	defer leave()
	var errs []error
	for _, k := range w.kinds {
		if err := k.Rederive(ctx, w.engine, job.Args); err != nil {
			errs = append(errs, fmt.Errorf("derive the clocks of %s anew: %w", k.Name, err))
		}
	}
	return errors.Join(errs...)
}

// MarkTasks has the sweep derive the clocks of the open tasks that match anew. They are those of one request.
func MarkTasks(ctx context.Context, tx *op.Tx, now time.Time, match ...predicate.Task) error {
	n, err := tx.Task.Update().Where(append(match, lifecycle.OpenTasks(), task.SLAStateNotNil())...).SetSLANextAt(now).Save(ctx)
	if err != nil {
		return fmt.Errorf("mark tasks: %w", err)
	}
	if n == 0 {
		return nil
	}
	return tx.Insert(ctx, SweepArgs{}, time.Time{})
}

package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	entrequest "atrium/ent/request"
	"atrium/ent/task"
	"atrium/ent/team"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/execution"
)

// A deactivation hands the user's open work over in its own transaction as long as that is short. Where it is much, for which all others
// would wait on SQLite, it commits first, and a job hands over one row after the other. That the caller may change each of them is asked
// before, outside of the transaction.

const (
	handedAtOnce  = 20   // requests and tasks that the deactivation's transaction reassigns, at about 0.5 ms each
	maxHandedOver = 1000 // requests and tasks that one call hands over
)

// held lists the open work assigned to a user, by id.
type held struct{ requests, tasks []string }

func (h held) size() int { return len(h.requests) + len(h.tasks) }

// heldBy returns the open work that is assigned to a user.
func heldBy(ctx context.Context, db *ent.Client, userID string) (out held, err error) {
	out.requests, err = db.Request.Query().Where(entrequest.AssigneeID(userID), lifecycle.OpenRequests()).Order(entrequest.ByID()).IDs(ctx)
	if err != nil {
		return out, fmt.Errorf("look for the user's open requests: %w", err)
	}
	out.tasks, err = db.Task.Query().Where(task.AssigneeID(userID), lifecycle.OpenTasks()).Order(task.ByID()).IDs(ctx)
	if err != nil {
		return out, fmt.Errorf("look for the user's open tasks: %w", err)
	}
	return out, nil
}

// allowed says which rows the caller may hand over.
type allowed struct {
	asked   map[string]bool // the ids that were asked about
	refused bool            // the caller may not change one of them
}

// prepareHandOver asks whether the caller may hand over each row, where they are too many for one transaction.
func prepareHandOver(ctx context.Context, tx *op.Tx, in DeactivateUserInput) (any, error) {
	if in.ReassignTo == nil {
		return nil, nil
	}
	all, err := heldBy(ctx, tx.Client, in.ID)
	if err != nil || all.size() <= handedAtOnce || all.size() > maxHandedOver {
		return nil, err // the operation reports too many
	}
	out := allowed{asked: map[string]bool{}}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		err := permitted(ctx, tx, &out, all.requests, request.Update.Info(), func(ctx context.Context, ids []string) ([]*ent.Request, error) {
			return tx.Request.Query().Where(entrequest.IDIn(ids...)).All(ctx)
		}, func(r ent.Request) (string, *ent.Request) {
			r.AssigneeID, r.TeamID = nil, in.ReassignTo
			return r.ID, &r
		})
		if err != nil {
			return err
		}
		return permitted(ctx, tx, &out, all.tasks, execution.AssignTask.Info(), func(ctx context.Context, ids []string) ([]*ent.Task, error) {
			return tx.Task.Query().Where(task.IDIn(ids...)).All(ctx)
		}, func(t ent.Task) (string, *ent.Task) {
			t.AssigneeID, t.TeamID = nil, in.ReassignTo
			return t.ID, &t
		})
	})
	return out, err
}

// permitted asks about the rows with these ids, as they are and as they become. It holds few of them at a time: one may be a megabyte.
func permitted[Row any](
	ctx context.Context, tx *op.Tx, out *allowed, ids []string, info *op.Info, read func(context.Context, []string) ([]*Row, error), after func(Row) (string, *Row),
) error {
	for some := range slices.Chunk(ids, handedAtOnce) {
		rows, err := read(ctx, some)
		if err != nil {
			return fmt.Errorf("read what is handed over: %w", err)
		}
		for _, row := range rows {
			id, becomes := after(*row)
			out.asked[id] = true
			for _, state := range []*Row{row, becomes} {
				may, err := tx.Permits(ctx, info, state)
				if err != nil {
					return err
				}
				out.refused = out.refused || !may
			}
		}
	}
	return nil
}

// handOver returns the open work that is assigned to a user and, if there is a team, assigns it to the team, now or by a job. Each change
// is an update of its own, with the caller's rights and an audit entry: if the caller may not change one of them, nothing
// changes. Returns conflict when there is too much.
func handOver(ctx context.Context, tx *op.Tx, userID string, teamID *string) (held, error) {
	out, err := heldBy(tx.Unfiltered(ctx, "who holds work that the caller does not see holds work, too"), tx.Client, userID)
	if err != nil || teamID == nil {
		return out, err
	}
	var refs op.Refs
	refs.Check("reassignTo", teamID, "team", op.FindShared(ctx, tx, func(id string) *ent.TeamQuery { return tx.Team.Query().Where(team.ID(id)) }))
	if err := refs.Err(); err != nil {
		return out, err
	}
	switch ready, _ := op.Preparation[allowed](tx); {
	case out.size() > maxHandedOver:
		return out, apperr.New(apperr.Conflict, "The user holds more than %d open requests and tasks. Assign some of them first.", maxHandedOver)
	case out.size() <= handedAtOnce:
		return out, out.handTo(*teamID, func(in request.UpdateInput) error {
			_, err := op.RunIn(ctx, tx, request.Update, in)
			return err
		}, func(in execution.AssignTaskInput) error {
			_, err := op.RunIn(ctx, tx, execution.AssignTask, in)
			return err
		})
	case slices.ContainsFunc(slices.Concat(out.requests, out.tasks), func(id string) bool { return !ready.asked[id] }):
		return out, op.ErrOutdated // more was assigned since
	case ready.refused:
		return out, apperr.New(apperr.Forbidden, "You may not hand over all requests and tasks that the user holds.")
	}
	return out, tx.Insert(ctx, HandOverArgs{Company: tx.Principal().CompanyID, User: userID, Team: *teamID, By: tx.Principal().ID}, time.Time{})
}

// handTo assigns each row to a team by a function, until one fails.
func (h held) handTo(teamID string, update func(request.UpdateInput) error, assign func(execution.AssignTaskInput) error) error {
	for _, id := range h.requests {
		if err := update(request.UpdateInput{ByID: op.ByID{ID: id}, AssigneeID: op.Clear[string](), TeamID: op.SetTo(teamID)}); err != nil {
			return err
		}
	}
	for _, id := range h.tasks {
		if err := assign(execution.AssignTaskInput{ByID: op.ByID{ID: id}, TeamID: &teamID}); err != nil {
			return err
		}
	}
	return nil
}

// HandOverArgs is the job that hands over the open work of a user who was deactivated.
type HandOverArgs struct {
	Company string `json:"company"`
	User    string `json:"user"`
	Team    string `json:"team"`
	By      string `json:"by"` // the id of who deactivated the user
}

// Kind names the job.
func (HandOverArgs) Kind() string { return "people_handover" }

// Work makes a queue hand over work.
func Work(e *op.Engine) jobs.Option {
	return jobs.Work(&handOverWorker{engine: e, places: jobs.NewPlaces(handOversAtOnce, 1, nextTurn)})
}

const (
	handOverWorkerName = "handover"
	handOversAtOnce    = 2 // of a node, of different companies
	nextTurn           = 2 * time.Second
)

type handOverWorker struct {
	river.WorkerDefaults[HandOverArgs]
	engine *op.Engine
	places *jobs.Places
}

// Timeout is that of maxHandedOver updates beside others.
func (*handOverWorker) Timeout(*river.Job[HandOverArgs]) time.Duration { return 5 * time.Minute }

// Work hands over what the user still holds, each row in a transaction of its own, as who deactivated the user or, if they are gone
// themselves, as a worker. A row that this principal may not change any more stays with the user; the refusal is audited.
func (w *handOverWorker) Work(ctx context.Context, job *river.Job[HandOverArgs]) error {
	args := job.Args
	leave, err := w.places.TakeOrSnooze(args.Company)
	if err != nil {
		return err
	}
	defer leave()
	reads, db := w.engine.Reading(ctx, args.Company, handOverWorkerName), w.engine.Store.Reader()
	who, err := notice.AsWhom(reads, db, args.By)
	if err != nil {
		return fmt.Errorf("look up who hands over: %w", err)
	}
	if who == nil {
		who = principal.Worker(args.Company, handOverWorkerName)
	}
	left, err := heldBy(reads, db, args.User)
	if err != nil {
		return err
	}
	ctx = principal.With(ctx, who)
	var failed []error
	keep := func(err error) error {
		switch apperr.CodeOf(err) {
		case apperr.Forbidden, apperr.NotFound, apperr.Conflict, apperr.Validation:
			w.engine.Log.WarnContext(ctx, "a row stays with a user who was deactivated", "error", err, "company", args.Company, "user", args.User)
			return nil
		}
		if err != nil {
			failed = append(failed, err)
		}
		return ctx.Err()
	}
	err = left.handTo(args.Team, func(in request.UpdateInput) error {
		_, _, err := op.Run(ctx, w.engine, request.Update, in, nil)
		return keep(err)
	}, func(in execution.AssignTaskInput) error {
		_, _, err := op.Run(ctx, w.engine, execution.AssignTask, in, nil)
		return keep(err)
	})
	return errors.Join(append(failed, err)...)
}

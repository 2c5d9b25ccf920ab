package notice

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// worker is the name of the package's jobs in audit entries.
const worker = "notices"

// MaxTold is the maximum number of people who get one notice.
const MaxTold = 500

// Args is the job that notifies the assignee of a request or a task, also of a request that was opened again. It
// reads the row when it runs, so a person who is no longer the assignee gets no notice.
type Args struct {
	Company string `json:"company"`
	Request string `json:"request,omitempty"` // the request that was assigned, or empty
	Task    string `json:"task,omitempty"`
	By      string `json:"by"` // who assigned it, or opened it again; gets no notice

	MailAt time.Time `json:"mailAt,omitzero"` // see events.Cause

	Reopened bool `json:"reopened,omitempty"` // the request was opened again: without an assignee, its team is told
}

// Kind returns the name of the job.
func (Args) Kind() string { return "notice" }

// InsertOpts puts the job into the queue of notices.
func (a Args) InsertOpts() river.InsertOpts { return jobs.ToTell(!a.MailAt.IsZero()) }

// Follow returns the subscriber that inserts jobs when a task is assigned, and when a request ends or is opened again.
func Follow(queue *jobs.Queue) events.Subscriber {
	return func(ctx context.Context, tx *store.Tx, e events.Emitted) error {
		by := ""
		if p, ok := principal.From(ctx); ok {
			by = p.ID
		}
		told := ProgressArgs{Company: e.CompanyID, Request: e.SubjectID, By: by, Reopened: e.Type == events.RequestReopened}
		watchers := told
		watchers.Watchers = true
		switch e.Type {
		case events.TaskAssigned:
			return queue.InsertTx(ctx, tx, Args{Company: e.CompanyID, Task: e.SubjectID, By: by, MailAt: e.Cause.MailAt}, time.Time{})
		case events.RequestReopened:
			return queue.InsertManyTx(ctx, tx, jobs.Job{Args: Args{Company: e.CompanyID, Request: e.SubjectID, By: by, Reopened: true, MailAt: e.Cause.MailAt}},
				jobs.Job{Args: told}, jobs.Job{Args: watchers})
		case events.RequestCompleted, events.RequestCancelled:
			return queue.InsertManyTx(ctx, tx, jobs.Job{Args: told}, jobs.Job{Args: watchers})
		}
		return nil
	}
}

// Reads are the operations that decide whether a person may read a request, a comment or a task. Shown returns what the mail of a task tells
// of earlier results, the empty text for nothing; nil: it tells nothing.
type Reads struct {
	Request, Comment, Task *op.Info

	Shown func(ctx context.Context, db *ent.Client, t *ent.Task) (locale.Text, error)
}

// assigned works the jobs.
type assigned struct {
	river.WorkerDefaults[Args]
	engine *op.Engine
	reads  Reads
}

// Work notifies the people and completes the job in one transaction.
func (w *assigned) Work(ctx context.Context, job *river.Job[Args]) error {
	a := job.Args
	people, note, err := w.find(outside(ctx, w.engine, a.Company), a)
	if err != nil {
		return err
	}
	return Finish(ctx, w.engine, a.Company, worker, people, note, job.JobRow)
}

// outside returns the context of what the worker reads of a company before its transaction.
func outside(ctx context.Context, e *op.Engine, companyID string) context.Context {
	return clock.With(principal.With(ctx, principal.Worker(companyID, worker)), e.Store.Clock())
}

// find returns the recipients and the notice.
func (w *assigned) find(ctx context.Context, a Args) ([]*ent.User, Note, error) {
	db := w.engine.Store.Reader()
	note := Note{Kind: Assigned, MailAt: a.MailAt}
	if a.Task == "" {
		r, err := db.Request.Query().Where(request.ID(a.Request)).Only(ctx)
		if ent.IsNotFound(err) {
			return nil, note, nil
		}
		if err != nil {
			return nil, note, fmt.Errorf("read the request: %w", err)
		}
		if a.Reopened && !lifecycle.RequestOpen(r.Status) { // it has ended again meanwhile
			return nil, note, nil
		}
		who, err := authorOf(ctx, w.engine, a.By)
		if err != nil {
			return nil, note, err
		}
		note.About, note.RequestID = Named(r), &r.ID
		team := (*string)(nil)
		if a.Reopened {
			note.Subject, team = locale.Say("Reopened: %s", note.About), r.TeamID
			note.Text = []locale.Text{by(who, locale.Say("%s reopened this request.", who), locale.Say("This request was reopened."))}
			reason, err := reasonOf(ctx, w.engine, a.Request)
			if err != nil {
				return nil, note, err
			}
			note.Quote = mail.Quote(reason, MaxQuote)
		} else {
			note.Subject, note.Markdown = locale.Say("Assigned to you: %s", note.About), r.Format == request.FormatMarkdown
			if note.Quote, err = quoted(ctx, w.engine, r.Description, note.Markdown); err != nil {
				return nil, note, err
			}
			note.Text = []locale.Text{by(who, locale.Say("%s assigned this request to you.", who), locale.Say("This request was assigned to you."))}
		}
		people, err := w.people(ctx, a, r.AssigneeID, team, w.reads.Request, r)
		if err == nil && a.Reopened && len(people) == 0 {
			people, err = w.heard(ctx, a, r)
		}
		if err != nil || a.Reopened {
			return people, note, err
		}
		files, err := filesOf(ctx, w.engine, a.Company, people, r.ID, "")
		note.Text = append(note.Text, files...)
		return people, note, err
	}
	t, err := db.Task.Query().Where(task.ID(a.Task), lifecycle.OpenTasks()).WithRequest().Only(ctx)
	if ent.IsNotFound(err) { // the task was completed or cancelled meanwhile
		return nil, note, nil
	}
	if err != nil {
		return nil, note, fmt.Errorf("read the task: %w", err)
	}
	title := mail.Plain(t.Title, 100)
	note.Subject, note.RequestID, note.Confidential = locale.Say("A task for you: %s", title), t.RequestID, true
	note.Named, note.Asks = true, t.ID
	note.Text = []locale.Text{locale.Say("A task waits for you: %s", title)}
	if r := t.Edges.Request; r != nil {
		note.About = Named(r)
	}
	if w.reads.Shown != nil {
		shown, err := w.reads.Shown(ctx, db, t)
		if err != nil {
			return nil, note, err
		}
		if !shown.Empty() {
			note.Text = append(note.Text, shown)
		}
	}
	people, err := w.people(ctx, a, t.AssigneeID, t.TeamID, w.reads.Task, t)
	return people, note, err
}

// people returns the assignee, or without one the members of the team, if they may read the row.
func (w *assigned) people(ctx context.Context, a Args, userID, teamID *string, by *op.Info, row any) ([]*ent.User, error) {
	q := w.engine.Store.Reader().User.Query().Where(user.StatusEQ(user.StatusActive), user.IDNEQ(a.By)).Order(user.ByID()).Limit(MaxTold)
	switch {
	case userID != nil:
		q.Where(user.ID(*userID))
	case teamID != nil:
		q.Where(user.HasMembershipsWith(teammember.TeamID(*teamID)))
	default:
		return nil, nil
	}
	users, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up whom to tell: %w", err)
	}
	return ReadersOutside(ctx, w.engine, a.Company, worker, users, by, row, a.Task != "")
}

// heard returns who of the desk hears that a requester has opened a request again of which nobody would hear otherwise.
func (w *assigned) heard(ctx context.Context, a Args, r *ent.Request) ([]*ent.User, error) {
	if asks, err := asks(ctx, w.engine, a.By, r); err != nil || !asks {
		return nil, err
	}
	people, err := deskOf(ctx, w.engine, a.Company, r, w.reads.Request, r)
	if err != nil {
		return nil, err
	}
	watchers, err := watchersOf(ctx, w.engine, r.ID) // who hear of it as such
	return slices.DeleteFunc(people, func(u *ent.User) bool { return u.ID == a.By || slices.Contains(watchers, u.ID) }), err
}

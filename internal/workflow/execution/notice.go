package execution

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/request"
	"atrium/internal/notify/mail"
	"atrium/internal/notify/notice"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/workflow/definition"
)

// notices holds the texts of notices by occasion, which is a kind of package notice.
var notices = map[string]struct {
	subject func(about string) locale.Text
	text    locale.Text
}{
	notice.Informed: {
		func(about string) locale.Text { return locale.Say("Done: %s", about) },
		locale.Say("The workflow has left a phase that you are informed about."),
	},
	notice.Consulted: {
		func(about string) locale.Text { return locale.Say("Your advice is needed: %s", about) },
		locale.Say("The workflow has entered a phase that you are consulted about. Please comment on the request."),
	},
	notice.Approval: {
		func(about string) locale.Text { return locale.Say("Your approval is needed: %s", about) },
		locale.Say("The workflow waits for your decision."),
	},
	notice.Incident: {
		func(about string) locale.Text { return locale.Say("Workflow error: %s", about) },
		locale.Say("A workflow has stopped with an error. Please look at it."),
	},
}

// NoticeArgs is the job that notifies people of what happened in an execution.
type NoticeArgs struct {
	Company   string   `json:"company"`
	Execution string   `json:"execution"`
	Occasion  string   `json:"occasion"` // a key of notices
	What      string   `json:"what"`     // the phase's title, or what went wrong
	Users     []string `json:"users"`
	Teams     []string `json:"teams"`
	Approval  string   `json:"approval,omitempty"` // that the occasion is about; empty for none
	Admins    bool     `json:"admins"`             // notify owners and admins, because nobody else is named
}

// Kind names the job.
func (NoticeArgs) Kind() string { return "execution_notice" }

// InsertOpts puts the job into the queue of notices.
func (NoticeArgs) InsertOpts() river.InsertOpts { return jobs.ToTell(false) }

// notice returns the job that notifies participants.
func (p *plan) notice(occasion, what string, to []definition.Participant) NoticeArgs {
	a := NoticeArgs{Company: p.row.CompanyID, Execution: p.row.ID, Occasion: occasion, What: what}
	for _, one := range to {
		switch one.Type {
		case "user":
			a.Users = append(a.Users, one.ID)
		case "team":
			a.Teams = append(a.Teams, one.ID)
		}
	}
	a.Admins = occasion == notice.Incident && len(a.Users)+len(a.Teams) == 0
	return a
}

// noticeWorker works the jobs of notices.
type noticeWorker struct {
	river.WorkerDefaults[NoticeArgs]
	r *Runner
}

// Work notifies each person, in one transaction with the completion of the job.
func (t *noticeWorker) Work(ctx context.Context, job *river.Job[NoticeArgs]) error {
	a := job.Args
	outside := t.r.Engine.Reading(ctx, a.Company, workerName)
	people, note, err := t.find(outside, a)
	if err != nil {
		return err
	}
	return notice.Finish(ctx, t.r.Engine, a.Company, workerName, people, note, job.JobRow)
}

// find returns the people to notify, if they may read what the notice is about, and the notice.
func (t *noticeWorker) find(ctx context.Context, a NoticeArgs) ([]*ent.User, notice.Note, error) {
	db, n := t.r.Engine.Store.Reader(), notices[a.Occasion]
	e, err := db.Execution.Query().Where(execution.ID(a.Execution)).WithRequest().WithWorkflow().Only(ctx)
	if err != nil {
		return nil, notice.Note{}, fmt.Errorf("read the execution: %w", err)
	}
	to := user.Or(user.IDIn(a.Users...), user.HasMembershipsWith(teammember.TeamIDIn(a.Teams...)))
	if a.Admins {
		to = user.RoleIn(user.RoleOwner, user.RoleAdmin)
	}
	if a.Approval != "" {
		still, err := notice.Asked(ctx, db, a.Approval)
		if err != nil {
			return nil, notice.Note{}, err
		}
		to = user.And(to, still)
	}
	people, err := db.User.Query().Where(to, user.StatusEQ(user.StatusActive)).Order(user.ByID()).Limit(notice.MaxTold).All(ctx)
	if err != nil {
		return nil, notice.Note{}, fmt.Errorf("look up whom to tell: %w", err)
	}
	workflow := mail.Plain(e.Edges.Workflow.Name, 100)
	about, title := workflow, ""
	by, row := Get.Info(), any(e)
	if r := e.Edges.Request; r != nil {
		about, title = notice.Named(r), notice.Named(r)
		by, row = request.Get.Info(), r
	}
	note := notice.Note{Kind: a.Occasion, Subject: n.subject(about), About: title, RequestID: e.RequestID, ExecutionID: &e.ID, Confidential: true, Text: []locale.Text{
		n.text, locale.Say("Workflow: %s\nWhat: %s", workflow, mail.Plain(a.What, 500)),
	}}
	if a.Approval != "" {
		approval, err := db.Approval.Get(ctx, a.Approval)
		if ent.IsNotFound(err) {
			return nil, notice.Note{}, nil // it went with its request
		}
		if err != nil {
			return nil, notice.Note{}, fmt.Errorf("read the approval: %w", err)
		}
		shown, err := mailed(ctx, db, ofApproval(approval))
		if err != nil {
			return nil, notice.Note{}, err
		}
		if !shown.Empty() {
			note.Text = append(note.Text, shown)
		}
	}
	note.Decide = a.Occasion == notice.Approval && e.RequestID != nil
	note.Named, note.Asks = a.Occasion != notice.Incident, a.Approval // the workflow names them
	readers, err := notice.ReadersOutside(ctx, t.r.Engine, a.Company, workerName, people, by, row, note.Named)
	return readers, note, err
}

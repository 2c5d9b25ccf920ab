package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/riverqueue/river"

	"atrium/ent/execution"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/clock"
	"atrium/internal/mail"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/workflow/definition"
)

// notices are what people are told by mail, by the occasion.
var notices = map[string]struct{ subject, text string }{
	"informed":  {"Done: ", "The workflow has left a phase that you are informed about."},
	"consulted": {"Your advice is asked: ", "The workflow has entered a phase that you are consulted about. Please comment on the request."},
	"approval":  {"Your approval is asked: ", "The workflow waits for your decision."},
	"incident":  {"A workflow waits for help: ", "A workflow cannot go on by itself. Please look at its incident."},
}

// NoticeArgs is the job that mails people what happened in an execution.
type NoticeArgs struct {
	Company   string   `json:"company"`
	Execution string   `json:"execution"`
	Occasion  string   `json:"occasion"` // of notices
	What      string   `json:"what"`     // the phase's title, or what went wrong
	Users     []string `json:"users"`
	Teams     []string `json:"teams"`
	Admins    bool     `json:"admins"` // whoever sees to the company's workflows, where nobody is named
}

// Kind names the job.
func (NoticeArgs) Kind() string { return "execution_notice" }

// InsertOpts put the job behind steps.
func (NoticeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueName, Priority: 2}
}

// notice returns the job that tells participants of something.
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
	a.Admins = occasion == "incident" && len(a.Users)+len(a.Teams) == 0
	return a
}

// teller performs the jobs of notices.
type teller struct {
	river.WorkerDefaults[NoticeArgs]
	r *Runner
}

// Work queues a mail for each person, in one transaction with the end of the job.
func (t *teller) Work(ctx context.Context, job *river.Job[NoticeArgs]) error {
	a, n := job.Args, notices[job.Args.Occasion]
	ctx = clock.With(principal.With(ctx, principal.Worker(a.Company, workerName)), t.r.Engine.Store.Clock())
	return t.r.Engine.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		e, err := tx.Execution.Query().Where(execution.ID(a.Execution)).WithRequest().WithWorkflow().Only(ctx)
		if err != nil {
			return fmt.Errorf("read the execution: %w", err)
		}
		to := user.Or(user.IDIn(a.Users...), user.HasMembershipsWith(teammember.TeamIDIn(a.Teams...)))
		if a.Admins {
			to = user.RoleIn(user.RoleOwner, user.RoleAdmin)
		}
		people, err := tx.User.Query().Where(to, user.StatusEQ(user.StatusActive)).All(ctx)
		if err != nil {
			return fmt.Errorf("look up whom to tell: %w", err)
		}
		about, lines := e.Edges.Workflow.Name, []string{n.text, "", "Workflow: " + mail.Line(e.Edges.Workflow.Name, 100)}
		if r := e.Edges.Request; r != nil {
			about = r.Title
			lines = append(lines, "Request: "+mail.Line(r.Title, 200)+" ("+r.ID+")")
		}
		lines = append(lines, "What: "+mail.Line(a.What, 500), "Execution: "+e.ID, "")
		for _, u := range slices.Compact(people) {
			err := t.r.Mail.Enqueue(ctx, tx, mail.Message{To: u.Email, Subject: n.subject + mail.Line(about, 100), Text: strings.Join(lines, "\n")})
			if err != nil {
				return fmt.Errorf("mail %s: %w", u.ID, err)
			}
		}
		return t.r.Queue.CompleteTx(ctx, tx, job.JobRow)
	})
}

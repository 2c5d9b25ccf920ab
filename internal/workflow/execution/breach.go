package execution

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	domain "atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
)

// BreachArgs is the job that notifies the people accountable for a phase that a target of a request was missed.
type BreachArgs struct {
	Company string  `json:"company"`
	Request string  `json:"request"`
	Target  string  `json:"target"`
	DueAt   string  `json:"dueAt"`
	Event   string  `json:"event"` // the id of the event that tells of the breach
	Phase   *string `json:"phase"` // the phase whose target it is; nil for the request's own target, which concerns the current phase

	MailAt time.Time `json:"mailAt,omitzero"` // see events.Cause
}

// Kind names the job.
func (BreachArgs) Kind() string { return "sla_breach" }

// InsertOpts puts the job into the queue of notices.
func (a BreachArgs) InsertOpts() river.InsertOpts { return jobs.ToTell(!a.MailAt.IsZero()) }

// followBreach inserts a BreachArgs job in the transaction of the event.
func followBreach(ctx context.Context, tx *store.Tx, queue *jobs.Queue, e events.Emitted) error {
	var payload struct{ Data events.SLA }
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return fmt.Errorf("read the event %s: %w", e.ID, err)
	}
	d := payload.Data
	return queue.InsertTx(ctx, tx, BreachArgs{Company: e.CompanyID, Request: d.ID, Target: d.Target, DueAt: d.DueAt, Event: e.ID, Phase: d.PhaseID, MailAt: e.Cause.MailAt}, time.Time{})
}

// breachWorker works the jobs of BreachArgs.
type breachWorker struct {
	river.WorkerDefaults[BreachArgs]
	r *Runner
}

// Work finds the people accountable for the phase and has them notified. It notifies nobody if the request has no
// workflow or nobody is accountable for the phase: the offering's escalations say who else hears of it.
func (b *breachWorker) Work(ctx context.Context, job *river.Job[BreachArgs]) error {
	a, db := job.Args, b.r.Engine.Store.Reader()
	ctx = b.r.Engine.Reading(ctx, a.Company, timer.Worker)
	r, err := db.Request.Get(ctx, a.Request)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if r.ExecutionID == nil {
		return nil
	}
	row, err := db.Execution.Get(ctx, *r.ExecutionID)
	if err != nil {
		return fmt.Errorf("read the execution: %w", err)
	}
	d, err := versionOf(ctx, db, row.WorkflowID, row.WorkflowVersion)
	if err != nil {
		return err
	}
	phases := Standing(row) // none before the execution has begun
	if a.Phase != nil {
		phases = []string{*a.Phase}
	}
	n := domain.NoticeArgs{Company: a.Company, Request: a.Request, Occasion: "breached", Key: "breached/" + a.Event, MailAt: a.MailAt}
	title := ""
	for _, id := range phases {
		p := d.Phase(id)
		if p == nil {
			continue
		}
		list, err := peopleNow(ctx, db, nowAt{row.ID, &a.Request, 0}, p, accountable)
		if err != nil {
			return err
		}
		for _, one := range list {
			title = cmp.Or(title, p.Title())
			switch one.Type {
			case "user":
				n.Users = append(n.Users, one.ID)
			case "team":
				n.Teams = append(n.Teams, one.ID)
			}
		}
	}
	if len(n.Users)+len(n.Teams) == 0 {
		return nil
	}
	due, err := time.Parse(time.RFC3339, a.DueAt)
	if err != nil {
		return fmt.Errorf("read when the request was due: %w", err)
	}
	n.Late = domain.Late{Target: sla.Target(a.Target), DueAt: due, Phase: title}
	return domain.GiveNotice(ctx, b.r.Engine, n, job.JobRow)
}

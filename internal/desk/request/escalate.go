package request

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/team"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/audit"
)

// Fire performs what has fallen due. It commits with the line that records it.
func (c *clocks) Fire(ctx context.Context, r *ent.Request, f sla.Firing) (*ent.Request, error) {
	if f.Kind == sla.Escalated {
		return c.escalate(ctx, r, f)
	}
	if err := c.remind(ctx, r, f); err != nil {
		return nil, err
	}
	return r, timer.Emit(ctx, c.Tx, r, f, nil, c.cause)
}

// remind notifies the assignee, or else the team, that the request is due soon or late. If it has neither, nobody is notified
// here: escalations say who else hears of it.
func (c *clocks) remind(ctx context.Context, r *ent.Request, f sla.Firing) error {
	n := NoticeArgs{Company: r.CompanyID, Request: r.ID, Occasion: "warning", Late: late(f), MailAt: c.cause.MailAt}
	if f.Kind == sla.Breached {
		n.Occasion = "breached"
	}
	n.Key = n.Occasion + "/" + f.Key
	switch {
	case r.AssigneeID != nil:
		n.Users = []string{*r.AssigneeID}
	case r.TeamID != nil:
		n.Teams = []string{*r.TeamID}
	default:
		return nil
	}
	return c.Tx.Insert(ctx, n, time.Time{}) // the job asks the policies about each person, which must not happen in this transaction
}

// raised maps each priority to the next higher one; URGENT has none.
var raised = map[request.Priority]request.Priority{
	request.PriorityLOW: request.PriorityMEDIUM, request.PriorityMEDIUM: request.PriorityHIGH, request.PriorityHIGH: request.PriorityURGENT,
}

// change is Update, which escalations use. An update advances the clock and so may escalate; init closes this cycle, because Go
// refuses it in the declaration.
var change *op.Operation[UpdateInput, *ent.Request]

func init() { change = Update }

// escalate performs a rule through the operations that a person would use. If it cannot, because the team was deleted or no
// priority is higher, it leaves the request as it is; the audit entry still says that the escalation fell due.
func (c *clocks) escalate(ctx context.Context, r *ent.Request, f sla.Firing) (*ent.Request, error) {
	e := f.Escalation
	in := UpdateInput{ByID: op.ByID{ID: r.ID}, Cause: c.cause, Escalates: true}
	switch e.Do {
	case sla.Notify:
		n := NoticeArgs{Company: r.CompanyID, Request: r.ID, Occasion: "escalated", Key: f.Key, Late: late(f), Fallback: e.TeamID == nil, MailAt: c.cause.MailAt}
		if e.TeamID != nil {
			n.Teams = []string{*e.TeamID}
		}
		return r, c.Tx.Insert(ctx, n, time.Time{}) // the operation that sends the mail is audited
	case sla.Raise:
		if to, ok := raised[r.Priority]; ok {
			in.Priority = op.SetTo(string(to))
		}
	case sla.Reassign:
		there, err := op.Share(c.Tx, c.Tx.Team.Query().Where(team.ID(op.Or(e.TeamID, "")))).Exist(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the team: %w", err)
		}
		if there {
			in.TeamID, in.AssigneeID = op.SetTo(*e.TeamID), op.Clear[string]()
		}
	}
	err := c.Tx.Note(ctx, "request.escalated", "Request", r.ID, map[string]audit.Change{
		"do": {To: e.Do}, "of": {To: e.Of}, "afterMinutes": {To: e.AfterMinutes},
	})
	if err != nil || !op.Sets(in) {
		return r, err
	}
	r, err = op.RunIn(ctx, c.Tx, change, in)
	return r, err
}

// late describes a target's state, for a mail.
func late(f sla.Firing) Late {
	return Late{Target: f.Target, DueAt: f.DueAt, Near: f.At.Before(f.DueAt)}
}

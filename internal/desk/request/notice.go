package request

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/slaevent"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/notify/mail"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// NoticeArgs is the job that notifies people about the state of a request's clock.
type NoticeArgs struct {
	Company  string   `json:"company"`
	Request  string   `json:"request"`
	Occasion string   `json:"occasion"` // a key of occasions
	Key      string   `json:"key"`      // the occasion and what has fallen due
	Late     Late     `json:"late,omitzero"`
	Users    []string `json:"users,omitempty"`
	Teams    []string `json:"teams,omitempty"`
	Fallback bool     `json:"fallback,omitempty"` // tell the request's assignee, else its team, else the admins

	MailAt time.Time `json:"mailAt,omitzero"` // see events.Cause

	What string `json:"what,omitempty"` // the sentence of Late, in a job of the release before
}

// Late says which target of a request is near or was missed.
type Late struct {
	Target sla.Target `json:"target"`
	DueAt  time.Time  `json:"dueAt,omitzero"`  // zero for a request that waits without a target
	Near   bool       `json:"near,omitempty"`  // not missed yet
	Phase  string     `json:"phase,omitempty"` // title of the phase that those who are told are accountable for; empty for none
}

// occasions maps occasions to a kind of notice and to its subject.
var occasions = map[string]struct {
	kind    string
	subject func(about string) locale.Text
}{
	"warning":   {notice.Warning, func(about string) locale.Text { return locale.Say("Due soon: %s", about) }},
	"escalated": {notice.Warning, func(about string) locale.Text { return locale.Say("Please look at: %s", about) }},
	"breached":  {notice.Breached, func(about string) locale.Text { return locale.Say("Late: %s", about) }},
}

// text returns what people are told.
func (n NoticeArgs) text() locale.Text {
	what := n.Late.sentence()
	if n.What != "" {
		what = locale.Raw(mail.Plain(n.What, 300))
	}
	if n.Late.Phase != "" {
		phase := mail.Plain(n.Late.Phase, 100)
		return locale.Say("This request asks for your attention. You are accountable for its phase “%s”. %s", phase, what)
	}
	return locale.Say("This request asks for your attention. %s", what)
}

func (l Late) sentence() locale.Text {
	switch {
	case l.DueAt.IsZero():
		return locale.Say("It has been waiting for long.")
	case l.Target == sla.Resolution && l.Near:
		return locale.Say("It is due to be completed by %s, which is soon.", l.DueAt)
	case l.Target == sla.Resolution:
		return locale.Say("It should have been completed by %s.", l.DueAt)
	case l.Near:
		return locale.Say("It needs a first response by %s, which is soon.", l.DueAt)
	}
	return locale.Say("It should have had a first response by %s.", l.DueAt)
}

// Kind names the job.
func (NoticeArgs) Kind() string { return "sla_notice" }

// InsertOpts puts the job into the queue of notices.
func (n NoticeArgs) InsertOpts() river.InsertOpts { return jobs.ToTell(!n.MailAt.IsZero()) }

// noticer works the jobs of NoticeArgs.
type noticer struct {
	river.WorkerDefaults[NoticeArgs]
	engine *op.Engine
}

// Work gives the notice.
func (n *noticer) Work(ctx context.Context, job *river.Job[NoticeArgs]) error {
	return GiveNotice(ctx, n.engine, job.Args, job.JobRow)
}

// GiveNotice performs sendNotice, which asks the policies before the transaction, and completes the worker's job in the same
// transaction: each job notifies once.
func GiveNotice(ctx context.Context, e *op.Engine, n NoticeArgs, job *rivertype.JobRow) error {
	who := principal.Worker(n.Company, timer.Worker)
	ready, err := op.Prepare(clock.With(ctx, e.Store.Clock()), e, who, sendNotice, notifyInput{ByID: op.ByID{ID: n.Request}, Notice: n})
	if err != nil {
		return err
	}
	return e.WorkAs(ctx, who, func(ctx context.Context, tx *op.Tx) error {
		if _, err := op.RunReady(ctx, tx, sendNotice, ready); err != nil {
			return err
		}
		return tx.Complete(ctx, job)
	})
}

// sendNotice notifies people about the state of a request's clock, if they are active and may read the request. No role grants
// it.
var sendNotice = op.OnRow("request.notify", op.Spec{
	Resource: "Request", Action: op.Update, Past: map[string]string{"request.notify": "request.notified"},
	Summary: "Tell people that a request is late",
}, load, notify).Prepared(prepareNotify)

// notifyInput says who is notified and what they are told.
type notifyInput struct {
	op.ByID
	Notice NoticeArgs `json:"-"`
}

// readers are the people to notify. They are found before the transaction, because the company's policies are asked about
// each of them.
type readers []*ent.User

func prepareNotify(ctx context.Context, tx *op.Tx, in notifyInput) (any, error) {
	r, err := tx.Request.Get(ctx, in.Notice.Request)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if target, warns := strings.CutPrefix(in.Notice.Key, "warning/"); warns {
		late, err := tx.SLAEvent.Query().Where(slaevent.SubjectID(r.ID), slaevent.KindEQ(slaevent.KindBREACHED), slaevent.Key(target)).Exist(ctx)
		if err != nil || late { // since then it was missed, which is told on its own
			return readers{}, err
		}
	}
	to := user.Or(user.IDIn(in.Notice.Users...), inTeams(in.Notice.Teams))
	if in.Notice.Fallback {
		switch {
		case r.AssigneeID != nil:
			to = user.ID(*r.AssigneeID)
		case r.TeamID != nil:
			to = inTeams([]string{*r.TeamID})
		default:
			to = user.RoleIn(user.RoleOwner, user.RoleAdmin)
		}
	}
	people, err := tx.User.Query().Where(to, user.StatusEQ(user.StatusActive)).Order(user.ByID()).Limit(notice.MaxTold).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up whom to tell: %w", err)
	}
	out, err := notice.Readers(ctx, tx, people, func(ctx context.Context, who *principal.Principal) (bool, error) {
		return tx.ReadableBy(ctx, who, Get.Info(), r)
	})
	if err != nil {
		return nil, err
	}
	return readers(out), nil
}

func inTeams(ids []string) predicate.User {
	return user.HasMembershipsWith(teammember.TeamIDIn(ids...))
}

// notify notifies the people. A sandbox notifies nobody.
func notify(ctx context.Context, tx *op.Tx, r *ent.Request, in notifyInput) (*ent.Request, error) {
	people, _ := op.Preparation[readers](tx)
	o := occasions[in.Notice.Occasion]
	err := notice.Send(ctx, tx, people, notice.Note{
		Kind: o.kind, MailAt: in.Notice.MailAt, Subject: o.subject(notice.Named(r)), About: notice.Named(r), RequestID: &r.ID, Text: []locale.Text{in.Notice.text()},
	})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(people))
	for i, u := range people {
		ids[i] = u.ID
	}
	slices.Sort(ids)
	tx.ChangedField("people", nil, ids)
	return r, nil
}

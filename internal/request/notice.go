package request

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/slaevent"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/clock"
	"atrium/internal/mail"
	"atrium/internal/notice"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// NoticeArgs is the job that notifies people about the state of a request's clock.
type NoticeArgs struct {
	Company  string   `json:"company"`
	Request  string   `json:"request"`
	Occasion string   `json:"occasion"` // a key of occasions
	Key      string   `json:"key"`      // unique among the request's occasions: each is told once
	What     string   `json:"what"`     // one sentence
	Users    []string `json:"users,omitempty"`
	Teams    []string `json:"teams,omitempty"`
	Fallback bool     `json:"fallback,omitempty"` // tell the request's assignee, else its team, else the admins
}

// occasions maps occasions to a kind of notice and to the beginning of its subject.
var occasions = map[string]struct{ kind, subject string }{
	"warning": {notice.Warning, "Due soon: "}, "escalated": {notice.Warning, "Please look at: "}, "breached": {notice.Breached, "Late: "},
}

// Kind names the job.
func (NoticeArgs) Kind() string { return "sla_notice" }

// noticer works the jobs of NoticeArgs.
type noticer struct {
	river.WorkerDefaults[NoticeArgs]
	engine *op.Engine
}

// Work runs the operation Notify, which asks the policies before its transaction.
func (n *noticer) Work(ctx context.Context, job *river.Job[NoticeArgs]) error {
	ctx = clock.With(principal.With(ctx, principal.Worker(job.Args.Company, slaWorker)), n.engine.Store.Clock())
	_, _, err := op.Run(ctx, n.engine, Notify, NotifyInput{ByID: op.ByID{ID: job.Args.Request}, Notice: job.Args}, nil)
	return err
}

// Notify notifies people about the state of a request's clock, if they are active and may read the request. No role grants
// it.
var Notify = op.OnRow("request.notify", op.Spec{
	Resource: "Request", Action: op.Update, Past: map[string]string{"request.notify": "request.notified"},
	Summary: "Tell people that a request is late",
}, load, notify).Prepared(prepareNotify)

// NotifyInput says who is notified and what they are told.
type NotifyInput struct {
	op.ByID
	Notice NoticeArgs `json:"-"`
}

// readers are the people to notify. They are found before the transaction, because the company's policies are asked about
// each of them.
type readers []*ent.User

func prepareNotify(ctx context.Context, tx *op.Tx, in NotifyInput) (any, error) {
	r, err := tx.Request.Get(ctx, in.Notice.Request)
	if err != nil {
		return nil, ignoreMissing(err)
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

// notify notifies the people, unless this occasion was told before. A sandbox notifies nobody.
func notify(ctx context.Context, tx *op.Tx, r *ent.Request, in NotifyInput) (*ent.Request, error) {
	people, _ := op.Preparation[readers](tx)
	all := tx.Unfiltered(ctx, "the clock's log is the product's own")
	told := tx.SLAEvent.Query().Where(slaevent.SubjectID(r.ID), slaevent.KindEQ(slaevent.KindESCALATED), slaevent.Key("told/"+in.Notice.Key))
	again, err := told.Exist(all)
	if err != nil {
		return nil, fmt.Errorf("look whether people have been told: %w", err)
	}
	if again {
		return r, nil // the job has run before
	}
	if err := tx.SLAEvent.Create().SetSubjectID(r.ID).SetKind(slaevent.KindESCALATED).SetKey("told/" + in.Notice.Key).SetAt(tx.Now(ctx)).Exec(all); err != nil {
		return nil, fmt.Errorf("note that people were told: %w", err)
	}
	ids := make([]string, 0, len(people))
	for _, u := range people {
		ids = append(ids, u.ID)
		o := occasions[in.Notice.Occasion]
		err := notice.Send(ctx, tx, u, notice.Note{Kind: o.kind, Subject: o.subject + mail.Line(r.Title, 100), RequestID: &r.ID, Text: []string{
			"Hello " + mail.Line(u.Name, 60) + ",",
			"the request “" + mail.Line(r.Title, 100) + "” (" + r.ID + ") asks for your attention. " + mail.Line(in.Notice.What, 300) + " Sign in to look at it.",
		}})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	tx.ChangedField("people", nil, ids)
	return r, nil
}

// countsBy matches the requests whose offering uses a calendar.
func countsBy(calendarID string) predicate.Request {
	return func(s *sql.Selector) {
		o := sql.Dialect(s.Dialect()).Table(offering.Table)
		s.Where(sql.In(s.C(request.FieldOfferingID), sql.Dialect(s.Dialect()).Select(o.C(offering.FieldID)).From(o).
			Where(sql.And(sql.ColumnsEQ(o.C(offering.FieldCompanyID), s.C(request.FieldCompanyID)), sql.EQ(o.C(offering.FieldCalendarID), calendarID)))))
	}
}

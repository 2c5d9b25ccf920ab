package reportmail

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/reportsubscription"
	"atrium/ent/user"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/workflow/schedule"
)

const (
	worker  = "report mails"
	queue   = "reports"
	atOnce  = 2                  // reports of a node
	ofOne   = 1                  // of them of one company
	nextTry = 2 * time.Second    // after which one comes again whose company's place is taken
	timeout = 30 * time.Second   // of one report with its mail; the report alone is bounded by package request
	late    = 3 * 24 * time.Hour // after which a Monday is skipped
	moved   = 2 * 24 * time.Hour // two Mondays are nearer only where somebody has gone to another time zone
)

// mondays are when reports are mailed, in their reader's time zone.
var mondays = &schedule.Every{Unit: "WEEK", At: "07:00", Weekdays: []string{"mon"}}

// nextMonday returns the first time after a moment at which reports are mailed in a zone.
func nextMonday(after time.Time, zone *time.Location) (time.Time, error) {
	return mondays.After(after, zone)
}

// Args is the job of one Monday of a subscription.
type Args struct {
	Company string    `json:"company"`
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
}

// Kind names the job.
func (Args) Kind() string { return "report_mail" }

// InsertOpts puts reports into their own queue, so that Monday's do not hold up other jobs.
func (Args) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queue} }

// Work makes a queue mail reports.
func Work(e *op.Engine) jobs.Option {
	return jobs.All(jobs.Work(&mailer{engine: e, places: jobs.NewPlaces(atOnce, ofOne, nextTry)}), jobs.NamedQueue(queue, atOnce))
}

// mailer works the jobs.
type mailer struct {
	river.WorkerDefaults[Args]
	engine *op.Engine
	places *jobs.Places
}

// Timeout is that of one report with its mail.
func (*mailer) Timeout(*river.Job[Args]) time.Duration { return timeout }

// Work mails a report whose Monday has come, once, unless its reader gets none, and goes on to the next Monday.
func (m *mailer) Work(ctx context.Context, job *river.Job[Args]) error {
	leave, err := m.places.TakeOrSnooze(job.Args.Company)
	if err != nil {
		return err
	}
	defer leave()
	reads, db := m.engine.Reading(ctx, job.Args.Company, worker), m.engine.Store.Reader()
	s, err := db.ReportSubscription.Query().Where(reportsubscription.ID(job.Args.ID)).WithUser().Only(reads)
	if err != nil || !s.NextAt.Equal(job.Args.At) {
		return ent.MaskNotFound(err)
	}
	c, err := db.Company.Get(reads, job.Args.Company)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	t := &turn{mailer: m, row: s, reader: op.ReaderOf(s.Edges.User, c), now: clock.From(reads).Now()}
	if t.now.Before(s.NextAt) { // this node's clock is behind
		t.now = s.NextAt
	}
	if t.next, err = nextMonday(t.now, t.reader.Location()); err != nil {
		return err
	}
	told, err := t.report(reads, s.Edges.User)
	if err != nil {
		return err
	}
	return m.engine.Work(ctx, job.Args.Company, worker, func(ctx context.Context, tx *op.Tx) error {
		if err := t.finish(ctx, tx, told); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// turn is a Monday of a subscription that has come.
type turn struct {
	*mailer
	row    *ent.ReportSubscription
	reader locale.Printer
	now    time.Time
	next   time.Time // the Monday after now
}

// gets reports whether somebody gets mails at all.
func gets(u *ent.User) bool {
	return u.Status == user.StatusActive && u.LiveUserID == nil && u.MailState != user.MailStateBOUNCED
}

// report returns the mail for somebody; nil if there is none: the Monday was missed, or comes later where they are now, or they get no
// mails, or may not have the report.
func (t *turn) report(ctx context.Context, u *ent.User) (*op.Told, error) {
	if !gets(u) || t.now.Sub(t.row.NextAt) > late || t.next.Sub(t.row.NextAt) < moved {
		return nil, nil
	}
	who := notice.PrincipalOf(u)
	if staff, err := t.engine.Outside(who).Holds(ctx, Create.Info().Scope, Create.Info().Verb); err != nil || !staff {
		return nil, err
	}
	weeks := period.Steps("week", t.now.AddDate(0, 0, -7), t.now, t.reader.Location()) // the week before, and the one that has begun
	in, err := read(t.row.Query)
	if err != nil {
		return nil, nil // a filter that is no more; whoever opens the page sees which
	}
	from, to := time.UnixMicro(weeks[0].Begin), time.UnixMicro(weeks[1].Begin)
	in.From, in.To, in.TimeZone, in.Named = &from, &to, t.reader.Location().String(), true
	out, _, err := op.Run(principal.With(ctx, who), t.engine, request.Report, in, nil)
	switch {
	case err == nil:
		return t.letter(from, out), nil
	case apperr.CodeOf(err) == apperr.Validation:
		return t.letter(from, nil), nil
	case apperr.Refuses(err):
		return nil, nil
	}
	return nil, fmt.Errorf("report the week: %w", err)
}

// finish mails what was prepared and goes on to the next Monday, unless the row has done so already.
func (t *turn) finish(ctx context.Context, tx *op.Tx, told *op.Told) error {
	s, err := op.Lock(tx, tx.ReportSubscription.Query().Where(reportsubscription.ID(t.row.ID))).WithUser().Only(ctx)
	if err != nil || !s.NextAt.Equal(t.row.NextAt) {
		return ent.MaskNotFound(err)
	}
	if told != nil && gets(s.Edges.User) {
		if err := tx.Mail(func(m op.Mailer, db *store.Tx) error { return m.Tell(ctx, db, s.Edges.User, *told) }); err != nil {
			return fmt.Errorf("mail the report: %w", err)
		}
	}
	if err := s.Update().SetNextAt(t.next).Exec(ctx); err != nil {
		return fmt.Errorf("set the next Monday: %w", err)
	}
	return wake(ctx, tx, s.CompanyID, s.ID, t.next)
}

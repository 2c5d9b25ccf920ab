package mailbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/inboundmail"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/notify/inmail"
	"atrium/internal/notify/mail"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
)

const (
	worker       = "mailbox"
	queue        = "inbound_mail"  // of these jobs alone
	atOnce       = 4               // messages that a node works
	ofOne        = 2               // of one company: a DNS that somebody made slow takes 5 s of each
	nextTry      = 5 * time.Second // after which a message comes again whose company's places are taken
	checkAgain   = 5 * time.Minute
	keptFor      = 30 * 24 * time.Hour
	mostAttempts = 12 // in half a day
)

// Args is the job that works one message.
type Args struct {
	Company  string `json:"company"`
	ID       string `json:"id"`
	Released bool   `json:"released,omitempty"` // staff vouch for its sender
}

// Kind names the job.
func (Args) Kind() string { return "inbound_mail" }

// InsertOpts puts messages into a queue of their own, because each may take 25 MB of memory.
func (Args) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: mostAttempts}
}

type mailer struct {
	river.WorkerDefaults[Args]
	post *Post
}

// Timeout of one message: parsing takes up to 0.2 s, asking the DNS up to 5 s.
func (*mailer) Timeout(*river.Job[Args]) time.Duration { return time.Minute }

// Work makes a queue work the messages, and fetch those of mail servers.
func (p *Post) Work() jobs.Option {
	return jobs.All(
		jobs.Work(&mailer{post: p}), jobs.NamedQueue(queue, atOnce), jobs.Sweeps(jobs.Sweep{Rows: "raw messages", Kept: keptFor, Delete: p.forget}),
		jobs.Work(&looker{post: p}), jobs.Work(&fetcher{post: p}), jobs.NamedQueue(fetchQueue, fetchedAtOnce), jobs.Every(fetchEvery, LookArgs{}),
	)
}

// became are the outcomes of messages that became something.
var became = []inboundmail.Outcome{inboundmail.OutcomeREQUEST, inboundmail.OutcomeCOMMENT}

// forget removes raw messages that came before a moment; their bytes go a day later. Of one that became a request or a comment the row
// stays, which the same message is known by; of all others it goes, too.
func (p *Post) forget(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	rows, err := db.InboundMail.Query().Where(inboundmail.CreatedAtLT(before), inboundmail.OutcomeNEQ(inboundmail.OutcomeRECEIVED),
		inboundmail.Or(inboundmail.StoredAsNEQ(""), inboundmail.OutcomeNotIn(became...)),
	).Limit(limit).All(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var stay, gone []string
	var bytes []attachment.Tombstone
	for _, m := range rows {
		if slices.Contains(became, m.Outcome) {
			stay = append(stay, m.ID)
		} else {
			gone = append(gone, m.ID)
		}
		if m.StoredAs != "" {
			bytes = append(bytes, attachment.Tombstone{CompanyID: m.CompanyID, StoredAs: m.StoredAs, Size: m.Size})
		}
	}
	if err := attachment.Bury(ctx, db, p.Depot.Engine.Store.Clock().Now(), bytes...); err != nil {
		return 0, err
	}
	if err := db.InboundMail.Update().Where(inboundmail.IDIn(stay...)).SetStoredAs("").SetExcerpt("").Exec(ctx); err != nil {
		return 0, err
	}
	if _, err := db.InboundMail.Delete().Where(inboundmail.IDIn(gone...)).Exec(ctx); err != nil {
		return 0, err
	}
	return len(rows), nil
}

// message is one that is being worked.
type message struct {
	row      *ent.InboundMail
	mailbox  *ent.Mailbox
	mail     *inmail.Message
	raw      []byte
	released bool      // staff vouch for its sender
	by       *ent.User // whose it is
	note     bool      // it answers a mail that told what not everybody may read who reads the request
	internal bool      // it becomes a note for staff
	bounced  []string  // ids of users to whom a mail did not come
	out      outcome
}

// outcome is what becomes of a message.
type outcome struct {
	is     inboundmail.Outcome
	reason string
}

// Work gives a message its outcome.
func (w *mailer) Work(ctx context.Context, job *river.Job[Args]) error {
	leave, err := w.post.works.TakeOrSnooze(job.Args.Company)
	if err != nil {
		return err
	}
	defer leave()
	if job.Attempt >= mostAttempts {
		return w.giveUp(ctx, job)
	}
	m, err := w.read(ctx, job.Args)
	if err != nil || m == nil {
		return err
	}
	again, err := w.judge(ctx, m)
	if err != nil {
		return err
	}
	if again {
		return river.JobSnooze(checkAgain)
	}
	if m.out.is == "" {
		switch err := w.apply(ctx, m, job); {
		case errors.Is(err, errDecided):
			return nil
		case err != nil && !refused(err):
			return err
		case err != nil:
			m.out = outcome{inboundmail.OutcomeHELD, explain(err)}
		case m.out.is == "":
			return nil // it has become something
		}
	}
	return w.conclude(ctx, m, job)
}

// conclude keeps the outcome of a message that becomes nothing, unless it has one by now.
func (w *mailer) conclude(ctx context.Context, m *message, job *river.Job[Args]) error {
	err := w.post.Depot.Engine.Work(ctx, job.Args.Company, worker, func(ctx context.Context, tx *op.Tx) error {
		if err := m.undecided(ctx, tx); err != nil {
			return err
		}
		if err := m.end(ctx, tx, m.out, nil, nil); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
	if errors.Is(err, errDecided) {
		return nil
	}
	return err
}

// giveUp holds a message whose job has failed in all its attempts, whatever it failed at: staff see it then, and may release it.
func (w *mailer) giveUp(ctx context.Context, job *river.Job[Args]) error {
	ctx = principal.With(ctx, principal.Worker(job.Args.Company, worker))
	row, err := w.post.Depot.Engine.Store.Reader().InboundMail.Query().Where(inboundmail.ID(job.Args.ID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	m := &message{row: row, released: job.Args.Released}
	m.out = outcome{inboundmail.OutcomeHELD, "The server failed at it several times. Release it to have it tried again, or refuse it."}
	return w.conclude(ctx, m, job)
}

// waits reports whether a message has no outcome yet, or was released: one that is held, or that a program sent.
func waits(m *ent.InboundMail, released bool) bool {
	return m.Outcome == inboundmail.OutcomeRECEIVED || released && (m.Outcome == inboundmail.OutcomeHELD || m.Outcome == inboundmail.OutcomeLOOP)
}

// refused reports whether an error says that the message cannot become what it should, whenever it is tried again.
func refused(err error) bool {
	e, ok := errors.AsType[*apperr.Error](err)
	return ok && e.Code != apperr.Internal && e.Code != apperr.Unavailable && !errors.Is(err, op.ErrOutdated)
}

// explain returns a refusal with the fields that it names.
func explain(err error) string {
	e := apperr.From(err)
	out := e.Message
	for _, d := range e.Details {
		out += " " + d.Field + ": " + d.Message + "."
	}
	return text.Cut(out, 500)
}

// read loads a message that has no outcome yet, or that staff have released; nil if there is nothing to do.
func (w *mailer) read(ctx context.Context, a Args) (*message, error) {
	m := &message{released: a.Released}
	d := w.post.Depot
	ctx = principal.With(ctx, principal.Worker(a.Company, worker))
	var err error
	m.row, err = d.Engine.Store.Reader().InboundMail.Query().Where(inboundmail.ID(a.ID)).WithMailbox().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // its mailbox was deleted
	}
	if err != nil {
		return nil, fmt.Errorf("read the message: %w", err)
	}
	m.mailbox = m.row.Edges.Mailbox
	if !waits(m.row, a.Released) || m.row.StoredAs == "" {
		return nil, nil
	}
	f, err := d.Stored(ctx, a.Company, m.row.StoredAs)
	if err != nil {
		return nil, err
	}
	m.raw, err = io.ReadAll(io.NewSectionReader(f, 0, f.Size))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read the message: %w", err)
	}
	return m, nil
}

// english returns a text as API texts are.
func english(t locale.Text) string { return locale.Printer{Language: "en"}.T(t) }

// markers are the lines above which people answer, in every language.
var markers = func() []string {
	out := make([]string, 0, len(locale.Languages))
	for _, lang := range locale.Languages {
		out = append(out, locale.Printer{Language: lang}.T(mail.AnswerAbove))
	}
	return slices.Compact(out)
}()

// end keeps the outcome of a message.
func (m *message) end(ctx context.Context, tx *op.Tx, out outcome, requestID, commentID *string) error {
	u := tx.InboundMail.UpdateOneID(m.row.ID).SetOutcome(out.is).SetSender(m.row.Sender).SetMessageID(m.row.MessageID).SetSubject(m.row.Subject).SetExcerpt(m.row.Excerpt).
		SetNillableRequestID(requestID).SetNillableCommentID(commentID)
	if out.reason != "" {
		u.SetReason(out.reason)
	} else {
		u.ClearReason()
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("keep what became of the message: %w", err)
	}
	if len(m.bounced) == 0 {
		return nil
	}
	if err := tx.User.Update().Where(user.IDIn(m.bounced...)).SetMailState(user.MailStateBOUNCED).Exec(ctx); err != nil {
		return fmt.Errorf("note that mail came back: %w", err)
	}
	return nil
}

// caller returns the person whose message it is, as the principal that the operations run as.
func (m *message) caller() *principal.Principal {
	p := notice.PrincipalOf(m.by)
	p.Via = "mail"
	return p
}

package notice

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/ent/user"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Note is the content of a notice.
type Note struct {
	Kind        string
	Subject     string    // one line; pass texts of other people through mail.Plain
	About       string    // the subject of the mail, the same for all about one request (Named); empty for Subject
	RequestID   *string   // the request that it is about; nil for none
	ExecutionID *string   // the id of the execution that it comes from, which may have no request; nil for none
	MailAt      time.Time // in place of a mail of its own: when one mail lists it with all else that waits till then; zero for at once
	Text        []string  // the paragraphs of the mail; pass texts of other people through mail.Plain
	Quote       string    // what somebody wrote, through mail.Quote; empty for nothing
}

// Mentioned stands in the subject of a mention between the author's name and what it is about. An erasure finds those of a name by it.
const Mentioned = " mentioned you: "

// Author returns how a subject names somebody.
func Author(name string) string { return mail.Plain(name, 60) }

// maxSubject bounds a subject, in characters.
const maxSubject = 150

// Send notifies an active user in the transaction. The caller has checked that the user may read what the note is about. Users
// of a sandbox get no notices.
func Send(ctx context.Context, tx *op.Tx, u *ent.User, n Note) error {
	if u.LiveUserID != nil {
		return nil
	}
	n.Subject = mail.Plain(n.Subject, maxSubject)
	channel := channelOf(u, n.Kind)
	row := tx.Notification.Create().SetUserID(u.ID).SetKind(notification.Kind(n.Kind)).SetSubject(n.Subject).SetNillableRequestID(n.RequestID).SetNillableExecutionID(n.ExecutionID)
	switch {
	case channel == channelDigest:
		row.SetDigestAt(nextDigest(tx.Now(ctx)))
	case channel == channelNow && !n.MailAt.IsZero():
		row.SetDigestAt(n.MailAt)
	}
	if err := row.Exec(ctx); err != nil {
		return fmt.Errorf("write the notice: %w", err)
	}
	if channel != channelNow || !n.MailAt.IsZero() {
		return nil
	}
	told := op.Told{Kind: n.Kind, Subject: cmp.Or(n.About, n.Subject), Paragraphs: n.Text, Quote: n.Quote, Page: pageOf(n.RequestID, n.ExecutionID), Thread: op.Or(n.RequestID, "")}
	err := tx.Mail(func(m op.Mailer, db *store.Tx) error { return m.Tell(ctx, db, u, told) })
	if err != nil {
		return fmt.Errorf("mail the notice: %w", err)
	}
	return nil
}

// pageOf returns the path of the console's page that shows what a notice is about.
func pageOf(request, execution *string) string {
	switch {
	case request != nil:
		return "/requests/" + *request
	case execution != nil:
		return "/executions/" + *execution
	}
	return "/notifications"
}

// digestHour is the hour at which digests are mailed, in UTC.
const digestHour = 7

// nextDigest returns the next time after now at which digests are mailed.
func nextDigest(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	at := time.Date(y, m, d, digestHour, 0, 0, 0, time.UTC)
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// Readers returns the users for whom reads returns true. reads evaluates access policies, which may be slow, so call Readers in
// a preparation, or in a worker before its transaction.
func Readers(ctx context.Context, tx *op.Tx, users []*ent.User, reads func(ctx context.Context, who *principal.Principal) (bool, error)) (out []*ent.User, err error) {
	for _, u := range users {
		err := tx.Costly(ctx, func(ctx context.Context) error {
			ok, err := reads(ctx, PrincipalOf(u))
			if ok {
				out = append(out, u)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReadersOutside is Readers for a worker, outside any transaction: it returns the users who may read a row of the company by an
// operation. assigned says that the users are assigned to the row, so that their role covers it whatever its columns contain.
func ReadersOutside(ctx context.Context, e *op.Engine, companyID, worker string, users []*ent.User, by *op.Info, row any, assigned bool) ([]*ent.User, error) {
	tx := e.Outside(principal.Worker(companyID, worker))
	readers, err := Readers(ctx, tx, users, func(ctx context.Context, who *principal.Principal) (bool, error) {
		if assigned {
			return tx.VisibleTo(ctx, who, by, row)
		}
		return tx.ReadableBy(ctx, who, by, row)
	})
	if err != nil {
		return nil, fmt.Errorf("ask who may read it: %w", err)
	}
	return readers, nil
}

// Finish gives the note to the people and completes the worker's job in one transaction.
func Finish(ctx context.Context, e *op.Engine, companyID, worker string, people []*ent.User, n Note, job *rivertype.JobRow) error {
	return e.Work(ctx, companyID, worker, func(ctx context.Context, tx *op.Tx) error {
		for _, u := range people {
			if err := Send(ctx, tx, u, n); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job)
	})
}

// Named returns what a notification calls a request: "#1042 A new laptop".
func Named(r *ent.Request) string { return fmt.Sprintf("#%d %s", r.Number, mail.Plain(r.Title, 100)) }

// MaxQuote is how many characters of a text a mail shows; its link leads to the rest.
const MaxQuote = 4000

// authorOf returns how a sentence names the person with an id; empty for what is no person, and for people who were erased.
func authorOf(ctx context.Context, e *op.Engine, id string) (string, error) {
	u, err := e.Store.Reader().User.Query().Where(user.ID(id), user.StatusNEQ(user.StatusErased)).Only(ctx)
	if err == nil {
		return Author(u.Name), nil
	}
	return "", wrap("look up who did it", ent.MaskNotFound(err))
}

// by returns a sentence about what somebody did, or the one without a name.
func by(who, did, otherwise string) string {
	if who == "" {
		return otherwise + "."
	}
	return who + " " + did + "."
}

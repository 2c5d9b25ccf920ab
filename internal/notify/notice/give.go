package notice

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/ent/user"
	"atrium/internal/desk/mention"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Note is the content of a notice, in no language yet.
type Note struct {
	Kind         string
	Subject      locale.Text   // one line; pass texts of other people through mail.Plain
	About        string        // the subject of the mail, the same for all about one request (Named); empty for Subject
	RequestID    *string       // the request that it is about; nil for none
	ExecutionID  *string       // the id of the execution that it comes from, which may have no request; nil for none
	MailAt       time.Time     // in place of a mail of its own: when one mail lists it with all else that waits till then; zero for at once
	Text         []locale.Text // the paragraphs of the mail; pass texts of other people through mail.Plain
	Quote        string        // what somebody wrote, through Quoted; empty for nothing
	Markdown     bool          // Quote is written in Markdown
	Decide       bool          // the page of the request asks the reader for a decision
	Rate         bool          // the mail asks how content the reader is with the request
	Receipt      bool          // of a request to its requester, who is mailed it or nothing
	ByMail       bool          // of a receipt: the request came by mail, and is answered by mail unless the requester or the company has chosen otherwise
	Confidential bool          // it tells what not everybody may read who reads the request: an answer by mail is a note for staff
	CommentID    string        // the comment whose body Quote is; a mail that waits quotes it as it is by then. Empty for none
	Named        bool          // the request, task or phase names its readers, so that they read it whatever their role reaches
	Asks         string        // the id of the task or approval that waits for its readers; a mail that waits is for those for whom it waits still
}

// Mentioned returns the subject of a mention.
func Mentioned(author, about string) locale.Text {
	return locale.Say("%s mentioned you: %s", author, about)
}

// MentionedBy returns how the subjects of an author's mentions begin, in every language. An erasure finds them by it.
func MentionedBy(author string) []string {
	out := make([]string, len(locale.Languages))
	for i, lang := range locale.Languages {
		out[i] = locale.Printer{Language: lang}.T(Mentioned(author, ""))
	}
	return out
}

// Author returns how a subject names somebody.
func Author(name string) string { return mail.Plain(name, 60) }

// maxSubject bounds a subject, in characters.
const maxSubject = 150

// Send notifies active users of the transaction's company. The caller has checked that they may read what the note is about. It
// renders the note once for all who share a language and a time zone. Users of a sandbox get no notices.
func Send(ctx context.Context, tx *op.Tx, people []*ent.User, n Note) error {
	people = slices.DeleteFunc(slices.Clone(people), func(u *ent.User) bool { return u.LiveUserID != nil })
	if len(people) == 0 {
		return nil
	}
	c, err := tx.Company.Get(ctx, tx.Principal().CompanyID)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	now := tx.Now(ctx)
	people = n.wanted(c, people)
	waits, err := n.waits(ctx, tx, people, now)
	if err != nil {
		return err
	}
	rendered := map[locale.Printer]op.Told{}
	for _, u := range people {
		p := op.ReaderOf(u, c)
		told, ok := rendered[p]
		if !ok {
			told = n.in(p)
			rendered[p] = told
		}
		if err := n.send(ctx, tx, u, told, p, waits[u.ID]); err != nil {
			return err
		}
	}
	return nil
}

// in returns the note as a mail to one reader.
func (n Note) in(p locale.Printer) op.Told {
	out := op.Told{
		Language: p.Language, Kind: n.Kind, Subject: mail.Plain(p.T(n.Subject), maxSubject), Page: pageOf(n.RequestID, n.ExecutionID), Thread: op.Or(n.RequestID, ""), Decide: n.Decide,
		Note: n.Confidential,
	}
	if n.Rate {
		out.Rate = out.Thread
	}
	if n.Receipt {
		out.Kind = Receipt
	}
	e := op.Happening{Quote: n.Quote, Markdown: n.Markdown}
	for _, t := range n.Text {
		e.Paragraphs = append(e.Paragraphs, p.T(t))
	}
	out.Events = []op.Happening{e}
	return out
}

// send writes the notice of one user, and mails it unless its mail waits: for a digest, or till then (zero for at once). A receipt is no
// news for whoever has just submitted the request, so it is read from the beginning.
func (n Note) send(ctx context.Context, tx *op.Tx, u *ent.User, told op.Told, p locale.Printer, till time.Time) error {
	now, mails := tx.Now(ctx), false
	row := tx.Notification.Create().SetUserID(u.ID).SetKind(notification.Kind(n.Kind)).SetSubject(told.Subject).
		SetNillableRequestID(n.RequestID).SetNillableExecutionID(n.ExecutionID)
	channel := channelOf(u, n.Kind)
	if n.Receipt {
		row.SetReadAt(now)
		channel = channelNow
	}
	switch {
	case channel == channelDigest:
		row.SetDigestAt(nextDigest(now, p.Location()))
	case channel == channelNow && !n.MailAt.IsZero():
		row.SetDigestAt(n.MailAt)
	case channel == channelNow && !till.IsZero():
		h, err := n.hold(told)
		if err != nil {
			return err
		}
		row.SetDigestAt(till).SetHeld(h)
	case channel == channelNow && u.MailState != user.MailStateBOUNCED:
		row.SetMailedAt(now)
		mails = true
	}
	if err := row.Exec(ctx); err != nil {
		return fmt.Errorf("write the notice: %w", err)
	}
	if !mails {
		return nil
	}
	told.Subject = cmp.Or(n.About, told.Subject)
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

// digestHour is the hour at which digests are mailed, in the reader's time zone.
const digestHour = 7

// nextDigest returns the next time after now at which digests are mailed in a zone.
func nextDigest(now time.Time, zone *time.Location) time.Time {
	y, m, d := now.In(zone).Date()
	at := time.Date(y, m, d, digestHour, 0, 0, 0, zone)
	if !at.After(now) {
		at = time.Date(y, m, d+1, digestHour, 0, 0, 0, zone)
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
// operation, and have the further verbs. assigned says that the users are assigned to the row, so that their role covers it whatever its
// columns contain.
func ReadersOutside(
	ctx context.Context, e *op.Engine, companyID, worker string, users []*ent.User, by *op.Info, row any, assigned bool, verbs ...string,
) ([]*ent.User, error) {
	tx := e.Outside(principal.Worker(companyID, worker))
	readers, err := Readers(ctx, tx, users, func(ctx context.Context, who *principal.Principal) (bool, error) {
		if assigned {
			return tx.VisibleTo(ctx, who, by, row)
		}
		return tx.ReadableBy(ctx, who, by, row, verbs...)
	})
	if err != nil {
		return nil, fmt.Errorf("ask who may read it: %w", err)
	}
	return readers, nil
}

// Finish gives the note to the people and completes the worker's job in one transaction.
func Finish(ctx context.Context, e *op.Engine, companyID, worker string, people []*ent.User, n Note, job *rivertype.JobRow) error {
	return e.Work(ctx, companyID, worker, func(ctx context.Context, tx *op.Tx) error {
		if err := Send(ctx, tx, people, n); err != nil {
			return err
		}
		return tx.Complete(ctx, job)
	})
}

// Named returns what a notification calls a request: "#1042 A new laptop".
func Named(r *ent.Request) string { return fmt.Sprintf("#%d %s", r.Number, mail.Plain(r.Title, 100)) }

// Quoted returns what somebody wrote as a mail shows it: with the names of those whom it mentions. names are those of the text.
func Quoted(text string, isMarkdown bool, names mention.Names) string {
	put := names.In
	if isMarkdown {
		put = names.InMarkdown
	}
	return mail.Quote(put(text), MaxQuote)
}

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

// by returns the sentence that names who did something, or the one without a name when it is empty.
func by(who string, named, otherwise locale.Text) locale.Text {
	if who == "" {
		return otherwise
	}
	return named
}

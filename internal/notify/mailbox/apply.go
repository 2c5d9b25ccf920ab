package mailbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/inboundmail"
	"atrium/ent/offering"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/request"
	"atrium/internal/notify/inmail"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
)

// The most that a comment, a description and a title hold, in characters; what a mail says beyond that is kept as a file.
const (
	maxBody   = 10_000
	maxTitle  = 300
	maxQuoted = 100_000
	maxFiles  = 20
)

// receiptsPerHour is how many mails of one sender are answered by a receipt within an hour.
const receiptsPerHour = 5

// What ends the transaction of a message: another one has become the same meanwhile, or this one has an outcome by now, because staff
// released it twice, or refused it.
var (
	errTwice   = errors.New("mailbox: the message came before")
	errDecided = errors.New("mailbox: the message has an outcome")
)

// apply makes a comment or a request of a message, and keeps its outcome and completes its job in the same transaction.
func (w *mailer) apply(ctx context.Context, m *message, job *river.Job[Args]) error {
	about, err := w.answered(ctx, m)
	if err != nil || m.out.is != "" { // somebody else's token
		return err
	}
	kept, notes, err := w.keep(ctx, m, about)
	defer func() { w.post.Depot.DiscardKept(ctx, kept) }() // what was not added, or has the bytes of another file
	if err != nil || m.out.is != "" {
		return err
	}
	becoming, err := w.prepare(ctx, m, about)
	if err != nil {
		return err
	}
	err = w.post.Depot.Engine.WorkAs(ctx, m.caller(), func(ctx context.Context, tx *op.Tx) error {
		if err := m.once(ctx, tx); err != nil {
			return err
		}
		out, err := becoming(ctx, tx)
		if err != nil {
			return err
		}
		left, err := attachment.Add(ctx, tx, kept, out.request, out.comment)
		if err != nil {
			return err
		}
		if m.cut(about) != "" && len(kept) > 0 && len(left) == len(kept) { // not even the whole text
			return apperr.New(apperr.Conflict, "The request has no room for a file with its whole text.")
		}
		if err := m.end(ctx, tx.AsWorker(worker), outcome{out.is, notes.with(left)}, &out.request, out.comment); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
	if errors.Is(err, errTwice) {
		m.out = outcome{is: inboundmail.OutcomeDUPLICATE}
		return nil
	}
	return err
}

// answered returns the request that a message answers, as find does. It makes an answer a note for staff if the mail that it answers told what
// not everybody may read who reads the request. Of whoever may write no such notes it takes their own words alone, as a public comment.
func (w *mailer) answered(ctx context.Context, m *message) (*ent.Request, error) {
	about, err := w.find(ctx, m)
	if err != nil || about == nil || !m.note {
		return about, err
	}
	granted, err := op.Permissions(principal.With(ctx, m.caller()), w.post.Depot.Engine)
	if err != nil {
		return nil, fmt.Errorf("ask what the sender may do: %w", err)
	}
	if m.internal = slices.Contains(granted, "comment.internal"); m.internal {
		return about, nil
	}
	if err := m.parse(true); err != nil {
		return nil, fmt.Errorf("parse the message for its author's own words: %w", err)
	}
	return about, nil
}

// cut returns what a message says whose text is longer than what it becomes may say, as a file has it: of a comment without what it quotes,
// which is for staff. It is empty for one that fits.
func (m *message) cut(about *ent.Request) string {
	whole, said := m.mail.Whole, m.said()
	if about != nil {
		whole, said = m.text(), m.text()
	}
	if _, over := split(said, maxBody); over == "" {
		return ""
	}
	return whole
}

// once returns errTwice for a message that another one has become meanwhile, and makes others that are the same wait.
func (m *message) once(ctx context.Context, tx *op.Tx) error {
	if err := tx.LockName(ctx, "mail/"+m.row.CompanyID+"/"+m.row.MessageID); err != nil {
		return err
	}
	if err := m.undecided(ctx, tx); err != nil {
		return err
	}
	twice, err := tx.InboundMail.Query().Where(m.same(), inboundmail.OutcomeNEQ(inboundmail.OutcomeHELD)).Exist(tx.Unfiltered(ctx, "the same message, whosever it was"))
	switch {
	case err != nil:
		return fmt.Errorf("look for the same message: %w", err)
	case twice:
		return errTwice
	}
	return nil
}

// undecided locks the row of a message. Returns errDecided if it has an outcome by now.
func (m *message) undecided(ctx context.Context, tx *op.Tx) error {
	row, err := op.Lock(tx, tx.InboundMail.Query().Where(inboundmail.ID(m.row.ID))).Only(tx.Unfiltered(ctx, "the message itself, whosever it is"))
	switch {
	case ent.IsNotFound(err):
		return errDecided // its mailbox was deleted
	case err != nil:
		return fmt.Errorf("read the message again: %w", err)
	case !waits(row, m.released):
		return errDecided
	}
	return nil
}

// made is what a message has become.
type made struct {
	is      inboundmail.Outcome
	request string
	comment *string
}

// prepare checks what a message is to become outside of the transaction, because a company's policies, forms and rules may be slow. It
// returns what makes it.
func (w *mailer) prepare(ctx context.Context, m *message, about *ent.Request) (func(context.Context, *op.Tx) (made, error), error) {
	e := w.post.Depot.Engine
	if about != nil {
		ready, err := op.Prepare(ctx, e, m.caller(), request.CreateComment, m.comment(about.ID))
		return func(ctx context.Context, tx *op.Tx) (made, error) {
			c, err := op.RunReady(ctx, tx, request.CreateComment, ready)
			if err != nil {
				return made{}, err
			}
			return made{inboundmail.OutcomeCOMMENT, about.ID, &c.ID}, nil
		}, err
	}
	in, err := w.filing(ctx, m)
	if err != nil {
		return nil, err
	}
	ready, err := op.Prepare(ctx, e, m.caller(), request.Create, in)
	return func(ctx context.Context, tx *op.Tx) (made, error) {
		r, err := op.RunReady(ctx, tx, request.Create, ready)
		if err != nil {
			return made{}, err
		}
		return made{is: inboundmail.OutcomeREQUEST, request: r.ID}, m.receipt(ctx, tx, r)
	}, err
}

// receipt tells the sender that their message has filed a request, unless many have, or a program has sent it.
func (m *message) receipt(ctx context.Context, tx *op.Tx, r *ent.Request) error {
	if m.mail.Automatic != "" {
		return nil
	}
	n, err := tx.InboundMail.Query().Where(
		inboundmail.Sender(m.row.Sender), inboundmail.OutcomeEQ(inboundmail.OutcomeREQUEST), inboundmail.CreatedAtGT(m.row.CreatedAt.Add(-time.Hour)),
	).Count(tx.Unfiltered(ctx, "what one address was answered, whosever it is"))
	if err != nil || n >= receiptsPerHour {
		return err
	}
	return tx.Insert(ctx, notice.ProgressArgs{Company: r.CompanyID, Request: r.ID, Receipt: true}, time.Time{})
}

// comment returns the comment that a message becomes.
func (m *message) comment(requestID string) request.CreateCommentInput {
	body, _ := split(m.text(), maxBody)
	in := request.CreateCommentInput{ByID: op.ByID{ID: requestID}, Body: body, ByMail: true}
	if quoted, _ := split(m.mail.Quoted, maxQuoted); quoted != "" {
		in.Quoted = &quoted
	}
	if m.internal {
		in.Visibility = new(string(comment.VisibilityInternal))
	}
	return in
}

// text returns what the author wrote; a few words where that is nothing.
func (m *message) text() string {
	if text.Blank(m.mail.Text) {
		return "(no text)"
	}
	return strings.TrimSpace(m.mail.Text)
}

// said returns what a request says: with what was quoted, which its reader does not have otherwise.
func (m *message) said() string {
	if m.mail.Quoted != "" {
		return strings.TrimSpace(m.mail.Whole)
	}
	return m.text()
}

// split returns the first n characters of a text, and the rest.
func split(s string, n int) (head, rest string) {
	runes := []rune(s)
	if len(runes) <= n {
		return s, ""
	}
	return string(runes[:n]), string(runes[n:])
}

// filing returns the request that a new message files, for its sender, with the mailbox's team.
func (w *mailer) filing(ctx context.Context, m *message) (request.CreateInput, error) {
	ctx = principal.With(ctx, principal.Worker(m.row.CompanyID, worker))
	off, err := w.post.Depot.Engine.Store.Reader().Offering.Query().Where(offering.ID(m.mailbox.OfferingID)).Only(ctx)
	if err != nil {
		return request.CreateInput{}, fmt.Errorf("read the offering: %w", err)
	}
	title, _ := split(strings.Join(strings.Fields(m.mail.Subject), " "), maxTitle)
	if text.Blank(title) {
		first, _, _ := strings.Cut(m.text(), "\n")
		title, _ = split(strings.TrimSpace(first), maxTitle)
	}
	body, _ := split(m.said(), maxBody)
	return request.CreateInput{ServiceID: off.ServiceID, OfferingID: off.ID, Title: title, Description: &body, MailboxTeamID: m.mailbox.TeamID}, nil
}

// notes say which files of a message were not kept, and why.
type notes string

func (n notes) and(s string) notes { return notes(text.Cut(strings.TrimSpace(string(n)+" "+s), 500)) }

// with adds the names of files for which what the message became has no room.
func (n notes) with(left []string) string {
	if len(left) == 0 {
		return string(n)
	}
	return string(n.and(fmt.Sprintf("%d files were too many: %s.", len(left), strings.Join(left, ", "))))
}

// keep stores the files of a message, and says which ones could not be kept. What is too long for a text becomes the first file; a message
// of which that cannot be kept is held.
func (w *mailer) keep(ctx context.Context, m *message, about *ent.Request) (kept []attachment.Kept, said notes, err error) {
	all, whole := m.mail.Attachments, m.cut(about)
	if whole != "" {
		all = append([]inmail.Attachment{{Name: "mail.txt", Content: []byte(whole)}}, all...)
	}
	for i, a := range all {
		if i >= maxFiles {
			said = said.and(fmt.Sprintf("%d files were too many.", len(all)-maxFiles))
			break
		}
		if len(a.Content) == 0 {
			continue
		}
		k, err := w.post.Depot.KeepFor(ctx, m.caller(), a.Name, bytes.NewReader(a.Content), int64(len(a.Content)))
		if why, ok := attachment.Refused(err); ok {
			if whole != "" && i == 0 {
				m.out = outcome{inboundmail.OutcomeHELD, text.Cut("Its text is too long, and the file with it cannot be kept: "+why, 500)}
				return kept, said, nil
			}
			said = said.and(a.Name + ": " + why)
			continue
		}
		if err != nil {
			return kept, said, err
		}
		kept = append(kept, k)
	}
	if _, over := split(m.mail.Quoted, maxQuoted); over != "" && about != nil {
		said = said.and("What it quotes is longer than 100000 characters and was cut.")
	}
	for _, n := range m.mail.Notes {
		said = said.and(english(n.Text()))
	}
	return kept, said, nil
}

package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/mention"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
)

// ProgressArgs is the job that notifies the requester of a request, or those who watch it, that it was filed for them, answered by a
// comment, completed, cancelled or reopened.
type ProgressArgs struct {
	Company string `json:"company"`
	Request string `json:"request"`
	Comment string `json:"comment,omitempty"` // the answer; empty when the request has ended
	By      string `json:"by"`                // who did it; gets no notice

	Reopened bool `json:"reopened,omitempty"`
	Filed    bool `json:"filed,omitempty"`    // by somebody else than the requester
	Receipt  bool `json:"receipt,omitempty"`  // by the requester, by mail unless Signed, who hears that it arrived
	Signed   bool `json:"signed,omitempty"`   // by the requester, who has signed in
	Watchers bool `json:"watchers,omitempty"` // who watch the request are told, and not its requester

	Published bool `json:"published,omitempty"` // the comment was an internal note, of which staff have heard

	Solved string `json:"solved,omitempty"` // the request that has been completed, of which this one is a duplicate
}

// Kind returns the name of the job.
func (ProgressArgs) Kind() string { return "notice_progress" }

// InsertOpts puts the job into the queue of notices.
func (ProgressArgs) InsertOpts() river.InsertOpts { return jobs.ToTell(false) }

// progress works the jobs.
type progress struct {
	river.WorkerDefaults[ProgressArgs]
	engine *op.Engine
	reads  Reads
}

// Work notifies the requester and completes the job in one transaction.
func (w *progress) Work(ctx context.Context, job *river.Job[ProgressArgs]) error {
	a, outside := job.Args, outside(ctx, w.engine, job.Args.Company)
	find := w.find
	if a.Solved != "" {
		find = w.solved
	}
	people, note, err := find(outside, a)
	if err != nil {
		return err
	}
	doubles, err := w.doubles(outside, a)
	if err != nil {
		return err
	}
	return w.engine.Work(ctx, a.Company, worker, func(ctx context.Context, tx *op.Tx) error {
		if err := Send(ctx, tx, people, note); err != nil {
			return err
		}
		for _, of := range doubles {
			if err := tx.Insert(ctx, of, time.Time{}); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// find returns the requester, if there is one to tell, and the notice.
func (w *progress) find(ctx context.Context, a ProgressArgs) ([]*ent.User, Note, error) {
	note := Note{Kind: Progress, Named: !a.Watchers}
	r, err := w.engine.Store.Reader().Request.Query().Where(request.ID(a.Request)).Only(ctx)
	if err != nil {
		return nil, note, wrap("read the request", ent.MaskNotFound(err))
	}
	if a.Comment == "" && !a.Filed && !a.Receipt && a.Reopened != lifecycle.RequestOpen(r.Status) {
		return nil, note, nil // what came after is told on its own
	}
	row := any(r)
	if a.Comment != "" {
		c, err := w.engine.Store.Reader().Comment.Query().Where(comment.ID(a.Comment)).WithRequest().Only(ctx)
		if err != nil { // it may be deleted, or internal by now
			return nil, note, wrap("read the comment", ent.MaskNotFound(err))
		}
		row = c
	}
	who, err := authorOf(ctx, w.engine, a.By)
	if err != nil {
		return nil, note, err
	}
	said := ""
	if c, ok := row.(*ent.Comment); ok {
		said, note.Confidential, note.Markdown = c.Body, c.Visibility == comment.VisibilityInternal, c.Format == comment.FormatMarkdown
	}
	if a.Reopened {
		if said, err = reasonOf(ctx, w.engine, a.Request); err != nil {
			return nil, note, err
		}
	}
	if a.Comment == "" {
		note.Markdown = (a.Filed || a.Receipt) && r.Format == request.FormatMarkdown // what is told is the description
	}
	tell := told
	if a.Watchers {
		tell = toldWatchers
	}
	note.Receipt, note.ByMail = a.Receipt, a.Receipt && !a.Signed
	note.About, note.RequestID, note.CommentID = Named(r), &r.ID, a.Comment
	var text locale.Text
	note.Subject, text, said = tell(a, r, who, said)
	note.Text = []locale.Text{text}
	if note.Quote, err = quoted(ctx, w.engine, said, note.Markdown); err != nil {
		return nil, note, err
	}
	if a.Signed {
		lines, err := w.answers(ctx, r)
		if err != nil {
			return nil, note, err
		}
		note.Text = append(note.Text, lines...)
	}
	note.Rate = !a.Watchers && a.Comment == "" && r.CompletedAt != nil && r.SatisfactionAskedAt != nil && r.SatisfactionAskedAt.Equal(*r.CompletedAt)
	people, err := w.people(ctx, a, r, row)
	if err != nil {
		return nil, note, err
	}
	if people, err = w.readers(ctx, a, r, row, people); err != nil {
		return nil, note, err
	}
	if a.Comment != "" || a.Filed || a.Signed {
		files, err := filesOf(ctx, w.engine, a.Company, people, r.ID, a.Comment)
		if err != nil {
			return nil, note, err
		}
		note.Text = append(note.Text, files...)
	}
	return people, note, nil
}

// quoted is Quoted for a worker, which reads the names itself.
func quoted(ctx context.Context, e *op.Engine, text string, isMarkdown bool) (string, error) {
	names, err := mention.Read(ctx, e.Store.Reader(), text)
	if err != nil {
		return "", err
	}
	return Quoted(text, isMarkdown, names), nil
}

// people returns the requester, or who watches the request and is not told of the same otherwise.
func (w *progress) people(ctx context.Context, a ProgressArgs, r *ent.Request, row any) ([]*ent.User, error) {
	c, said := row.(*ent.Comment)
	ids := []string{r.RequesterID}
	if !a.Watchers && said && c.Visibility != comment.VisibilityPublic {
		return nil, nil // it has become internal
	}
	if a.Watchers {
		watchers, err := watchersOf(ctx, w.engine, r.ID)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(watchers, func(id string) bool { return id == r.RequesterID || said && slices.Contains(c.Mentioned, id) })
	}
	q := w.engine.Store.Reader().User.Query().Where(user.IDIn(ids...), user.IDNEQ(a.By), access.Here())
	if a.Watchers && a.Published { // these heard of the note
		q.Where(user.Not(staff))
	}
	switch { // whoever works on it hears of its reopening as such
	case a.Watchers && a.Reopened && r.AssigneeID != nil:
		q.Where(user.IDNEQ(*r.AssigneeID))
	case a.Watchers && a.Reopened && r.TeamID != nil:
		q.Where(user.Not(user.HasMembershipsWith(teammember.TeamID(*r.TeamID))))
	}
	people, err := q.Order(user.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up whom to tell: %w", err)
	}
	return people, nil
}

// readers returns those of the people who may read the row, and of the desk who must hear of it. Anybody can be made to watch a request, or
// watches it for having asked for the same: that lets nobody read it, nor its internal notes.
func (w *progress) readers(ctx context.Context, a ProgressArgs, r *ent.Request, row any, people []*ent.User) ([]*ent.User, error) {
	c, said := row.(*ent.Comment)
	reads, verbs := w.reads.Request, []string(nil)
	if said {
		reads, verbs = w.reads.Comment, verbsOf(c)
	}
	people, err := ReadersOutside(ctx, w.engine, a.Company, worker, people, reads, row, !a.Watchers, verbs...)
	if err != nil || !a.Watchers || !said || a.Published { // the desk heard of what was a note
		return people, err
	}
	return w.heard(ctx, a, r, c, people)
}

// verbsOf returns the rights that reading a comment takes besides its own.
func verbsOf(c *ent.Comment) []string {
	if c.Visibility == comment.VisibilityInternal {
		return []string{"comment.internal"}
	}
	return nil
}

// told describes what has happened to a request to its requester: in a line, as a sentence, and in the words of who did it.
func told(a ProgressArgs, r *ent.Request, who, words string) (subject, text locale.Text, said string) {
	about := Named(r)
	switch {
	case a.Comment != "":
		text = by(who, locale.Say("%s answered your request.", who), locale.Say("Your request was answered."))
		return locale.Say("Answered: %s", about), text, words
	case a.Filed:
		text = by(who, locale.Say("%s submitted this request for you.", who), locale.Say("This request was submitted for you."))
		return locale.Say("Submitted for you: %s", about), text, r.Description
	case a.Receipt && a.Signed:
		return locale.Say("Received: %s", about), locale.Say("We have received your request."), r.Description
	case a.Receipt:
		return locale.Say("Received: %s", about), locale.Say("We have received your request. To add something, answer this mail."), ""
	case a.Reopened:
		text = by(who, locale.Say("%s reopened your request.", who), locale.Say("Your request was reopened."))
		return locale.Say("Reopened: %s", about), text, words
	case r.Status == request.StatusCOMPLETED:
		text = by(who, locale.Say("%s completed your request.", who), locale.Say("Your request was completed."))
		return locale.Say("Completed: %s", about), text, ""
	case r.MergedAt != nil:
		text = by(who, locale.Say("%s closed your request as a duplicate of another one.", who), locale.Say("Your request was closed as a duplicate of another one."))
		return locale.Say("Closed as a duplicate: %s", about), text, ""
	case r.DeclineReason != nil:
		text = by(who, locale.Say("%s declined your request.", who), locale.Say("Your request was declined."))
		return locale.Say("Declined: %s", about), text, *r.DeclineReason
	}
	text = by(who, locale.Say("%s cancelled your request.", who), locale.Say("Your request was cancelled."))
	return locale.Say("Cancelled: %s", about), text, ""
}

// toldWatchers is told for those who watch the request.
func toldWatchers(a ProgressArgs, r *ent.Request, who, words string) (subject, text locale.Text, said string) {
	about := Named(r)
	switch {
	case a.Comment != "":
		text = by(who, locale.Say("%s commented on this request.", who), locale.Say("This request has a new comment."))
		return locale.Say("New comment: %s", about), text, words
	case a.Reopened:
		text = by(who, locale.Say("%s reopened this request.", who), locale.Say("This request was reopened."))
		return locale.Say("Reopened: %s", about), text, words
	case r.Status == request.StatusCOMPLETED:
		text = by(who, locale.Say("%s completed this request.", who), locale.Say("This request was completed."))
		return locale.Say("Completed: %s", about), text, ""
	case r.MergedAt != nil:
		text = by(who, locale.Say("%s closed this request as a duplicate of another one.", who), locale.Say("This request was closed as a duplicate of another one."))
		return locale.Say("Closed as a duplicate: %s", about), text, ""
	case r.DeclineReason != nil:
		text = by(who, locale.Say("%s declined this request.", who), locale.Say("This request was declined."))
		return locale.Say("Declined: %s", about), text, *r.DeclineReason
	}
	text = by(who, locale.Say("%s cancelled this request.", who), locale.Say("This request was cancelled."))
	return locale.Say("Cancelled: %s", about), text, ""
}

// reasonOf returns why a request was last opened again, as the audit entry keeps it; empty if nobody has said, or if it was erased.
func reasonOf(ctx context.Context, e *op.Engine, requestID string) (string, error) {
	entry, err := e.Store.Reader().AuditEntry.Query().
		Where(auditentry.ResourceID(requestID), auditentry.Action(events.RequestReopened), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).
		Order(ent.Desc(auditentry.FieldCreatedAt, auditentry.FieldID)).First(ctx)
	if err != nil {
		return "", wrap("read why it was opened again", ent.MaskNotFound(err))
	}
	var changes struct {
		Reason struct {
			To string `json:"to"`
		} `json:"reason"`
	}
	if err := json.Unmarshal(entry.Changes, &changes); err != nil {
		return "", fmt.Errorf("read why it was opened again: %w", err)
	}
	return changes.Reason.To, nil
}

func wrap(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

package notice

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/ent/user"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
)

// ProgressArgs is the job that notifies the requester of a request that was answered by a comment, completed, cancelled or opened again.
type ProgressArgs struct {
	Company string `json:"company"`
	Request string `json:"request"`
	Comment string `json:"comment,omitempty"` // the answer; empty when the request has ended
	By      string `json:"by"`                // who did it; gets no notice

	Reopened bool `json:"reopened,omitempty"`
}

// Kind returns the name of the job.
func (ProgressArgs) Kind() string { return "notice_progress" }

// InsertOpts gives the job a lower priority than jobs that people wait for.
func (ProgressArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Priority: 2} }

// progress works the jobs.
type progress struct {
	river.WorkerDefaults[ProgressArgs]
	engine *op.Engine
	reads  Reads
}

// Work notifies the requester and completes the job in one transaction.
func (w *progress) Work(ctx context.Context, job *river.Job[ProgressArgs]) error {
	a := job.Args
	people, note, err := w.find(outside(ctx, w.engine, a.Company), a)
	if err != nil {
		return err
	}
	return Finish(ctx, w.engine, a.Company, worker, people, note, job.JobRow)
}

// find returns the requester, if there is one to tell, and the notice.
func (w *progress) find(ctx context.Context, a ProgressArgs) ([]*ent.User, Note, error) {
	note := Note{Kind: Progress}
	r, err := w.engine.Store.Reader().Request.Query().Where(request.ID(a.Request)).Only(ctx)
	if err != nil {
		return nil, note, wrap("read the request", ent.MaskNotFound(err))
	}
	if a.Comment == "" && a.Reopened != lifecycle.RequestOpen(r.Status) {
		return nil, note, nil // what came after is told on its own
	}
	reads, row := w.reads.Request, any(r)
	if a.Comment != "" {
		c, err := w.engine.Store.Reader().Comment.Query().Where(comment.ID(a.Comment), comment.VisibilityEQ(comment.VisibilityPublic)).WithRequest().Only(ctx)
		if err != nil { // it may be deleted, or internal by now
			return nil, note, wrap("read the comment", ent.MaskNotFound(err))
		}
		reads, row = w.reads.Comment, c
	}
	who, err := authorOf(ctx, w.engine, a.By)
	if err != nil {
		return nil, note, err
	}
	said := ""
	if c, ok := row.(*ent.Comment); ok {
		said = c.Body
	}
	what, text, said := told(a, r, who, said)
	note.Subject, note.About, note.RequestID = what+": "+Named(r), Named(r), &r.ID
	note.Text, note.Quote = []string{text}, mail.Quote(said, MaxQuote)
	people, err := w.engine.Store.Reader().User.Query().Where(user.ID(r.CreatedBy), user.IDNEQ(a.By), user.StatusEQ(user.StatusActive)).All(ctx)
	if err != nil {
		return nil, note, fmt.Errorf("look up the requester: %w", err)
	}
	people, err = ReadersOutside(ctx, w.engine, a.Company, worker, people, reads, row, true)
	return people, note, err
}

// told describes what has happened to a request: in a word, as a sentence, and in the words of who did it.
func told(a ProgressArgs, r *ent.Request, who, comment string) (what, text, said string) {
	switch {
	case a.Comment != "":
		return "Answered", by(who, "answered your request", "Your request was answered"), comment
	case a.Reopened:
		return "Reopened", by(who, "reopened your request", "Your request was reopened"), ""
	case r.Status == request.StatusCOMPLETED:
		return "Completed", by(who, "completed your request", "Your request was completed"), ""
	case r.DeclineReason != nil:
		return "Declined", by(who, "declined your request", "Your request was declined"), *r.DeclineReason
	}
	return "Cancelled", by(who, "cancelled your request", "Your request was cancelled"), ""
}

func wrap(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

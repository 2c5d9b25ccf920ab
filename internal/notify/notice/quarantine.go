package notice

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	entattachment "atrium/ent/attachment"
	"atrium/ent/comment"
	"atrium/ent/inboundmail"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
)

// quarantined works the jobs of attachment.QuarantinedArgs: it tells who added a file in which the virus scanner has found something. Of what
// came by mail it tells the request's assignee, or without one its team: the sender may be anybody whose computer is infected.
type quarantined struct {
	river.WorkerDefaults[attachment.QuarantinedArgs]
	engine *op.Engine
	reads  Reads
}

// Work tells them and completes the job in one transaction.
func (w *quarantined) Work(ctx context.Context, job *river.Job[attachment.QuarantinedArgs]) error {
	people, note, err := w.find(outside(ctx, w.engine, job.Args.Company), job.Args)
	if err != nil {
		return err
	}
	return Finish(ctx, w.engine, job.Args.Company, worker, people, note, job.JobRow)
}

func (w *quarantined) find(ctx context.Context, args attachment.QuarantinedArgs) ([]*ent.User, Note, error) {
	a, err := w.engine.Store.Reader().Attachment.Query().Where(entattachment.ID(args.ID), entattachment.DeletedAtIsNil()).WithRequest().WithComment().Only(ctx)
	if err != nil {
		return nil, Note{}, wrap("read the file", ent.MaskNotFound(err))
	}
	name := mail.Plain(a.Name, 80)
	note := Note{
		Kind: Progress, Named: true, Subject: locale.Say("Quarantined: %s", name), RequestID: a.RequestID,
		Text: []locale.Text{locale.Say("The virus scanner found something in the file %s. Nobody can open it.", name)},
	}
	if c := a.Edges.Comment; c != nil {
		note.Confidential = c.Visibility == comment.VisibilityInternal
	}
	q := w.engine.Store.Reader().User.Query().Where(user.StatusIn(user.StatusActive, user.StatusInvited)).Order(user.ByID()).Limit(MaxTold)
	r := a.Edges.Request
	mailed, err := w.mailed(ctx, a, r)
	switch {
	case err != nil:
		return nil, note, err
	case !mailed:
		q.Where(user.ID(a.CreatedBy))
	case r.AssigneeID != nil:
		note.Kind = Assigned
		q.Where(user.ID(*r.AssigneeID))
	case r.TeamID != nil:
		note.Kind = Assigned
		q.Where(user.HasMembershipsWith(teammember.TeamID(*r.TeamID)))
	default:
		return nil, note, nil // nobody works on it
	}
	people, err := q.All(ctx)
	if err != nil {
		return nil, note, fmt.Errorf("look up whom to tell: %w", err)
	}
	if r == nil {
		return people, note, nil // a draft
	}
	note.About = Named(r)
	people, err = ReadersOutside(ctx, w.engine, args.Company, worker, people, w.reads.Request, r, true)
	return people, note, err
}

// mailed reports whether a file came by mail: with a comment, or with the request that the mail has filed.
func (w *quarantined) mailed(ctx context.Context, a *ent.Attachment, r *ent.Request) (bool, error) {
	if r == nil || a.CommentID == nil && a.CreatedAt.Sub(r.CreatedAt) > time.Minute { // added later
		return false, nil
	}
	became := inboundmail.And(inboundmail.RequestID(r.ID), inboundmail.OutcomeEQ(inboundmail.OutcomeREQUEST))
	if a.CommentID != nil {
		became = inboundmail.CommentID(*a.CommentID)
	}
	is, err := w.engine.Store.Reader().InboundMail.Query().Where(became).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the mail of the file: %w", err)
	}
	return is, nil
}

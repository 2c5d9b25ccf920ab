package request

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/ent/requestlink"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
)

// FollowUpArgs is the job that files a new request for what a requester has said about one that they can open again no more. It is a
// job, because what the offering or the access policies refuse must not keep the comment from being written.
type FollowUpArgs struct {
	Company string `json:"company"`
	Comment string `json:"comment"`
}

// Kind names the job.
func (FollowUpArgs) Kind() string { return "request_follow_up" }

// follower works the jobs of FollowUpArgs.
type follower struct {
	river.WorkerDefaults[FollowUpArgs]
	engine *op.Engine
}

// Work files the request.
func (w *follower) Work(ctx context.Context, job *river.Job[FollowUpArgs]) error {
	return FollowUp(ctx, w.engine, job.Args, job.JobRow)
}

// FollowUp files a request like the one that a comment is on, with the comment as its description, as the requester and by the ordinary
// operation, and links the two. Where such a request is open already, the comment is added to it. It completes the worker's job in the
// same transaction. What is refused, such as by a form that has changed, stays a comment.
func FollowUp(ctx context.Context, e *op.Engine, a FollowUpArgs, job *rivertype.JobRow) error {
	worker := principal.Worker(a.Company, "follow-up")
	reads := clock.With(principal.With(ctx, worker), e.Store.Clock())
	c, who, err := lateWord(reads, e.Store.Reader(), a.Comment)
	if err != nil {
		return err
	}
	if who != nil {
		if err = goesOn(reads, e, notice.PrincipalOf(who), c, job); err == nil {
			return nil
		}
		if !apperr.Refuses(err) {
			return err
		}
		e.Log.InfoContext(ctx, "what a requester said late stays a comment", "comment", c.ID, "error", err)
	}
	return e.WorkAs(ctx, worker, func(ctx context.Context, tx *op.Tx) error { return tx.Complete(ctx, job) })
}

// lateWord returns a comment with its request, and the request's requester who wrote it; no requester where nothing follows from it any
// more.
func lateWord(ctx context.Context, db *ent.Client, id string) (*ent.Comment, *ent.User, error) {
	c, err := db.Comment.Query().Where(comment.ID(id), comment.VisibilityEQ(comment.VisibilityPublic)).WithRequest().Only(ctx)
	if err != nil {
		return nil, nil, ignoreMissing(err)
	}
	if r := c.Edges.Request; r == nil || r.Status != request.StatusCOMPLETED || r.RequesterID != c.AuthorID {
		return c, nil, nil // staff has opened it again meanwhile
	}
	u, err := db.User.Query().Where(user.ID(c.AuthorID), user.StatusIn(user.StatusActive, user.StatusInvited)).Only(ctx)
	return c, u, ignoreMissing(err)
}

// goesOn adds a comment to the open request that follows its own, or files one.
func goesOn(ctx context.Context, e *op.Engine, who *principal.Principal, c *ent.Comment, job *rivertype.JobRow) error {
	open, err := e.Store.Reader().RequestLink.Query().
		Where(requestlink.ToID(c.RequestID), requestlink.TypeEQ(requestlink.TypeRelates)).
		Where(requestlink.HasFromWith(request.RequesterID(who.ID), lifecycle.OpenRequests())).
		Order(requestlink.ByCreatedAt(), requestlink.ByID()).First(ctx)
	switch {
	case err == nil:
		_, said, err := filesAlong(ctx, e, who, c, nil)
		if err != nil {
			return err
		}
		in := CreateCommentInput{ByID: op.ByID{ID: open.FromID}, Body: c.Body, Format: new(string(c.Format)), AttachmentIDs: said}
		return perform(ctx, e, who, CreateComment, in, job, func(context.Context, *op.Tx, *ent.Comment) error { return nil })
	case !ent.IsNotFound(err):
		return fmt.Errorf("look for the request that follows: %w", err)
	}
	was := c.Edges.Request
	fields, err := fieldsOf(was)
	if err != nil {
		return err
	}
	fields, said, err := filesAlong(ctx, e, who, c, fields)
	if err != nil {
		return err
	}
	in := CreateInput{
		ServiceID: was.ServiceID, OfferingID: was.OfferingID, Title: was.Title, Description: &c.Body, Format: new(string(c.Format)),
		Priority: new(string(was.Priority)), Fields: fields, AttachmentIDs: said,
	}
	return perform(ctx, e, who, Create, in, job, func(ctx context.Context, tx *op.Tx, r *ent.Request) error {
		l, err := connect(ctx, tx, r, was, requestlink.TypeRelates)
		if err != nil {
			return err
		}
		if err := tx.Note(ctx, "requestlink.created", "RequestLink", l.ID, nil); err != nil {
			return err
		}
		told := notice.ProgressArgs{Company: r.CompanyID, Request: r.ID, Filed: true} // by nobody, so that its requester is told
		return tx.Insert(ctx, told, time.Time{})
	})
}

// filesAlong copies the files that the answers of the comment's request name, and those of the comment, as drafts of the person, for the
// request that follows: a file belongs to one request. It returns the answers with the copies, and as many copies of the comment's files as
// fit beside them. Drafts that nothing takes are removed after a day.
func filesAlong(
	ctx context.Context, e *op.Engine, who *principal.Principal, c *ent.Comment, answers map[string]any,
) (fields map[string]any, said []string, err error) {
	var ids []string
	for _, answer := range answers {
		ids = append(ids, filesIn(answer)...)
	}
	var answered, of map[string]string
	err = e.WorkAs(ctx, who, func(ctx context.Context, tx *op.Tx) (err error) {
		if answered, err = attachment.CopyOfRequest(ctx, tx, c.RequestID, ids); err != nil {
			return err
		}
		of, err = attachment.CopyOfComment(ctx, tx, c.ID)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("copy the files: %w", err)
	}
	fields = make(map[string]any, len(answers))
	for key, answer := range answers {
		fields[key] = answer
		if named := filesIn(answer); len(named) > 0 {
			copies := []any{} // without what is quarantined
			for _, id := range named {
				if made, ok := answered[id]; ok {
					copies = append(copies, made)
				}
			}
			fields[key] = copies
		}
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		said = append(said, of[id])
	}
	return fields, said[:min(len(said), max(0, attachment.MaxFiles-len(answered)))], nil
}

// filesIn returns the ids of an answer that are all ids of files.
func filesIn(answer any) (ids []string) {
	list, _ := answer.([]any)
	for _, v := range list {
		one, _ := v.(string)
		if !id.Valid("att", one) {
			return nil
		}
		ids = append(ids, one)
	}
	return ids
}

// perform runs an operation as a person, then what follows, and completes the job, in one transaction.
func perform[In, Out any](
	ctx context.Context, e *op.Engine, who *principal.Principal, o *op.Operation[In, Out], in In, job *rivertype.JobRow,
	then func(context.Context, *op.Tx, Out) error,
) error {
	ready, err := op.Prepare(ctx, e, who, o, in)
	if err != nil {
		return err
	}
	return e.WorkAs(ctx, who, func(ctx context.Context, tx *op.Tx) error {
		out, err := op.RunReady(ctx, tx, o, ready)
		if err != nil {
			return err
		}
		if err := then(ctx, tx, out); err != nil {
			return err
		}
		return tx.Complete(ctx, job)
	})
}

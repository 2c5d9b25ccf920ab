package request

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
)

var commentSorts = op.Sorts{"createdAt": comment.FieldCreatedAt, "updatedAt": comment.FieldUpdatedAt}

// The operations on comments. A caller who may read a request may read its public comments. Staff who work on requests also
// read and write internal ones, with the right comment.internal. Only its author may change a comment.
var (
	ListComments = op.OnRow("comment.list", op.Spec{
		Resource: "Comment", Action: op.Read, Scope: "requests:read", Sorts: commentSorts,
		Summary: "List the comments on a request",
	}, load, listComments).Reaching(participant.InRequest)

	CommentsOf = op.New("comment.of_requests", op.Spec{
		Resource: "Comment", Action: op.Read, Scope: "requests:read", Sorts: commentSorts,
		Summary: "List the comments on several requests",
	}, func(ctx context.Context, tx *op.Tx, in paging.OfParents) (map[string]paging.List[*ent.Comment], error) {
		out, err := paging.Children(ctx, tx, in, commentSorts, comment.Table, comment.FieldRequestID, tx.Comment.Query(), shown(tx)...)
		if err != nil {
			return nil, err
		}
		var rows []*ent.Comment
		for _, list := range out {
			rows = append(rows, list.Rows...)
		}
		return out, conceal(ctx, tx, rows...)
	})

	GetComment = op.OnRow("comment.read", op.Spec{
		Resource: "Comment", Action: op.Read, Scope: "requests:read",
		Summary: "Get a comment",
	}, loadComment, func(ctx context.Context, tx *op.Tx, c *ent.Comment, _ op.ByID) (*ent.Comment, error) {
		return c, conceal(ctx, tx, c)
	}).WithRowVerbs(func(c any, _ op.ByID) []string { return internalVerb(c) }).Reaching(participant.InRequest)

	CreateComment = op.OnRow("comment.create", op.Spec{
		Resource: "Comment", Action: op.Create, Scope: "requests:write",
		Summary: "Comment on a request",
	}, load, createComment).Reaching(participant.InRequest).WithVerbs(func(in CreateCommentInput) []string {
		return visibilityVerbs("comment.create", op.Or(in.Visibility, ""))
	}).Prepared(prepareCreateComment)

	UpdateComment = op.OnRow("comment.update", op.Spec{
		Resource: "Comment", Action: op.Update, Scope: "requests:write",
		Summary: "Change a comment of one's own",
	}, loadOwnComment, updateComment).Reaching(participant.InRequest).WithVerbs(func(in UpdateCommentInput) []string {
		return visibilityVerbs("comment.update", op.Or(in.Visibility.Value(), ""))
	}).WithRowVerbs(func(c any, _ UpdateCommentInput) []string { return internalVerb(c) }).Prepared(prepareUpdateComment)

	DeleteComment = op.OnRow("comment.delete", op.Spec{
		Resource: "Comment", Action: op.Delete, Scope: "requests:write",
		Summary: "Delete a comment of one's own",
	}, loadOwnComment, deleteComment).Reaching(participant.InRequest).WithRowVerbs(func(c any, _ op.ByID) []string { return internalVerb(c) })
)

// visibilityVerbs returns the rights for writing a comment with a visibility.
func visibilityVerbs(verb, visibility string) []string {
	if visibility == string(comment.VisibilityInternal) {
		return []string{verb, "comment.internal"}
	}
	return []string{verb}
}

// internalVerb returns the additional right that an internal comment requires.
func internalVerb(c any) []string {
	if c, ok := c.(*ent.Comment); ok && c.Visibility == comment.VisibilityInternal {
		return []string{"comment.internal"}
	}
	return nil
}

// shown limits comments for callers whose role reaches only their own requests: they see public comments on these, and on
// requests in which a workflow gave them a part.
func shown(tx *op.Tx) []predicate.Comment {
	if !tx.OwnOnly() {
		return nil
	}
	return []predicate.Comment{
		comment.VisibilityEQ(comment.VisibilityPublic), comment.HasRequestWith(reached(tx)...),
	}
}

// conceal takes out what mails quoted, which may be a comment or an earlier result that others than the mail's author may not read: who reads
// every comment reads it. Callers whose role reaches only their own requests read names where others mention people, who may know no addresses.
func conceal(ctx context.Context, tx *op.Tx, rows ...*ent.Comment) error {
	if tx.OwnOnly() || tx.Visible(comment.Table) != nil {
		for _, c := range rows {
			c.Quoted = nil
		}
	}
	if !tx.OwnOnly() {
		return nil
	}
	var texts []string
	for _, c := range rows {
		if c.AuthorID != tx.Principal().ID { // who may edit it, as it was typed
			texts = append(texts, c.Body)
		}
	}
	names, err := namesIn(ctx, tx, texts...)
	if err != nil {
		return err
	}
	for _, c := range rows {
		switch {
		case c.AuthorID == tx.Principal().ID:
		case c.Format == comment.FormatMarkdown:
			c.Body = names.InMarkdown(c.Body)
		default:
			c.Body = names.In(c.Body)
		}
	}
	return nil
}

// loadComment loads a comment with its request: a role reaches the comment if the request is the caller's.
func loadComment(ctx context.Context, tx *op.Tx, id string) (*ent.Comment, error) {
	return op.Lock(tx, tx.Comment.Query().Where(comment.ID(id))).WithRequest().Only(ctx)
}

func loadOwnComment(ctx context.Context, tx *op.Tx, id string) (*ent.Comment, error) {
	c, err := loadComment(ctx, tx, id)
	if err == nil && c.AuthorID != tx.Principal().ID {
		refusal := apperr.New(apperr.Forbidden, "Only its author may change a comment.")
		refusal.Reason = "author"
		return nil, refusal
	}
	return c, err
}

// ListCommentsInput pages the comments on one request.
type ListCommentsInput struct {
	op.ByID
	paging.Page
}

func listComments(ctx context.Context, tx *op.Tx, r *ent.Request, in ListCommentsInput) (paging.List[*ent.Comment], error) {
	out, err := paging.Of(ctx, in.Page, commentSorts, tx.Comment.Query().Where(comment.RequestID(r.ID)).Where(shown(tx)...))
	if err != nil {
		return out, err
	}
	return out, conceal(ctx, tx, out.Rows...)
}

// CreateCommentInput describes a new comment on the request in the path.
type CreateCommentInput struct {
	op.ByID
	Body       string  `json:"body" minLength:"1" maxLength:"10000" pattern:"\\S" patternDescription:"more than blanks" example:"It has arrived."`
	Format     *string `json:"format,omitempty" nullable:"true" enum:"plain,markdown" doc:"How the body is written; plain when not given." example:"markdown"`
	Visibility *string `json:"visibility,omitempty" nullable:"true" enum:"public,internal" doc:"public when not given; internal ones are for agents, admins and owners." example:"public"`

	AttachmentIDs []string `json:"attachmentIds,omitempty" nullable:"true" maxItems:"20" doc:"Drafts of the caller's, which become files of the comment." example:"[]"`

	ByMail bool    `json:"-"` // it came by mail
	Quoted *string `json:"-"` // what the mail quoted
}

func createComment(ctx context.Context, tx *op.Tx, r *ent.Request, in CreateCommentInput) (*ent.Comment, error) {
	commentID := id.New("cmt")
	told, err := tell(ctx, tx, r, commentID, nil)
	if err != nil {
		return nil, err
	}
	create := tx.Comment.Create().SetID(commentID).SetRequestID(r.ID).SetAuthorID(tx.Principal().ID).SetBody(in.Body).
		SetFormat(comment.Format(formatFor(tx, in.Format))).
		SetVisibility(visibilityOr(op.Or(in.Visibility, ""), comment.VisibilityPublic))
	if len(told) > 0 {
		create.SetMentioned(told)
	}
	if in.ByMail {
		create.SetVia(comment.ViaMail).SetNillableQuoted(in.Quoted)
	}
	c, err := create.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("write the comment: %w", err)
	}
	if err := attachment.Claim(ctx, tx, in.AttachmentIDs, r.ID, &c.ID); err != nil {
		return nil, err
	}
	if err := announce(ctx, tx, r, c, told, false); err != nil {
		return nil, err
	}
	tx.About(c.ID)
	tx.Changed(nil, c)
	return c, nil
}

// UpdateCommentInput changes the fields that it names.
type UpdateCommentInput struct {
	op.ByID
	Body       op.Patch[string] `json:"body,omitzero" minLength:"1" maxLength:"10000" pattern:"\\S" patternDescription:"more than blanks"`
	Format     op.Patch[string] `json:"format,omitzero" enum:"plain,markdown" doc:"How the body is written."`
	Visibility op.Patch[string] `json:"visibility,omitzero" enum:"public,internal"`
}

func updateComment(ctx context.Context, tx *op.Tx, before *ent.Comment, in UpdateCommentInput) (*ent.Comment, error) {
	told, err := tell(ctx, tx, before.Edges.Request, before.ID, before.Mentioned)
	if err != nil {
		return nil, err
	}
	u := before.Update()
	if len(told) > len(before.Mentioned) {
		u.SetMentioned(told)
	}
	op.Set(in.Body, u.SetBody)
	op.Set(in.Format, func(to string) *ent.CommentUpdateOne { return u.SetFormat(comment.Format(formatFor(tx, &to))) })
	op.Set(in.Visibility, func(v string) *ent.CommentUpdateOne { return u.SetVisibility(comment.Visibility(v)) })
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("change the comment: %w", err)
	}
	if before.Visibility == comment.VisibilityInternal && after.Visibility == comment.VisibilityPublic {
		r, err := op.Lock(tx, tx.Request.Query().Where(request.ID(before.RequestID))).Only(tx.Unfiltered(ctx, "the comment's own request"))
		if err != nil {
			return nil, fmt.Errorf("read the comment's request: %w", err)
		}
		if err := announce(ctx, tx, r, after, told, true); err != nil {
			return nil, err
		}
	}
	seen := *after // the row itself is what the audit entry tells
	return &seen, conceal(ctx, tx, &seen)
}

func deleteComment(ctx context.Context, tx *op.Tx, c *ent.Comment, _ op.ByID) (struct{}, error) {
	if err := attachment.RemoveOf(ctx, tx, c.ID); err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, c, tx.Comment.DeleteOne(c).Exec)
}

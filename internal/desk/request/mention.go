package request

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/comment"
	"atrium/ent/predicate"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/mention"
	"atrium/internal/desk/participant"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// maxMentions limits the people that one comment may mention.
const maxMentions = 20

// mentioned holds the people to notify of a comment: active users who may read the comment as it will be and did not write
// it. They are found before the transaction, because the company's policies are asked about each of them. A sandbox notifies
// nobody.
type mentioned struct {
	people  []*ent.User
	comment *ent.Comment
	files   []locale.Text // the line that names its files; empty for none
	names   mention.Names // of all whom it mentions
	tooMany bool
}

// prepareMentions finds the people whom a comment mentions and who have not been notified of it. drafts are those of the author's that
// become its files.
func prepareMentions(ctx context.Context, tx *op.Tx, c *ent.Comment, drafts []string) (any, error) {
	names := mention.In(c.Body)
	if len(names) == 0 || tx.Principal().Sandbox {
		return nil, nil // nobody to notify
	}
	if len(names) > maxMentions {
		return mentioned{tooMany: true}, nil
	}
	found, err := tx.User.Query().Where(user.Or(user.IDIn(names...), user.EmailIn(names...)), user.StatusEQ(user.StatusActive),
		user.IDNEQ(c.AuthorID), user.IDNotIn(c.Mentioned...)).Order(user.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the people who are mentioned: %w", err)
	}
	people, err := notice.Readers(ctx, tx, found, func(ctx context.Context, who *principal.Principal) (bool, error) {
		return tx.ReadableBy(ctx, who, GetComment.Info(), c, internalVerb(c)...)
	})
	if err != nil {
		return nil, err
	}
	files, err := filesFor(ctx, tx, people, c, drafts)
	if err != nil {
		return nil, err
	}
	named, err := namesIn(ctx, tx, c.Body)
	return mentioned{people: people, comment: c, files: files, names: named}, err
}

// namesIn returns the names of those whom texts mention. Names are for everybody who reads the texts.
func namesIn(ctx context.Context, tx *op.Tx, texts ...string) (mention.Names, error) {
	return mention.Read(tx.Unfiltered(ctx, "who reads a text reads the names of those whom it mentions"), tx.Client, texts...)
}

// filesFor returns the line that names a comment's files to the people whom it mentions.
func filesFor(ctx context.Context, tx *op.Tx, people []*ent.User, c *ent.Comment, drafts []string) ([]locale.Text, error) {
	if len(people) == 0 {
		return nil, nil
	}
	of := attachment.CommentID(c.ID)
	if c.ID == "" {
		of = attachment.And(attachment.IDIn(drafts...), attachment.RequestIDIsNil(), attachment.CreatedBy(c.AuthorID))
	}
	return notice.Files(ctx, tx, tx.Attachment.Query().Where(of), people, func(a *ent.Attachment) {
		a.RequestID, a.CommentID, a.Edges.Request, a.Edges.Comment = &c.RequestID, &c.ID, c.Edges.Request, c
	})
}

// MentionChoices finds whom a comment on a request may mention: people who may read it, by a piece of their name or address. Callers
// whose role reaches only their own requests find those who take part in it.
var MentionChoices = op.OnRow("request.mention_choices", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "Find whom a comment on a request may mention",
}, read, mentionChoices).Reaching(participant.InRequest)

// Mentionable is somebody whom a comment may mention.
type Mentionable struct {
	ID, Name string
	Email    *string // for callers who may know addresses: nil for those whose role reaches only their own requests
}

// MentionChoicesInput says whom somebody looks for.
type MentionChoicesInput struct {
	op.ByID
	Q string `json:"-" maxLength:"200"`
}

// maxChoices bounds the people that are offered, and maxAsked of how many it is asked whether they may read the request, askedAtOnce at a
// time.
const (
	maxChoices  = 8
	askedAtOnce = 24
	maxAsked    = 96
)

func mentionChoices(ctx context.Context, tx *op.Tx, r *ent.Request, in MentionChoicesInput) ([]*Mentionable, error) {
	parts, err := partsIn(ctx, tx, []*ent.Request{r})
	if err != nil {
		return nil, err
	}
	// Others may not read it, and a company has many: they would take the places of those who may.
	ids := slices.Collect(maps.Keys(parts[r.ID]))
	may := user.IDIn(ids...)
	if !tx.OwnOnly() {
		may = user.Or(may, user.RoleNEQ(user.RoleMember), user.HasMembershipsWith(teammember.TeamIDIn(ids...)))
	}
	where := paging.Words([]predicate.User{user.StatusEQ(user.StatusActive), user.IDNEQ(tx.Principal().ID), may}, in.Q, user.FieldName, user.FieldEmail)
	out := []*Mentionable{}
	for from := 0; from < maxAsked; from += askedAtOnce {
		people, err := tx.User.Query().Where(where...).Order(user.ByName(), user.ByID()).Offset(from).Limit(askedAtOnce).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for people: %w", err)
		}
		readers, err := notice.Readers(ctx, tx, people, func(ctx context.Context, who *principal.Principal) (bool, error) {
			return tx.ReadableBy(ctx, who, Get.Info(), r)
		})
		if err != nil {
			return nil, err
		}
		for _, u := range readers[:min(len(readers), maxChoices-len(out))] {
			one := &Mentionable{ID: u.ID, Name: u.Name}
			if !tx.OwnOnly() {
				one.Email = &u.Email
			}
			out = append(out, one)
		}
		if len(out) == maxChoices || len(people) < askedAtOnce {
			break
		}
	}
	return out, nil
}

// prepareCreateComment prepares the mentions of a new comment. It returns nil when the request does not exist.
func prepareCreateComment(ctx context.Context, tx *op.Tx, in CreateCommentInput) (any, error) {
	if len(mention.In(in.Body)) == 0 {
		return nil, nil // nobody is mentioned
	}
	r, err := tx.Request.Load(ctx, in.ID)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	c := &ent.Comment{RequestID: r.ID, AuthorID: tx.Principal().ID, Body: in.Body, Format: comment.Format(formatFor(tx, in.Format))}
	c.Visibility = visibilityOr(op.Or(in.Visibility, ""), comment.VisibilityPublic)
	c.Edges.Request = r
	return prepareMentions(ctx, tx, c, in.AttachmentIDs)
}

// prepareUpdateComment prepares the mentions of a comment as it will be after the change.
func prepareUpdateComment(ctx context.Context, tx *op.Tx, in UpdateCommentInput) (any, error) {
	if !op.Sets(in) {
		return nil, nil // nothing changes
	}
	c, err := loadComment(ctx, tx, in.ID)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	op.Set(in.Body, func(body string) string { c.Body = body; return body })
	op.Set(in.Format, func(to string) string { c.Format = comment.Format(formatFor(tx, &to)); return to })
	c.Visibility = visibilityOr(op.Or(in.Visibility.Value(), ""), c.Visibility)
	return prepareMentions(ctx, tx, c, nil)
}

// tell notifies the people whom a comment mentions, in its transaction, and returns the ids of everyone notified so far.
func tell(ctx context.Context, tx *op.Tx, r *ent.Request, commentID string, before []string) ([]string, error) {
	m, ok := op.Preparation[mentioned](tx)
	switch {
	case !ok:
		return before, nil
	case m.tooMany, len(before)+len(m.people) > maxMentions:
		return nil, apperr.InvalidField("body", "must mention at most %d people", maxMentions)
	}
	out := slices.Clone(before)
	by, title := notice.Author(tx.Principal().Name), notice.Named(r)
	text := locale.Say("%s mentioned you in a comment.", by)
	if len(m.people) > 0 && m.comment.Visibility == comment.VisibilityInternal {
		text = locale.Say("%s mentioned you in an internal note.", by)
	}
	people := slices.DeleteFunc(slices.Clone(m.people), func(u *ent.User) bool { return slices.Contains(before, u.ID) }) // another call has notified them since
	if len(people) == 0 {
		return out, nil
	}
	for _, u := range people {
		out = append(out, u.ID)
	}
	isMarkdown := m.comment.Format == comment.FormatMarkdown
	err := notice.Send(ctx, tx, people, notice.Note{
		Kind: notice.Mention, Subject: notice.Mentioned(by, title), About: title, RequestID: &r.ID,
		Text: append([]locale.Text{text}, m.files...), Quote: notice.Quoted(m.comment.Body, isMarkdown, m.names), Markdown: isMarkdown, CommentID: commentID,
		Confidential: m.comment.Visibility == comment.VisibilityInternal,
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func visibilityOr(given string, usual comment.Visibility) comment.Visibility {
	if given == "" {
		return usual
	}
	return comment.Visibility(given)
}

// ignoreMissing turns a not-found error into nil, because the operation itself reports a missing row.
func ignoreMissing(err error) error {
	if ent.IsNotFound(err) {
		return nil
	}
	return err
}

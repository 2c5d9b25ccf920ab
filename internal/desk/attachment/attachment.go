package attachment

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/comment"
	"atrium/ent/company"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/files"
)

var sorts = op.Sorts{"createdAt": attachment.FieldCreatedAt, "updatedAt": attachment.FieldUpdatedAt}

// The operations on files. Bytes go through Depot.
var (
	Create = op.New("attachment.create", op.Spec{
		Resource: "Attachment", Action: op.Create, Scope: "requests:write",
		Summary: "Announce a file",
	}, create).Prepared(func(ctx context.Context, tx *op.Tx, _ CreateInput) (any, error) { return used(ctx, tx) })

	Get = op.Get("attachment.read", op.Spec{
		Resource: "Attachment", Action: op.Read, Scope: "requests:read",
		Summary: "Get what is known of a file",
	}, load).WithRowVerbs(internalVerb[op.ByID]).Reaching(participant.InRequest)

	List = op.OnRow("attachment.list", op.Spec{
		Resource: "Attachment", Action: op.Read, Scope: "requests:read", Sorts: sorts,
		Summary: "List the files of a request",
	}, loadRequest, list).Reaching(participant.InRequest)

	OfRequests = op.New("attachment.of_requests", op.Spec{
		Resource: "Attachment", Action: op.Read, Scope: "requests:read",
		Summary: "List the files of several requests",
	}, func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*ent.Attachment, error) {
		return of(ctx, tx, in, attachment.And(attachment.RequestIDIn(in.IDs...), attachment.CommentIDIsNil()), func(a *ent.Attachment) string { return *a.RequestID })
	})

	OfComments = op.New("attachment.of_comments", op.Spec{
		Resource: "Attachment", Action: op.Read, Scope: "requests:read",
		Summary: "List the files of several comments",
	}, func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*ent.Attachment, error) {
		return of(ctx, tx, in, attachment.CommentIDIn(in.IDs...), func(a *ent.Attachment) string { return *a.CommentID })
	})

	Delete = op.OnRow("attachment.delete", op.Spec{
		Resource: "Attachment", Action: op.Delete, Scope: "requests:write",
		Summary: "Remove a file",
	}, loadOwn, remove).WithRowVerbs(internalVerb[op.ByID]).Reaching(participant.InRequest)
)

const (
	mib = 1 << 20
	gib = 1 << 30

	MaxFiles   = 20  // of one request itself, or of one comment
	maxInAll   = 200 // of a request and its comments
	maxDrafts  = 100 // of one person
	maxOfLists = 10_000
)

// Room is what a plan gives for files, in bytes.
type Room struct{ File, Company int64 }

// rooms are the plans' rooms. A sandbox has that of the free plan.
var rooms = map[company.Plan]Room{
	company.PlanFree: {10 * mib, gib}, company.PlanPro: {25 * mib, 5 * gib}, company.PlanStarter: {50 * mib, 20 * gib},
	company.PlanGrowth: {100 * mib, 100 * gib}, company.PlanBusiness: {250 * mib, 500 * gib}, company.PlanEnterprise: {250 * mib, 500 * gib},
}

// RoomOf returns the room that a company has.
func RoomOf(c *ent.Company) Room {
	if c.SandboxOf != nil {
		return rooms[company.PlanFree]
	}
	return rooms[c.Plan]
}

// live matches the files that are not deleted.
func live() predicate.Attachment { return attachment.DeletedAtIsNil() }

// shown leaves out what is deleted, and others' drafts. Callers whose role reaches only their own requests see what is public at these,
// and at requests in which a workflow gave them a part.
func shown(tx *op.Tx) []predicate.Attachment {
	me := tx.Principal().ID
	where := []predicate.Attachment{live(), attachment.Or(attachment.RequestIDNotNil(), attachment.CreatedBy(me))} // a draft is its author's matter
	if !tx.OwnOnly() {
		return where
	}
	return append(where, attachment.Or(
		attachment.RequestIDIsNil(),
		attachment.And(attachment.HasRequestWith(participant.Reaches(me)), attachment.Or(
			attachment.CommentIDIsNil(), attachment.HasCommentWith(comment.VisibilityEQ(comment.VisibilityPublic)),
		)),
	))
}

// load loads a file that the caller may come to see, with its comment.
func load(ctx context.Context, tx *op.Tx, id string) (*ent.Attachment, error) {
	return op.Lock(tx, tx.Attachment.Query().Where(attachment.ID(id)).Where(shown(tx)...)).WithComment().Only(ctx)
}

func loadOwn(ctx context.Context, tx *op.Tx, id string) (*ent.Attachment, error) {
	a, err := load(ctx, tx, id)
	if err == nil && tx.OwnOnly() && a.CreatedBy != tx.Principal().ID {
		refusal := apperr.New(apperr.Forbidden, "Only who added it, or staff, may remove a file.")
		refusal.Reason = "author"
		return nil, refusal
	}
	return a, err
}

// internalVerb returns the additional right that a file of an internal comment requires.
func internalVerb[In any](row any, _ In) []string {
	if a, ok := row.(*ent.Attachment); ok && a.Edges.Comment != nil && a.Edges.Comment.Visibility == comment.VisibilityInternal {
		return []string{"comment.internal"}
	}
	return nil
}

// used returns the bytes of the company's files.
func used(ctx context.Context, tx *op.Tx) (int64, error) {
	var sums []struct{ Sum *int64 }
	err := tx.Attachment.Query().Where(live()).Aggregate(ent.Sum(attachment.FieldSize)).Scan(tx.Unfiltered(ctx, "the room is the company's"), &sums)
	if err != nil {
		return 0, fmt.Errorf("add up the files: %w", err)
	}
	if len(sums) == 0 || sums[0].Sum == nil {
		return 0, nil
	}
	return *sums[0].Sum, nil
}

// CreateInput describes a file that is going to be sent.
type CreateInput struct {
	RequestID *string `json:"requestId,omitempty" nullable:"true" maxLength:"64" doc:"The request that it belongs to; give one of requestId, commentId and draft." example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	CommentID *string `json:"commentId,omitempty" nullable:"true" maxLength:"64" doc:"A comment of the caller's that it belongs to."`
	Draft     *bool   `json:"draft,omitempty" nullable:"true" doc:"True for a file of a request or a comment that is still being written: name it there in attachmentIds within a day."`
	Name      string  `json:"name" minLength:"1" maxLength:"255" pattern:"\\S" patternDescription:"more than blanks" doc:"The file's name, without a path." example:"invoice.pdf"`
	Size      int64   `json:"size" minimum:"1" maximum:"1099511627776" doc:"Its bytes." example:"48213"`
}

// Announced is a file whose bytes are awaited.
type Announced struct {
	*ent.Attachment
	UploadURL string // where its bytes are to be sent, by PUT
}

// ContentPath returns the path of a file's bytes, below the base URL.
func ContentPath(id string) string { return "/v1/attachments/" + id + "/content" }

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*Announced, error) {
	requestID, err := in.target(ctx, tx)
	if err != nil {
		return nil, err
	}
	name, err := fileName(in.Name)
	if err != nil {
		return nil, err
	}
	if err := hasRoom(ctx, tx, in.Size); err != nil {
		return nil, err
	}
	if err := fewEnough(ctx, tx, requestID, in.CommentID, 1); err != nil {
		return nil, err
	}
	c := tx.Attachment.Create().SetNillableRequestID(requestID).SetName(name).SetSize(in.Size).SetCreatedBy(tx.Principal().ID)
	a, err := c.SetNillableCommentID(in.CommentID).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("announce the file: %w", err)
	}
	tx.Changed(nil, a)
	return &Announced{a, tx.BaseURL() + ContentPath(a.ID)}, nil
}

// target returns the request to which the file goes; nil for a draft.
func (in CreateInput) target(ctx context.Context, tx *op.Tx) (*string, error) {
	given := 0
	for _, is := range []bool{in.RequestID != nil, in.CommentID != nil, op.Or(in.Draft, false)} {
		if is {
			given++
		}
	}
	if given != 1 {
		return nil, apperr.InvalidField("requestId", "is one of three: give requestId, commentId, or draft")
	}
	switch {
	case in.RequestID != nil:
		if err := tx.May(ctx, "comment.create"); err != nil {
			return nil, err
		}
		var refs op.Refs
		refs.Check("requestId", in.RequestID, "request", op.FindShared(ctx, tx, func(id string) *ent.RequestQuery {
			q := tx.Request.Query().Where(request.ID(id))
			if tx.OwnOnly() {
				q.Where(participant.Reaches(tx.Principal().ID))
			}
			return q
		}))
		return in.RequestID, refs.Err()
	case in.CommentID != nil:
		c, err := tx.Comment.Query().Where(comment.ID(*in.CommentID), comment.AuthorID(tx.Principal().ID)).Only(ctx)
		if ent.IsNotFound(err) {
			return nil, apperr.InvalidField("commentId", "is no comment of yours")
		}
		if err != nil {
			return nil, fmt.Errorf("look the comment up: %w", err)
		}
		return &c.RequestID, nil
	}
	return nil, nil
}

// fileName returns a name in Unicode's composed form. Returns a validation error for one that leads elsewhere, or that does not show what
// it is: with a path, control characters, or marks that turn the direction of writing.
func fileName(name string) (string, error) {
	name = norm.NFC.String(strings.TrimSpace(name))
	bad := func(r rune) bool {
		return r == '/' || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
	}
	if name == "." || name == ".." || strings.ContainsFunc(name, bad) {
		return "", apperr.InvalidField("name", "must be a file's name without a path, control characters or marks of direction")
	}
	return name, nil
}

// hasRoom returns an error when a file is larger than the company's plan allows, or does not fit beside its other files.
func hasRoom(ctx context.Context, tx *op.Tx, size int64) error {
	c, err := tx.Company.Query().Where(company.ID(tx.Principal().CompanyID)).Only(tx.Unfiltered(ctx, "the company's own plan"))
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	room := RoomOf(c)
	if size > room.File {
		return apperr.InvalidField("size", "must be at most %d: the plan allows files of %d MB", room.File, room.File/mib)
	}
	n, prepared := op.Preparation[int64](tx)
	if !prepared {
		if n, err = used(ctx, tx); err != nil {
			return err
		}
	}
	if n+size > room.Company {
		return apperr.New(apperr.Conflict, "The company's files use %d MB of %d MB; this one does not fit.", n/mib, room.Company/mib)
	}
	if len(c.FilesKeySealed) > 0 {
		return nil
	}
	return NeedKey(ctx, tx)
}

// NeedKey gives the company the key of its files, if it has none.
func NeedKey(ctx context.Context, tx *op.Tx) error {
	c, err := op.Lock(tx, tx.Company.Query().Where(company.ID(tx.Principal().CompanyID))).Only(tx.Unfiltered(ctx, "the company's own key"))
	if err != nil || len(c.FilesKeySealed) > 0 {
		return err
	}
	_, text, err := files.MakeKey()
	if err != nil {
		return err
	}
	sealed, err := tx.Sealer().Seal([]byte(text), []byte(c.ID))
	if err != nil {
		return fmt.Errorf("seal the key of files: %w", err)
	}
	if err := c.Update().SetFilesKeySealed(sealed).Exec(ctx); err != nil {
		return fmt.Errorf("keep the key of files: %w", err)
	}
	return nil
}

// bound is how many files something may have.
type bound struct {
	most  int
	what  string
	where predicate.Attachment
}

// boundsOf returns the bounds for files of a request, of one of its comments, or of drafts.
func boundsOf(tx *op.Tx, requestID, commentID *string) []bound {
	if requestID == nil {
		return []bound{{maxDrafts, "A person's drafts", attachment.And(attachment.RequestIDIsNil(), attachment.CreatedBy(tx.Principal().ID))}}
	}
	all := bound{maxInAll, "A request with its comments", attachment.RequestID(*requestID)}
	if commentID != nil {
		return []bound{all, {MaxFiles, "A comment", attachment.CommentID(*commentID)}}
	}
	return []bound{all, {MaxFiles, "A request itself", attachment.And(attachment.RequestID(*requestID), attachment.CommentIDIsNil())}}
}

// room returns how many files more are within a bound.
func (b bound) room(ctx context.Context, tx *op.Tx) (int, error) {
	has, err := tx.Attachment.Query().Where(live(), b.where).Count(tx.Unfiltered(ctx, "files that the caller does not see count as well"))
	if err != nil {
		return 0, fmt.Errorf("count the files: %w", err)
	}
	return max(0, b.most-has), nil
}

// fewEnough returns conflict when n files more are too many for where they go.
func fewEnough(ctx context.Context, tx *op.Tx, requestID, commentID *string, n int) error {
	for _, b := range boundsOf(tx, requestID, commentID) {
		room, err := b.room(ctx, tx)
		if err != nil {
			return err
		}
		if n > room {
			return apperr.New(apperr.Conflict, "%s has at most %d files.", b.what, b.most)
		}
	}
	return nil
}

// roomFor returns how many of n files have room where they go.
func roomFor(ctx context.Context, tx *op.Tx, requestID, commentID *string, n int) (int, error) {
	for _, b := range boundsOf(tx, requestID, commentID) {
		if n == 0 {
			break
		}
		room, err := b.room(ctx, tx)
		if err != nil {
			return 0, err
		}
		n = min(n, room)
	}
	return n, nil
}

func remove(ctx context.Context, tx *op.Tx, a *ent.Attachment, _ op.ByID) (struct{}, error) {
	if err := answersNothing(ctx, tx, a); err != nil {
		return struct{}{}, err
	}
	if err := a.Update().SetDeletedAt(tx.Now(ctx)).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("remove the file: %w", err)
	}
	tx.Changed(a, nil)
	return struct{}{}, nil
}

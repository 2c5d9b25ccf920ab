package attachment

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/comment"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

func loadRequest(ctx context.Context, tx *op.Tx, id string) (*ent.Request, error) {
	return tx.Request.Load(ctx, id)
}

// ListInput pages the files of one request.
type ListInput struct {
	op.ByID
	paging.Page
}

func list(ctx context.Context, tx *op.Tx, r *ent.Request, in ListInput) (paging.List[*ent.Attachment], error) {
	return paging.Of(ctx, in.Page, sorts, tx.Attachment.Query().Where(attachment.RequestID(r.ID)).Where(shown(tx)...))
}

// of returns the files of each row, in the order in which they were added.
func of(ctx context.Context, tx *op.Tx, in paging.ByIDs, where predicate.Attachment, at func(*ent.Attachment) string) (map[string][]*ent.Attachment, error) {
	rows, err := tx.Attachment.Query().Where(where).Where(shown(tx)...).Order(attachment.ByCreatedAt(), attachment.ByID()).Limit(maxOfLists).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the files: %w", err)
	}
	out := map[string][]*ent.Attachment{}
	for _, id := range in.IDs {
		out[id] = []*ent.Attachment{}
	}
	for _, a := range rows {
		out[at(a)] = append(out[at(a)], a)
	}
	return out, nil
}

// OfRequest matches the requests with a file that the caller sees, at the request or at a comment; without one if has is false. What has
// not come yet is no file.
func OfRequest(tx *op.Tx, has bool) predicate.Request {
	public := tx.OwnOnly()
	files, comments := tx.Visible(attachment.Table), tx.Visible(comment.Table)
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		t, c := d.Table(attachment.Table).As("files"), d.Table(comment.Table).As("said")
		of := d.Select(t.C(attachment.FieldID)).From(t).
			Where(sql.ColumnsEQ(t.C(attachment.FieldCompanyID), s.C(request.FieldCompanyID))).
			Where(sql.ColumnsEQ(t.C(attachment.FieldRequestID), s.C(request.FieldID))).
			Where(sql.And(sql.IsNull(t.C(attachment.FieldDeletedAt)), sql.EQ(t.C(attachment.FieldStatus), attachment.StatusREADY)))
		if files != nil {
			files(of)
		}
		if public {
			said := d.Select(c.C(comment.FieldID)).From(c).
				Where(sql.ColumnsEQ(c.C(comment.FieldCompanyID), s.C(request.FieldCompanyID))).
				Where(sql.EQ(c.C(comment.FieldVisibility), comment.VisibilityPublic))
			if comments != nil {
				comments(said)
			}
			of.Where(sql.Or(sql.IsNull(t.C(attachment.FieldCommentID)), sql.In(t.C(attachment.FieldCommentID), said)))
		}
		found := sql.Exists(of)
		if !has {
			found = sql.Not(found)
		}
		s.Where(found)
	}
}

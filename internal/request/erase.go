package request

import (
	"context"
	"errors"

	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/internal/op"
)

// Erase takes what people wrote from requests, with mark where a text may not be empty. The audit log notes each, and so who
// watches is told.
func Erase(ctx context.Context, tx *op.Tx, mark string, ids ...string) error {
	errs := []error{tx.Request.Update().Where(request.IDIn(ids...)).SetTitle(mark).SetDescription("").ClearFields().ClearTags().Exec(ctx)}
	for _, id := range ids {
		errs = append(errs, tx.Note(ctx, "request.erased", "Request", id, nil))
	}
	return errors.Join(errs...)
}

// EraseComments does so with comments.
func EraseComments(ctx context.Context, tx *op.Tx, mark string, ids ...string) error {
	errs := []error{tx.Comment.Update().Where(comment.IDIn(ids...)).SetBody(mark).Exec(ctx)}
	for _, id := range ids {
		errs = append(errs, tx.Note(ctx, "comment.erased", "Comment", id, nil))
	}
	return errors.Join(errs...)
}

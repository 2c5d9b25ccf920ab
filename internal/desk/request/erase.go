package request

import (
	"context"
	"errors"

	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/internal/op"
)

// Erase removes the texts that people wrote from requests, and puts mark where a text may not be empty. It writes an audit
// entry for each, so that everybody who watches a request sees the change.
func Erase(ctx context.Context, tx *op.Tx, mark string, ids ...string) error {
	errs := []error{tx.Request.Update().Where(request.IDIn(ids...)).SetTitle(mark).SetDescription("").ClearFields().ClearTags().ClearDeclineReason().ClearSatisfactionComment().Exec(ctx)}
	for _, id := range ids {
		errs = append(errs, tx.Note(ctx, "request.erased", "Request", id, nil))
	}
	return errors.Join(errs...)
}

// EraseReasons removes the reasons for which requests were declined.
func EraseReasons(ctx context.Context, tx *op.Tx, ids ...string) error {
	errs := []error{tx.Request.Update().Where(request.IDIn(ids...)).ClearDeclineReason().Exec(ctx)}
	for _, id := range ids {
		errs = append(errs, tx.Note(ctx, "request.erased", "Request", id, nil))
	}
	return errors.Join(errs...)
}

// EraseComments does the same for comments.
func EraseComments(ctx context.Context, tx *op.Tx, mark string, ids ...string) error {
	errs := []error{tx.Comment.Update().Where(comment.IDIn(ids...)).SetBody(mark).ClearQuoted().Exec(ctx)}
	for _, id := range ids {
		errs = append(errs, tx.Note(ctx, "comment.erased", "Comment", id, nil))
	}
	return errors.Join(errs...)
}

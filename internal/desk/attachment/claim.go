package attachment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Claim hands drafts of the caller over to a request, or to one of its comments. Returns a validation error that names the
// place in attachmentIds of the first that is no draft of theirs whose bytes have come.
func Claim(ctx context.Context, tx *op.Tx, ids []string, requestID string, commentID *string) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := op.Lock(tx, tx.Attachment.Query().Where(attachment.IDIn(ids...), attachment.RequestIDIsNil(), attachment.CreatedBy(tx.Principal().ID), live()).
		Order(attachment.ByID())).All(ctx)
	if err != nil {
		return fmt.Errorf("read the drafts: %w", err)
	}
	for i, id := range ids {
		at := slices.IndexFunc(rows, func(a *ent.Attachment) bool { return a.ID == id })
		switch place := fmt.Sprintf("attachmentIds[%d]", i); {
		case at < 0:
			return apperr.InvalidField(place, "is no draft of yours")
		case rows[at].Status != attachment.StatusREADY:
			return apperr.InvalidField(place, "is a file whose bytes have not come yet")
		case slices.Index(ids, id) < i:
			return apperr.InvalidField(place, "is named twice")
		}
	}
	if err := handOver(ctx, tx, ids, requestID, commentID); err != nil {
		return err
	}
	tx.ChangedField("attachmentIds", nil, ids)
	return nil
}

// handOver makes drafts, which the caller has locked, files of a request or of one of its comments.
func handOver(ctx context.Context, tx *op.Tx, ids []string, requestID string, commentID *string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := fewEnough(ctx, tx, &requestID, commentID, len(ids)); err != nil {
		return err
	}
	u := tx.Attachment.Update().Where(attachment.IDIn(ids...)).SetRequestID(requestID)
	if commentID != nil {
		u.SetCommentID(*commentID)
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("hand the drafts over: %w", err)
	}
	return nil
}

// RemoveOf removes the files of a comment that is being deleted.
func RemoveOf(ctx context.Context, tx *op.Tx, commentID string) error {
	err := tx.Attachment.Update().Where(attachment.CommentID(commentID), live()).SetDeletedAt(tx.Now(ctx)).Exec(ctx)
	if err == nil {
		err = tx.Attachment.Update().Where(attachment.CommentID(commentID)).ClearCommentID().Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("remove the comment's files: %w", err)
	}
	return nil
}

// Erase removes files for good: their names now, their bytes after a day, as of all that is deleted. It writes an audit entry for each.
func Erase(ctx context.Context, tx *op.Tx, mark string, ids ...string) error {
	errs := []error{tx.Attachment.Update().Where(attachment.IDIn(ids...)).SetName(mark).SetDeletedAt(tx.Now(ctx)).Exec(ctx)}
	for _, id := range ids {
		errs = append(errs, tx.Note(ctx, "attachment.erased", "Attachment", id, nil))
	}
	return errors.Join(errs...)
}

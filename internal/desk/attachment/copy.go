package attachment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/predicate"
	"atrium/internal/op"
)

// CopyOfRequest makes drafts of the caller of those files of a request itself that have one of the ids. Results are those of copied.
func CopyOfRequest(ctx context.Context, tx *op.Tx, requestID string, ids []string) (map[string]string, error) {
	return copied(ctx, tx, attachment.And(attachment.RequestID(requestID), attachment.CommentIDIsNil(), attachment.IDIn(ids...)))
}

// CopyOfComment makes drafts of the caller of the files of a comment. Results are those of copied.
func CopyOfComment(ctx context.Context, tx *op.Tx, commentID string) (map[string]string, error) {
	return copied(ctx, tx, attachment.CommentID(commentID))
}

// copied makes drafts of the caller of files, which name the same bytes, and returns their ids by those of the files. Those whose bytes have
// not come, or are quarantined, are left out.
func copied(ctx context.Context, tx *op.Tx, where predicate.Attachment) (map[string]string, error) {
	q := tx.Attachment.Query().Where(where, live(), attachment.StatusEQ(attachment.StatusREADY), attachment.StoredAsNEQ("")).Order(attachment.ByID()).Limit(maxInAll)
	rows, err := q.Clone().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the files to copy: %w", err)
	}
	names := map[string]bool{}
	for _, a := range rows {
		names[nameOf(a.CompanyID, a.Sha256)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) { // no scan ends and no bytes go meanwhile
		if err := tx.LockName(ctx, name); err != nil {
			return nil, err
		}
	}
	if rows, err = q.All(ctx); err != nil {
		return nil, fmt.Errorf("read the files to copy: %w", err)
	}
	out := make(map[string]string, len(rows))
	for _, a := range rows {
		if !names[nameOf(a.CompanyID, a.Sha256)] {
			continue // it has come just now
		}
		made, err := draftOf(ctx, tx, a)
		if err != nil {
			return nil, err
		}
		out[a.ID] = made.ID
	}
	return out, nil
}

func draftOf(ctx context.Context, tx *op.Tx, a *ent.Attachment) (*ent.Attachment, error) {
	made, err := tx.Attachment.Create().SetName(a.Name).SetSize(a.Size).SetCreatedBy(tx.Principal().ID).SetStatus(a.Status).SetScan(a.Scan).SetSha256(a.Sha256).
		SetMediaType(a.MediaType).SetNillableWidth(a.Width).SetNillableHeight(a.Height).SetStoredAs(a.StoredAs).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("copy a file: %w", err)
	}
	return made, tx.Note(ctx, "attachment.created", "Attachment", made.ID, nil)
}

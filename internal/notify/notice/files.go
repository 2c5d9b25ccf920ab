package notice

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	entattachment "atrium/ent/attachment"
	"atrium/ent/predicate"
	"atrium/internal/desk/attachment"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// filesOf returns the line of a mail that names the files of a comment, or without one those of a request itself; no line for none.
func filesOf(ctx context.Context, e *op.Engine, company string, readers []*ent.User, requestID, commentID string) ([]locale.Text, error) {
	if len(readers) == 0 {
		return nil, nil
	}
	of := []predicate.Attachment{entattachment.RequestID(requestID), entattachment.CommentIDIsNil()}
	if commentID != "" {
		of = []predicate.Attachment{entattachment.CommentID(commentID)}
	}
	return Files(ctx, e.Outside(principal.Worker(company, worker)), e.Store.Reader().Attachment.Query().Where(of...), readers, nil)
}

// Files returns the line of a mail that names files with their sizes; no line for none. It leaves out those that one of the readers may not
// read, what has not come, and what is quarantined. as changes a row to what it will be for its readers; nil: it is that. Call it in a
// preparation, or in a worker before its transaction, as Readers.
func Files(ctx context.Context, tx *op.Tx, q *ent.AttachmentQuery, readers []*ent.User, as func(*ent.Attachment)) ([]locale.Text, error) {
	rows, err := q.Where(entattachment.DeletedAtIsNil(), entattachment.StatusEQ(entattachment.StatusREADY), entattachment.ScanNEQ(entattachment.ScanINFECTED)).
		Order(entattachment.ByCreatedAt(), entattachment.ByID()).Limit(attachment.MaxFiles).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the files: %w", err)
	}
	var names []string
	for _, a := range rows {
		if as != nil {
			as(a)
		}
		may, err := Readers(ctx, tx, readers, func(ctx context.Context, who *principal.Principal) (bool, error) {
			return tx.VisibleTo(ctx, who, attachment.Get.Info(), a)
		})
		if err != nil {
			return nil, fmt.Errorf("ask who may read the files: %w", err)
		}
		if len(may) == len(readers) {
			names = append(names, fmt.Sprintf("%s (%s)", mail.Plain(a.Name, 80), sizeOf(a.Size)))
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return []locale.Text{locale.Say("Files at the request: %s", strings.Join(names, ", "))}, nil
}

// sizeOf returns a size as people read it, in whole KB or MB, rounded up.
func sizeOf(bytes int64) string {
	if kb := (bytes + 1<<10 - 1) >> 10; kb < 1<<10 {
		return fmt.Sprintf("%d KB", kb)
	}
	return fmt.Sprintf("%d MB", (bytes+1<<20-1)>>20)
}

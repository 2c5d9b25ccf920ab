package attachment

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/predicate"
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

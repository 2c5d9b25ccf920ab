package erasure

import (
	"context"
	"errors"

	entattachment "atrium/ent/attachment"
	"atrium/ent/predicate"
	"atrium/internal/desk/attachment"
	"atrium/internal/op"
)

// filesOf erases the files that the person added, at whosever requests.
func (p *person) filesOf(ctx context.Context) error {
	return p.files(ctx, entattachment.CreatedBy(p.User))
}

// files erases files. A sweep removes their bytes with the rows a day later (attachment.Depot).
func (p *person) files(ctx context.Context, which predicate.Attachment) error {
	for after := ""; ; {
		var ids []string
		err := p.do(ctx, func(ctx context.Context, tx *op.Tx) (err error) {
			found := tx.Attachment.Query().Where(which, entattachment.IDGT(after)).Order(entattachment.ByID())
			ids, err = found.Limit(batch).IDs(ctx)
			if err != nil || len(ids) == 0 {
				return err
			}
			p.about = append(p.about, ids...)
			return errors.Join(
				attachment.Erase(ctx, tx, Mark, ids...),
				recordsAbout(ctx, tx, ids...),
			)
		})
		if err != nil || len(ids) < batch {
			return err
		}
		after = ids[len(ids)-1]
	}
}

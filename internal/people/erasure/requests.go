package erasure

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/attachment"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/request"
	"atrium/internal/op"
)

// requests erases the requests that are the person's, whoever filed them, with everything that belongs to them. What the person filed
// for somebody else stays that one's.
func (p *person) requests(ctx context.Context) error {
	for after := ""; ; {
		var rows []*ent.Request
		err := p.do(ctx, func(ctx context.Context, tx *op.Tx) (err error) {
			rows, err = tx.Request.Query().Where(entrequest.RequesterID(p.User), entrequest.IDGT(after)).Order(entrequest.ByID()).Limit(batch).All(ctx)
			if err != nil || len(rows) == 0 {
				return err
			}
			return p.eraseRequests(ctx, tx, rows)
		})
		if err == nil && len(rows) > 0 {
			err = p.files(ctx, attachment.RequestIDIn(idsOf(rows)...))
		}
		if err != nil || len(rows) < batch {
			return err
		}
		after = rows[len(rows)-1].ID
	}
}

func idsOf(rows []*ent.Request) []string {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids
}

func (p *person) eraseRequests(ctx context.Context, tx *op.Tx, rows []*ent.Request) error {
	ids := idsOf(rows)
	if err := request.Erase(ctx, tx, Mark, ids...); err != nil {
		return fmt.Errorf("erase requests: %w", err)
	}
	for _, r := range rows {
		if !lifecycle.RequestOpen(r.Status) {
			continue
		}
		in := request.DeclineInput{ByID: op.ByID{ID: r.ID}, Reason: "The person whom it was for was erased."}
		if _, err := op.RunIn(ctx, tx, request.Decline, in); err != nil {
			return err
		}
	}
	return p.around(ctx, tx, ids)
}

package erasure

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/idempotencykey"
	entrequest "atrium/ent/request"
	"atrium/ent/savedview"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/workflow/execution"
)

// reasons erases the reasons for which the person declined requests of others. The audit log knows whose they were, until its entries
// are erased.
func (p *person) reasons(ctx context.Context) error {
	for after := ""; ; {
		n := 0
		err := p.do(ctx, func(ctx context.Context, tx *op.Tx) error {
			entries, err := tx.AuditEntry.Query().Where(auditentry.ActorIDIn(append(p.keys, p.User)...), auditentry.Action(events.RequestCancelled), auditentry.IDGT(after)).
				Order(auditentry.ByID()).Limit(batch).All(ctx)
			if n = len(entries); err != nil || n == 0 {
				return err
			}
			after = entries[n-1].ID
			var ids []string
			for _, e := range entries {
				if e.ResourceID != nil {
					ids = append(ids, *e.ResourceID)
				}
			}
			declined, err := tx.Request.Query().Where(entrequest.IDIn(ids...), entrequest.DeclineReasonNotNil(), entrequest.RequesterIDNEQ(p.User)).IDs(ctx)
			if err != nil || len(declined) == 0 {
				return err
			}
			return errors.Join(
				request.EraseReasons(ctx, tx, declined...),
				deleted(tx.IdempotencyKey.Delete().Where(idempotencykey.RowIDIn(declined...)).Exec(ctx)),
			)
		})
		if err != nil || n < batch {
			return err
		}
	}
}

// answers erases what the person has completed tasks and resolved incidents with. An execution that runs needs it, and is looked at again.
func (p *person) answers(ctx context.Context) error {
	waits := false
	for _, erase := range []func(context.Context, *ent.Client, string, string, int) ([]string, bool, error){execution.EraseAnswers, execution.EraseResolutions} {
		for after, full := "", true; full; {
			err := p.do(ctx, func(ctx context.Context, tx *op.Tx) error {
				ids, open, err := erase(ctx, tx.Client, p.User, after, batch)
				if full = len(ids) == batch; err != nil || len(ids) == 0 {
					return err
				}
				after, waits = ids[len(ids)-1], waits || open
				return deleted(tx.IdempotencyKey.Delete().Where(idempotencykey.RowIDIn(ids...)).Exec(ctx))
			})
			if err != nil {
				return err
			}
		}
	}
	if !waits {
		return nil
	}
	return p.do(ctx, func(ctx context.Context, tx *op.Tx) error {
		return tx.Insert(ctx, Args{Company: p.Company, User: p.User, Rest: true}, tx.Now(ctx).Add(again))
	})
}

// views erases the names of the views that the person made for others, and what they look for. The others keep the views.
func (p *person) views(ctx context.Context, tx *op.Tx) error {
	rows, err := tx.SavedView.Query().Where(savedview.UserID(p.User)).All(ctx)
	if err != nil {
		return fmt.Errorf("look for views: %w", err)
	}
	for _, v := range rows {
		kept, err := url.ParseQuery(v.Query)
		if err != nil {
			kept = nil // what cannot be read is not kept
		}
		for name := range kept {
			if name == "q" || strings.HasPrefix(name, "tag.") { // what people write themselves
				kept.Del(name)
			}
		}
		if err := v.Update().SetName(Mark).SetQuery(kept.Encode()).Exec(ctx); err != nil {
			return fmt.Errorf("erase a view: %w", err)
		}
	}
	return nil
}

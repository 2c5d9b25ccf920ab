package pack

import (
	"context"
	"fmt"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Install makes what a pack describes and the company does not have, in one transaction: each row by its create operation, as the
// caller. If one of them is refused, nothing is made.
var Install = op.New("pack.install", op.Spec{
	Resource: "Pack", Action: op.Create, Scope: "workflows:write", Summary: "Install a pack: all of it, or nothing",
}, install).Prepared(func(ctx context.Context, tx *op.Tx, in Input) (any, error) {
	return readPack(ctx, tx, in)
})

func install(ctx context.Context, tx *op.Tx, _ Input) (*Plan, error) {
	tx.Unaudited() // the operations that make the rows write their entries
	p, _ := op.Preparation[prepared](tx)
	if p.err != nil {
		return nil, p.err
	}
	if err := tx.LockName(ctx, "packs/"+tx.Principal().CompanyID); err != nil {
		return nil, err
	}
	s, err := stateOf(ctx, tx, p.file)
	if err != nil {
		return nil, err
	}
	if err := p.resolvable(s); err != nil {
		return nil, err
	}
	items, ids := make([]*Item, 0, len(p.documents)), resolver{}
	for _, d := range p.documents {
		it := d.item(p.edition)
		id := s.found(p.file, d, ids.in(s))
		if id != "" {
			it.Action = Keep
		} else if id, err = d.make(ctx, tx, p.edition, ids.in(s)); err != nil {
			return nil, err
		}
		it.ID, ids[d.String()] = &id, id
		items = append(items, it)
	}
	return p.plan(items), nil
}

// make creates the row of a document. Its error names the document.
func (d *document) make(ctx context.Context, tx *op.Tx, e edition, ref func(string) string) (string, error) {
	body, parent := d.body(e, ref)
	id, err := d.kind.create(ctx, tx, body, parent)
	if err == nil {
		return id, nil
	}
	if !apperr.Refuses(err) {
		return "", fmt.Errorf("make %s: %w", d, err)
	}
	why := apperr.From(err)
	// Without the cause: a row that the database refused was not one of the operation that installs.
	refused := &apperr.Error{Code: why.Code, Message: why.Message, Details: d.faults(why.Details), Reason: why.Reason, DecisionID: why.DecisionID}
	if len(refused.Details) == 0 {
		refused.Message = d.String() + ": " + refused.Message
	}
	return "", refused
}

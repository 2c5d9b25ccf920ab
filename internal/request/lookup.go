package request

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/op"
)

// LookUp reads those of many requests that match a filter and that the caller may see; the others are left out. Whoever
// watches for changes reads them by it: that a row is hidden is no refusal, and leaves no trace.
var LookUp = op.New("request.lookup", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "Look requests up by their ids",
}, lookUp)

// LookUpInput names requests, and filters them as the list does. Without ids nothing is read, but the caller's rights are
// asked and the filter is checked.
type LookUpInput struct {
	ListInput
	IDs []string `json:"-"`
}

func lookUp(ctx context.Context, tx *op.Tx, in LookUpInput) (map[string]*ent.Request, error) {
	if len(in.IDs) == 0 {
		return map[string]*ent.Request{}, nil
	}
	rows, err := op.Lean[ent.Request](tx.Request.Query(), in.Lean).
		Where(request.IDIn(op.Padded(in.IDs)...)).Where(in.where(tx)...).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look requests up: %w", err)
	}
	out := make(map[string]*ent.Request, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, nil
}

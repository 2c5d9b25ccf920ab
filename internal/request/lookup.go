package request

import (
	"context"
	"slices"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/paging"
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
	IDs      []string `json:"-"`
	Internal []string `json:"-"` // of the ids, those that callers who see no internal comments are not told of
}

func lookUp(ctx context.Context, tx *op.Tx, in LookUpInput) (map[string]*ent.Request, error) {
	if tx.OwnOnly() {
		in.IDs = slices.DeleteFunc(slices.Clone(in.IDs), func(id string) bool { return slices.Contains(in.Internal, id) })
	}
	return paging.LookUp(ctx, tx.Request.Query().Where(in.where(tx)...), paging.ByIDs{IDs: in.IDs})
}

// LookUpRequests reads the requests that edges of the graph lead to, many at once, by the same rights as a read of one.
var LookUpRequests = paging.NewLookUp("request.edges", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "Look up the requests that other rows are about",
}, func(tx *op.Tx) *ent.RequestQuery { return tx.Request.Query().Where(ListInput{}.where(tx)...) })

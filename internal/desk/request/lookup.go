package request

import (
	"context"
	"slices"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// LookUp reads, of many requests, those that match a filter and that the caller may see; it leaves out the others.
// Subscriptions to changes use it, because a hidden row is then no refusal and leaves no audit entry.
var LookUp = op.New("request.lookup", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "Look requests up by their ids",
}, lookUp)

// LookUpInput names requests, and filters them as the list does. Without ids it reads nothing, but still checks the
// caller's rights and the filter.
type LookUpInput struct {
	ListInput
	IDs      []string `json:"-"`
	Internal []string `json:"-"` // ids that are left out for callers who see no internal comments
}

func lookUp(ctx context.Context, tx *op.Tx, in LookUpInput) (map[string]*ent.Request, error) {
	if tx.OwnOnly() {
		in.IDs = slices.DeleteFunc(slices.Clone(in.IDs), func(id string) bool { return slices.Contains(in.Internal, id) })
	}
	where, err := in.matchingAmong(ctx, tx, in.IDs)
	if err != nil {
		return nil, err
	}
	return paging.LookUp(ctx, tx.Request.Query().Where(where...), paging.ByIDs{IDs: in.IDs})
}

// LookUpRequests reads many requests at once for edges of the graph, under the rights of reading a single one.
var LookUpRequests = paging.NewLookUp("request.edges", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "Look up the requests that other rows are about",
}, func(tx *op.Tx) *ent.RequestQuery { return tx.Request.Query().Where(reached(tx)...) })

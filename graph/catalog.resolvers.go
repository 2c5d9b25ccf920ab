package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
)

func (r *serviceResolver) Offerings(ctx context.Context, s *ent.Service, first *int, after *string, filter *catalog.OfferingFilter) (*relay.Connection[ent.Offering], error) {
	in := &catalog.OfferingsOfInput{OfferingFilter: op.Or(filter, catalog.OfferingFilter{})}
	return resolve.ChildrenWith(ctx, r.Engine, s, func(s *ent.Service) string { return s.ID }, catalog.OfferingsOf, in, first, after, resolve.Same[ent.Offering])
}

func (r *offeringResolver) SLA(_ context.Context, o *ent.Offering) (*ent.Offering, error) {
	if !catalog.HasSLA(o) {
		return nil, nil // null
	}
	return o, nil
}

func (r *serviceResolver) ViewerMay(ctx context.Context, s *ent.Service) ([]string, error) {
	return op.MayOn(ctx, r.Engine, s)
}

func (r *offeringResolver) ViewerMay(ctx context.Context, o *ent.Offering) ([]string, error) {
	return op.MayOn(ctx, r.Engine, o)
}

func (r *queryResolver) FormChoices(ctx context.Context, offeringID, field string, q *string, ids []string) ([]*catalog.FormChoice, error) {
	return resolve.Run(ctx, r.Engine, catalog.FormChoices, catalog.FormChoicesInput{ByID: op.ByID{ID: offeringID}, Field: field, Q: op.Or(q, ""), IDs: ids})
}

package catalog

import (
	"context"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// The operations behind edges of the graph. Each reads the rows of many parents at once, under the rights of reading
// a single row.
var (
	LookUpServices = paging.NewLookUp("service.lookup", op.Spec{
		Resource: "Service", Action: op.Read, Scope: "services:read",
		Summary: "Look services up by their ids",
	}, func(tx *op.Tx) *ent.ServiceQuery { return tx.Service.Query() })

	LookUpOfferings = paging.NewLookUp("offering.lookup", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read",
		Summary: "Look offerings up by their ids",
	}, func(tx *op.Tx) *ent.OfferingQuery { return tx.Offering.Query() })

	OfferingsOf = op.New("offering.of_services", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read", Sorts: offeringSorts,
		Summary: "List the offerings of several services",
	}, func(ctx context.Context, tx *op.Tx, in OfferingsOfInput) (map[string]paging.List[*ent.Offering], error) {
		return paging.Children(ctx, tx, in.OfParents, offeringSorts, offering.Table, offering.FieldServiceID, tx.Offering.Query(), in.where()...)
	})
)

// OfferingsOfInput filters and pages the offerings of several services.
type OfferingsOfInput struct {
	paging.OfParents
	OfferingFilter
}

package catalog

import (
	"atrium/ent"
	"atrium/ent/offering"
	"atrium/internal/op"
	"atrium/internal/paging"
)

// What edges of the graph lead to. Each reads the rows of many parents at once, by the same rights as a read of one.
var (
	LookUpServices = paging.NewLookUp("service.lookup", op.Spec{
		Resource: "Service", Action: op.Read, Scope: "services:read",
		Summary: "Look services up by their ids",
	}, func(tx *op.Tx) *ent.ServiceQuery { return tx.Service.Query() })

	LookUpOfferings = paging.NewLookUp("offering.lookup", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read",
		Summary: "Look offerings up by their ids",
	}, func(tx *op.Tx) *ent.OfferingQuery { return tx.Offering.Query() })

	OfferingsOf = paging.NewChildren("offering.of_services", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read", Sorts: offeringSorts,
		Summary: "List the offerings of several services",
	}, offering.Table, offering.FieldServiceID, func(tx *op.Tx) *ent.OfferingQuery { return tx.Offering.Query() })
)

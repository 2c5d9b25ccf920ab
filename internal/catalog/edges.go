package catalog

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/service"
	"atrium/internal/op"
)

// What edges of the graph lead to. Each reads the rows of many parents at once, by the same rights as a read of one.
var (
	LookUpServices = op.Lookup("service.lookup", op.Spec{
		Resource: "Service", Action: op.Read, Scope: "services:read",
		Summary: "Look services up by their ids",
	}, func(s *ent.Service) string { return s.ID }, func(ctx context.Context, tx *op.Tx, in op.ByIDs) ([]*ent.Service, error) {
		return op.Lean[ent.Service](tx.Service.Query(), in.Lean).Where(service.IDIn(in.IDs...)).All(ctx)
	})

	LookUpOfferings = op.Lookup("offering.lookup", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read",
		Summary: "Look offerings up by their ids",
	}, func(o *ent.Offering) string { return o.ID }, func(ctx context.Context, tx *op.Tx, in op.ByIDs) ([]*ent.Offering, error) {
		return op.Lean[ent.Offering](tx.Offering.Query(), in.Lean).Where(offering.IDIn(in.IDs...)).All(ctx)
	})

	OfferingsOf = op.New("offering.of_services", op.Spec{
		Resource: "Offering", Action: op.Read, Scope: "services:read", Sorts: offeringSorts,
		Summary: "List the offerings of several services",
	}, offeringsOf)
)

// offeringsOf returns a page of offerings for every service.
func offeringsOf(ctx context.Context, tx *op.Tx, in op.OfParents) (map[string]op.List[*ent.Offering], error) {
	ids := op.Padded(in.IDs)
	of := op.Branches{Table: offering.Table, Column: offering.FieldServiceID, IDs: ids}
	counts := func(ctx context.Context) (map[string]int, error) {
		var rows []struct {
			ServiceID string `json:"service_id"`
			Count     int    `json:"count"`
		}
		q := tx.Offering.Query().Where(offering.ServiceIDIn(ids...)).GroupBy(offering.FieldServiceID).Aggregate(ent.Count())
		if err := q.Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("group by service: %w", err)
		}
		out := make(map[string]int, len(rows))
		for _, r := range rows {
			out[r.ServiceID] = r.Count
		}
		return out, nil
	}
	rows := func(ctx context.Context, within predicate.Offering, order func(*sql.Selector)) ([]*ent.Offering, error) {
		return op.Lean[ent.Offering](tx.Offering.Query(), in.Lean).Where(within).Order(order).All(ctx)
	}
	return op.ListEach(ctx, tx, in.Page, offeringSorts, of, counts, rows, func(o *ent.Offering) string { return o.ServiceID })
}

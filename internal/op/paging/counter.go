package paging

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/rowcount"
	"atrium/internal/op"
)

// Counter names a counter that triggers maintain: the number of rows of an entity, for a kind of counter ("request_service")
// in the given facets, or in all facets when none is given. doc.go of internal/platform/store says why there are counters.
type Counter struct {
	Entity string
	Kind   string
	Facets []string
}

// Count reads a counter of the caller's company, exact within the transaction that reads it.
func (c Counter) Count(ctx context.Context, tx *op.Tx) (int, error) {
	d := sql.Dialect(ent.DriverOf(tx.Client).Dialect())
	t := d.Table(rowcount.Table)
	where := sql.And(sql.EQ(t.C(rowcount.FieldCompanyID), tx.Principal().CompanyID), sql.EQ(t.C(rowcount.FieldKind), c.Kind))
	if len(c.Facets) > 0 {
		where = sql.And(where, sql.In(t.C(rowcount.FieldFacet), anys(c.Facets)...))
	}
	sum := d.Select("CAST(COALESCE(SUM(" + t.C(rowcount.FieldN) + "), 0) AS BIGINT)").From(t).Where(where)
	n, err := ent.ReadInt(ctx, tx.Client, sum)
	if err != nil {
		return 0, fmt.Errorf("read the %s counter: %w", c.Kind, err)
	}
	return n, nil
}

// Counted pages a query whose total a counter holds. If access policies hide some of the rows, it counts the visible rows
// instead.
func Counted[Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](
	ctx context.Context, tx *op.Tx, page Page, sorts op.Sorts, c Counter, q Q,
) (List[*Row], error) {
	if tx.Narrowed(c.Entity) {
		return Of(ctx, page, sorts, q)
	}
	return Read(ctx, page, sorts, func(ctx context.Context) (int, error) { return c.Count(ctx, tx) }, rowsOf(page, sorts, q))
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

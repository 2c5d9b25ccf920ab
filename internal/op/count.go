package op

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/rowcount"
	"atrium/internal/store"
)

// Kept names a counter that triggers keep: rows of a kind ("request", "request_service", "audit") in the given facets, or
// in all of them when there are none.
type Kept struct {
	Kind   string
	Facets []string
}

// entity is what the counter counts.
func (k Kept) entity() string {
	if k.Kind == "audit" {
		return "AuditEntry"
	}
	return "Request"
}

// query is the statement that reads the counter for the caller's company. It stands on every list's way, and so is
// written by hand.
func (k Kept) query(d, companyID string) (string, []any) {
	t := sql.Dialect(d).Table(rowcount.Table)
	where := sql.And(sql.EQ(t.C(rowcount.FieldCompanyID), companyID), sql.EQ(t.C(rowcount.FieldKind), k.Kind))
	if len(k.Facets) > 0 {
		in := make([]any, len(k.Facets))
		for i, f := range k.Facets {
			in[i] = f
		}
		where = sql.And(where, sql.In(t.C(rowcount.FieldFacet), in...))
	}
	return sql.Dialect(d).Select("CAST(COALESCE(SUM(" + t.C(rowcount.FieldN) + "), 0) AS BIGINT)").From(t).Where(where).Query()
}

// Kept returns a kept counter of the caller's company, exact within the transaction that reads it.
func (tx *Tx) Kept(ctx context.Context, k Kept) (int, error) {
	drv := ent.DriverOf(tx.Client)
	query, args := k.query(drv.Dialect(), tx.principal.CompanyID)
	var rows sql.Rows
	if err := drv.Query(ctx, query, args, &rows); err != nil {
		return 0, fmt.Errorf("read the %s counter: %w", k.Kind, err)
	}
	n, err := sql.ScanInt(rows)
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, fmt.Errorf("read the %s counter: %w", k.Kind, err)
	}
	return n, nil
}

// ListKept is ListOf where a kept counter knows the total. A first page, or a window, on PostgreSQL fetches both in one round
// trip. Where access policies hide some of the rows, all counts those that are left.
func ListKept[T any](ctx context.Context, tx *Tx, page Page, sorts Sorts, k Kept, all func(context.Context) (int, error),
	rows func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]T, error),
) (List[T], error) {
	page = page.normal()
	if tx.Narrowed(k.entity()) {
		return ListOf(ctx, page, sorts, all, rows) // the counter counts what the caller does not see, too
	}
	d := ent.DriverOf(tx.Client).Dialect()
	oneTrip := d == dialect.Postgres && tx.db == nil && page.Number == 1
	if !oneTrip || page.Window != nil && page.Window.Uncounted {
		count := func(ctx context.Context) (int, error) { return tx.Kept(ctx, k) }
		return ListOf(ctx, page, sorts, count, rows)
	}
	total := 0
	query, args := k.query(d, tx.principal.CompanyID)
	ctx = store.Along(ctx, query, args, &total)
	if page.Window != nil {
		page.Window = &Window{After: page.Window.After, Uncounted: true}
		out, err := windowOf(ctx, page, sorts, nil, rows)
		out.Total = total
		return out, err
	}
	out := List[T]{Page: page}
	var err error
	if out.Rows, err = rows(ctx, page.Order(sorts), 0, page.Size); err != nil {
		return List[T]{}, fmt.Errorf("read the page: %w", err)
	}
	out.Total = total
	return out, nil
}

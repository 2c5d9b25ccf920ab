package paging

import (
	"context"
	"fmt"
	"reflect"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/internal/op"
)

// OfParents is the input of operations that list the children of many rows at once.
type OfParents struct {
	IDs []string `json:"-"`
	Page
}

// SetParents names the rows whose children are listed.
func (o *OfParents) SetParents(ids []string) { o.IDs = ids }

// children are the rows that belong to one of many parents through a column, for example the offerings of a page of
// services.
type children struct {
	tx            *op.Tx
	table, column string
	parents       []any
	page          Page
	sorts         op.Sorts
	where         []func(*sql.Selector) // a filter on the children
}

// Children pages the children of every parent. One statement reads the windows of all parents, and another one counts
// the children unless no count is wanted. q reads table, whose column holds the parent's id; where filters the children.
func Children[Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](
	ctx context.Context, tx *op.Tx, in OfParents, sorts op.Sorts, table, column string, q Q, where ...P,
) (map[string]List[*Row], error) {
	c := children{tx: tx, table: table, column: column, parents: Anys(in.IDs), page: in.normal(), sorts: sorts}
	for _, p := range where {
		c.where = append(c.where, p)
	}
	if c.page.Window == nil {
		c.page.Window = &Window{}
	}
	after, err := afterCursor[*Row](c.page, sorts)
	if err != nil {
		return nil, err
	}
	var totals map[string]int
	if !c.page.Window.Uncounted {
		if totals, err = op.Bounded(ctx, tx, table, c.totals); err != nil {
			return nil, fmt.Errorf("count the rows: %w", err)
		}
	}
	rows, err := q.Where(P(c.within(after))).Order(O(c.page.Order(sorts))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	out := make(map[string]List[*Row], len(in.IDs))
	for _, id := range in.IDs {
		out[id] = List[*Row]{Page: c.page, Total: totals[id], sorts: sorts}
	}
	parent := columnOf(reflect.TypeFor[Row](), column)
	for _, row := range rows {
		id := reflect.ValueOf(row).Elem().FieldByIndex(parent).String()
		l := out[id]
		l.Rows = append(l.Rows, row)
		out[id] = l
	}
	for id, l := range out {
		l.cut()
		out[id] = l
	}
	return out, nil
}

// visible selects the children of all parents that the caller may see.
func (c children) visible(ctx context.Context, dialect string) (*sql.Selector, *sql.SelectTable) {
	d := sql.Dialect(dialect)
	t := d.Table(c.table)
	s := d.Select().From(t).WithContext(ctx).Where(sql.And(sql.EQ(t.C("company_id"), c.tx.Principal().CompanyID), sql.In(t.C(c.column), c.parents...)))
	if narrow := c.tx.Visible(c.table); narrow != nil {
		narrow(s)
	}
	for _, p := range c.where {
		p(s)
	}
	return s, t
}

// totals counts the children of each parent.
func (c children) totals(ctx context.Context) (map[string]int, error) {
	drv := ent.DriverOf(c.tx.Client)
	s, t := c.visible(ctx, drv.Dialect())
	query, args := s.Select(sql.As(t.C(c.column), "parent"), sql.As(sql.Count("*"), "total")).GroupBy(t.C(c.column)).Query()
	var rows sql.Rows
	if err := drv.Query(ctx, query, args, &rows); err != nil {
		return nil, err
	}
	var found []struct {
		Parent string
		Total  int
	}
	err := sql.ScanSlice(rows, &found)
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	out := make(map[string]int, len(found))
	for _, f := range found {
		out[f.Parent] = f.Total
	}
	return out, err
}

// within selects the rows of each parent's window and one more, out of the parent's children that the caller may see.
func (c children) within(after func(*sql.Selector)) func(*sql.Selector) {
	keys, desc := c.page.keys(c.sorts)
	return func(s *sql.Selector) {
		rows, t := c.visible(s.Context(), s.Dialect())
		rows.Select(t.C("id"))
		by := sql.Asc
		if desc {
			by = sql.Desc
		}
		rank := sql.RowNumber().PartitionBy(t.C(c.column))
		rank.SetDialect(s.Dialect())
		for _, k := range keys {
			rank.OrderBy(by(k.of(s.Dialect(), t.C)))
		}
		after(rows)
		ranked := rows.AppendSelectExprAs(rank, "rank_in_parent").As("ranked")
		first := sql.Dialect(s.Dialect()).Select(ranked.C("id")).From(ranked).Where(sql.LTE(ranked.C("rank_in_parent"), c.page.Size+1))
		s.Where(sql.In(s.C("id"), first))
	}
}

package op

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"
)

// ByIDs is the input of operations that look many rows up at once: what edges lead to. An id that is no row of the
// company is left out of what they return.
type ByIDs struct {
	IDs  []string `json:"-"`
	Lean bool     `json:"-"` // nobody asked for what Lean leaves out
}

// OfParents is the input of operations that list the children of many rows at once.
type OfParents struct {
	IDs []string `json:"-"`
	Page
}

// Lookup declares the operation that reads the rows of many ids at once, by the same rights as a read of one. What load
// returns is handed on by id.
func Lookup[Row any](name string, spec Spec, id func(*Row) string,
	load func(ctx context.Context, tx *Tx, in ByIDs) ([]*Row, error),
) *Operation[ByIDs, map[string]*Row] {
	return New(name, spec, func(ctx context.Context, tx *Tx, in ByIDs) (map[string]*Row, error) {
		in.IDs = Padded(in.IDs)
		rows, err := load(ctx, tx, in)
		if err != nil {
			return nil, fmt.Errorf("look up by id: %w", err)
		}
		out := make(map[string]*Row, len(rows))
		for _, row := range rows {
			out[id(row)] = row
		}
		return out, nil
	})
}

// Padded returns the ids with the last one repeated until there are 1, 2, 4, 8, … of them: the statement's text, which
// databases keep prepared, then has few forms.
func Padded(ids []string) []string {
	n := 1
	for n < len(ids) {
		n *= 2
	}
	for out := slices.Clip(ids); ; {
		if len(out) == 0 || len(out) >= n {
			return out
		}
		out = append(out, out[len(out)-1])
	}
}

// Branches are the parents whose children an operation lists, all in one go: the services of a page, say, whose
// offerings are asked for.
type Branches struct {
	Table  string   // of the children
	Column string   // of the children, which holds the parent's id
	IDs    []string // of the parents
}

// ListEach pages the children of every parent: the window of each, in one statement for all of them, and their counts in
// another one unless they are not wanted. rows takes the predicate that picks the windows' rows, and returns them in the
// order given; parent names the one that a row belongs to.
func ListEach[T any, P ~func(*sql.Selector)](ctx context.Context, tx *Tx, page Page, sorts Sorts, of Branches,
	counts func(context.Context) (map[string]int, error),
	rows func(ctx context.Context, within P, order func(*sql.Selector)) ([]T, error),
	parent func(T) string,
) (map[string]List[T], error) {
	page = page.normal()
	if page.Window == nil {
		page.Window = &Window{}
	}
	after, err := afterCursor[T](page, sorts)
	if err != nil {
		return nil, err
	}
	var totals map[string]int
	if !page.Window.Uncounted {
		if totals, err = counts(ctx); err != nil {
			return nil, fmt.Errorf("count the rows: %w", err)
		}
	}
	all, err := rows(ctx, of.within(tx, page, sorts, after), page.Order(sorts))
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	out := make(map[string]List[T], len(of.IDs))
	for _, id := range of.IDs {
		out[id] = List[T]{Page: page, Total: totals[id], sorts: sorts}
	}
	for _, row := range all {
		l := out[parent(row)]
		l.Rows = append(l.Rows, row)
		out[parent(row)] = l
	}
	for id, l := range out {
		l.cut()
		out[id] = l
	}
	return out, nil
}

// within picks the rows of every parent's window: those that are among the first of their parent which the caller sees,
// and one more.
func (b Branches) within(tx *Tx, page Page, sorts Sorts, after func(*sql.Selector)) func(*sql.Selector) {
	columns, desc := page.keys(sorts)
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		t := d.Table(b.Table)
		ids := make([]any, len(b.IDs))
		for i, id := range b.IDs {
			ids[i] = id
		}
		by := sql.Asc
		if desc {
			by = sql.Desc
		}
		rank := sql.RowNumber().PartitionBy(t.C(b.Column))
		rank.SetDialect(s.Dialect())
		for _, c := range columns {
			rank.OrderBy(by(t.C(c)))
		}
		children := d.Select(t.C("id")).From(t).Where(sql.And(sql.EQ(t.C("company_id"), tx.principal.CompanyID), sql.In(t.C(b.Column), ids...)))
		if visible := tx.visible(b.Table); visible != nil {
			visible(children)
		}
		after(children)
		ranked := children.AppendSelectExprAs(rank, "rank_in_parent").As("ranked")
		s.Where(sql.In(s.C("id"), d.Select(ranked.C("id")).From(ranked).Where(sql.LTE(ranked.C("rank_in_parent"), page.Size+1))))
	}
}

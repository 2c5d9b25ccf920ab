package paging

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"atrium/internal/op"
	"atrium/internal/platform/store"
)

// Page is embedded in the inputs of lists.
type Page struct {
	Number int    `json:"-" query:"page" default:"1" minimum:"1" doc:"The page, counted from 1."`
	Size   int    `json:"-" query:"pageSize" default:"20" minimum:"1" maximum:"100" doc:"Rows a page."`
	Sort   string `json:"-" query:"sort" doc:"The field to order by; '-' in front of it means descending."`

	Window  *Window  `json:"-"` // set by connections, which page by position instead of by Number
	Columns []string `json:"-"` // windows: the columns to read besides those of the cursor; empty for all
}

// List is a page of rows, with the total number of rows.
type List[T any] struct {
	Rows  []T
	Total int // 0 when the window is uncounted
	Page  Page
	More  bool // windows: rows follow

	sorts op.Sorts // windows: the sorts that cursors are made from
}

// Pages returns ⌈Total ÷ Size⌉.
func (l List[T]) Pages() int { return (l.Total + l.Page.Size - 1) / l.Page.Size }

// Query is a query as Ent generates it for an entity. Q is the query itself, such as *ent.ServiceQuery; Row, P and O are
// inferred from its methods.
type Query[Q, Row any, P, O ~func(*sql.Selector)] interface {
	Clone() Q
	Where(predicates ...P) Q
	Order(by ...O) Q
	Offset(n int) Q
	Limit(n int) Q
	All(ctx context.Context) ([]*Row, error)
	Count(ctx context.Context) (int, error)
	IDs(ctx context.Context) ([]string, error)
}

// deepPage is the offset from which a page's ids are read first, from an index alone, and then its rows.
const deepPage = 1000

// Of pages a query.
func Of[Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](ctx context.Context, page Page, sorts op.Sorts, q Q) (List[*Row], error) {
	return Read(ctx, page, sorts, q.Clone().Count, rowsOf(page, sorts, q))
}

// rowsOf returns the function that reads rows of a query.
func rowsOf[Q Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](page Page, sorts op.Sorts, q Q) Rows[*Row] {
	if q = q.Clone(); page.Window != nil && len(page.Columns) > 0 {
		keys, _ := page.keys(sorts)
		columns := slices.Clone(page.Columns)
		for _, k := range keys {
			columns = append(columns, k.column)
		}
		q.Where(P(selecting(columns)))
	}
	return func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]*Row, error) {
		page := q.Clone().Order(O(order)).Offset(offset).Limit(limit)
		if offset < deepPage {
			return page.All(ctx)
		}
		ids, err := page.IDs(ctx)
		if err != nil {
			return nil, fmt.Errorf("find the page's ids: %w", err)
		}
		return q.Clone().Where(P(sql.FieldIn("id", ids...))).Order(O(order)).All(ctx)
	}
}

// selecting limits a query to columns.
func selecting(columns []string) func(*sql.Selector) {
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	return func(s *sql.Selector) { s.Select(s.Columns(columns...)...) }
}

// Rows reads rows in an order.
type Rows[T any] func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]T, error)

// Read pages anything that can be counted and read in an order. It counts, and reads the page unless the page lies past
// the end.
func Read[T any](ctx context.Context, page Page, sorts op.Sorts, count func(context.Context) (int, error), rows Rows[T]) (List[T], error) {
	page = page.normal()
	if page.Window != nil {
		return readWindow(ctx, page, sorts, count, rows)
	}
	total, err := count(ctx)
	if err != nil {
		return List[T]{}, fmt.Errorf("count the rows: %w", err)
	}
	out := List[T]{Total: total, Page: page}
	offset, some := page.Offset(total)
	if !some {
		return out, nil
	}
	size := min(page.Size, total-offset)
	if left := total - offset - size; offset >= deepPage && left < offset { // the last page is as near to the end as the first to the beginning
		if out.Rows, err = rows(ctx, page.order(sorts, true), left, size); err == nil {
			slices.Reverse(out.Rows)
		}
	} else {
		out.Rows, err = rows(ctx, page.Order(sorts), offset, page.Size)
	}
	if err != nil {
		return List[T]{}, fmt.Errorf("read the page: %w", err)
	}
	return out, nil
}

// normal returns the page with its defaults filled in.
func (p Page) normal() Page {
	if p.Number < 1 {
		p.Number = 1
	}
	if p.Size < 1 {
		p.Size = 20
	}
	return p
}

func (p Page) page() Page { return p }

// Order returns the order of the page: the sorted field (newest first without one), then the id as the last key, so that
// pages never overlap.
func (p Page) Order(s op.Sorts) func(*sql.Selector) { return p.order(s, false) }

// order is Order, or its reverse.
func (p Page) order(s op.Sorts, reverse bool) func(*sql.Selector) {
	keys, desc := p.keys(s)
	return func(sel *sql.Selector) {
		by := sql.Asc
		if desc != reverse {
			by = sql.Desc
		}
		for _, k := range keys {
			sel.OrderBy(by(k.of(sel.Dialect(), sel.C)))
		}
	}
}

// key is a column that a list is ordered by; if it is text of people, the order is alphabetical (op.Alphabetical).
type key struct {
	column       string
	alphabetical bool
}

// of returns the key as SQL; qualify qualifies the column. Values that are compared with it take its collation.
func (k key) of(dialect string, qualify func(string) string) string {
	if k.alphabetical {
		return qualify(k.column) + store.Collation(dialect)
	}
	return qualify(k.column)
}

// ByText orders by a column of texts that people write, alphabetically in every script.
func ByText[O ~func(*sql.Selector)](column string) O {
	return func(sel *sql.Selector) { sel.OrderBy(key{column, true}.of(sel.Dialect(), sel.C)) }
}

// keys returns the keys of the page's order, all in one direction: the columns of the sort, and the id.
func (p Page) keys(s op.Sorts) (keys []key, desc bool) {
	columns := "created_at"
	desc = true
	if p.Sort != "" {
		columns, desc = s[strings.TrimPrefix(p.Sort, "-")], strings.HasPrefix(p.Sort, "-")
	}
	for column := range strings.SplitSeq(columns+",id", ",") {
		name, alphabetical := strings.CutSuffix(column, op.Alphabetical(""))
		keys = append(keys, key{name, alphabetical})
	}
	return keys, desc
}

// Offset returns how many rows to skip, and false when the page lies past the end of total rows.
func (p Page) Offset(total int) (int, bool) {
	if p.Number-1 > total/p.Size {
		return 0, false
	}
	off := (p.Number - 1) * p.Size
	return off, off < total
}

package op

import (
	"maps"
	"slices"
	"strings"

	"atrium/internal/apperr"

	"entgo.io/ent/dialect/sql"
)

// Page is embedded in the inputs of lists.
type Page struct {
	Number int    `json:"-" query:"page" default:"1" minimum:"1" doc:"The page, counted from 1."`
	Size   int    `json:"-" query:"pageSize" default:"20" minimum:"1" maximum:"100" doc:"Rows a page."`
	Sort   string `json:"-" query:"sort" doc:"The field to order by; '-' in front of it means descending."`

	Window *Window `json:"-"` // set by connections, which page by where a row stands instead of by Number
	Lean   bool    `json:"-"` // nobody asked for what Lean leaves out
}

// List is a page of rows and how many there are in all.
type List[T any] struct {
	Rows  []T
	Total int // 0 when the window is uncounted
	Page  Page
	More  bool // windows: rows follow

	sorts Sorts // windows: what cursors are made by
}

// Pages returns ⌈Total ÷ Size⌉.
func (l List[T]) Pages() int { return (l.Total + l.Page.Size - 1) / l.Page.Size }

// Sorts maps the fields that a list can be ordered by, as the API names them, to their columns.
type Sorts map[string]string

// check names a sort that the list does not know; given is what the query says, if anything.
func (s Sorts) check(given []string) []apperr.Detail {
	for _, sort := range given {
		if _, ok := s[strings.TrimPrefix(sort, "-")]; !ok {
			return []apperr.Detail{{Field: "sort", Message: "must be one of: " + strings.Join(slices.Sorted(maps.Keys(s)), ", ")}}
		}
	}
	return nil
}

// DeepPage is the offset from which a page's ids are found through an index before its rows are read.
const DeepPage = 1000

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

// Order returns what to order by: the sorted field (newest first without one), and the id as the last key, so that
// pages never overlap.
func (p Page) Order(s Sorts) func(*sql.Selector) {
	columns, desc := p.keys(s)
	return func(sel *sql.Selector) {
		by := sql.Asc
		if desc {
			by = sql.Desc
		}
		for _, column := range columns {
			sel.OrderBy(by(sel.C(column)))
		}
	}
}

// keys returns the columns that the page is ordered by, all of them in one direction. Columns that the sort's index
// continues with stand in between the sorted one and the id.
func (p Page) keys(s Sorts) (columns []string, desc bool) {
	column, desc := "created_at", true
	if p.Sort != "" {
		column, desc = s[strings.TrimPrefix(p.Sort, "-")], strings.HasPrefix(p.Sort, "-")
	}
	if column == "status" || column == "priority_rank" {
		return []string{column, "created_at", "id"}, desc
	}
	return []string{column, "id"}, desc
}

// Offset returns how many rows to skip, and false when the page lies past the end of total rows.
func (p Page) Offset(total int) (int, bool) {
	if p.Number-1 > total/p.Size {
		return 0, false
	}
	off := (p.Number - 1) * p.Size
	return off, off < total
}

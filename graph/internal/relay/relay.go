package relay

import "atrium/internal/op/paging"

// Node is an Ent entity that implements the schema's interface Node.
type Node interface{}

// Actor is the Ent entity of a user, a service account or an agent.
type Actor interface{}

// Connection is one page of a list.
type Connection[T any] struct {
	Edges      []*Edge[T]
	PageInfo   *PageInfo
	TotalCount int // 0 when it was not selected
}

// Edge is one row of a list with its cursor.
type Edge[T any] struct {
	Node   *T
	cursor func() string
}

// Cursor returns the row's position in the list, for `after`.
func (e *Edge[T]) Cursor() string { return e.cursor() }

// PageInfo says whether the list has more rows before and after the page.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	first, last     func() string
}

// StartCursor returns the cursor of the first edge; nil when there is none.
func (p *PageInfo) StartCursor() *string { return text(p.first) }

// EndCursor returns the cursor of the last edge; nil when there is none.
func (p *PageInfo) EndCursor() *string { return text(p.last) }

func text(cursor func() string) *string {
	if cursor == nil {
		return nil
	}
	return new(cursor())
}

// New turns a list into a connection; node returns the node of a row. Cursors are computed only where they are asked for.
func New[Row, T any](l paging.List[Row], node func(Row) *T) *Connection[T] {
	c := &Connection[T]{Edges: make([]*Edge[T], len(l.Rows)), TotalCount: l.Total, PageInfo: &PageInfo{HasNextPage: l.More}}
	if w := l.Page.Window; w != nil {
		c.PageInfo.HasPreviousPage = w.After != ""
	}
	for i, row := range l.Rows {
		c.Edges[i] = &Edge[T]{Node: node(row), cursor: func() string { return l.Cursor(row) }}
	}
	if n := len(c.Edges); n > 0 {
		c.PageInfo.first, c.PageInfo.last = c.Edges[0].cursor, c.Edges[n-1].cursor
	}
	return c
}

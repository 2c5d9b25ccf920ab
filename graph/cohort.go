package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A cohort are the rows that one list or look-up returned. When an edge of one of them is asked for, it is read for all
// of them at once, and the others find it there: the number of statements does not depend on the number of rows, and
// nobody waits for a window of time to close. What was read so is a cohort again, so that edges below edges are read
// together, too.
type cohort struct {
	rows any // a slice of pointers

	mu   sync.Mutex
	read map[*ast.Field]*reading // by where the document asks: what is selected, and with which arguments
}

// reading is what was read once for all rows.
type reading struct {
	once  sync.Once
	value any
	err   error
}

// once returns what read returns, which is called for the first row that asks for the context's field.
func once[V any](ctx context.Context, c *cohort, read func() (V, error)) (V, error) {
	field := graphql.GetFieldContext(ctx).Field.Field
	c.mu.Lock()
	r, ok := c.read[field]
	if !ok {
		if c.read == nil {
			c.read = map[*ast.Field]*reading{}
		}
		r = &reading{}
		c.read[field] = r
	}
	c.mu.Unlock()
	r.once.Do(func() { r.value, r.err = read() })
	value, _ := r.value.(V)
	return value, r.err
}

// cohorts are those of one operation, by their rows.
type cohorts struct {
	mu sync.Mutex
	of map[any]*cohort
}

type cohortsKey struct{}

// withCohorts returns the context of one operation.
func withCohorts(ctx context.Context) context.Context {
	return context.WithValue(ctx, cohortsKey{}, &cohorts{of: map[any]*cohort{}})
}

// together makes the rows a cohort.
func together[T any](ctx context.Context, rows []*T) {
	all, ok := ctx.Value(cohortsKey{}).(*cohorts)
	if !ok || len(rows) < 2 {
		return // a row that nobody registered is a cohort of one
	}
	c := &cohort{rows: rows}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, row := range rows {
		all.of[row] = c
	}
}

// cohortOf returns the cohort that a row belongs to, and its rows.
func cohortOf[T any](ctx context.Context, row *T) (*cohort, []*T) {
	all, ok := ctx.Value(cohortsKey{}).(*cohorts)
	if !ok {
		return &cohort{}, []*T{row}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	c, ok := all.of[row]
	if !ok {
		c = &cohort{rows: []*T{row}}
		all.of[row] = c
	}
	rows, _ := c.rows.([]*T)
	return c, rows
}

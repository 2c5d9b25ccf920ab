package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// A cohort are the rows that one list or look-up returned. When an edge of one of them is asked for, it is read for all
// of them at once, and the others find it there: the number of statements does not depend on the number of rows, and
// nobody waits for a window of time to close. What was read so is a cohort again, so that edges below edges are read
// together, too.
type cohorts struct {
	mu sync.Mutex
	of map[any]*graphql.BatchParentGroup // by the row's pointer
}

type cohortsKey struct{}

// withCohorts returns the context of one operation.
func withCohorts(ctx context.Context) context.Context {
	return context.WithValue(ctx, cohortsKey{}, &cohorts{of: map[any]*graphql.BatchParentGroup{}})
}

// together makes the rows a cohort.
func together[T any](ctx context.Context, rows []*T) {
	c, ok := ctx.Value(cohortsKey{}).(*cohorts)
	if !ok || len(rows) < 2 {
		return // a row that nobody registered is a cohort of one
	}
	group := &graphql.BatchParentGroup{Parents: rows}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range rows {
		c.of[row] = group
	}
}

// cohortOf returns the group that a row belongs to; the rows are its Parents.
func cohortOf[T any](ctx context.Context, row *T) *graphql.BatchParentGroup {
	c, ok := ctx.Value(cohortsKey{}).(*cohorts)
	if !ok {
		return &graphql.BatchParentGroup{Parents: []*T{row}}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	group, ok := c.of[row]
	if !ok {
		group = &graphql.BatchParentGroup{Parents: []*T{row}}
		c.of[row] = group
	}
	return group
}

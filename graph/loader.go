package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A loader reads what belongs to the rows that one list or look-up returned: when an edge of one of them is asked for, it
// is read for all of them in one batch, and the others find it there. The number of statements does not depend on the
// number of rows, and nobody waits for a window of time to close. What was read this way has a loader of its own, so that
// edges below edges are read in batches, too.
//
// gqlgen's batch resolvers are not used: they know the elements of a list, which are a connection's edges here, and not
// the nodes behind them nor the rows below.
type loader struct {
	rows any // a slice of pointers

	mu    sync.Mutex
	loads map[*ast.Field]*load // by where the document asks: what is selected, and with which arguments
}

// load is one batch.
type load struct {
	once  sync.Once
	value any
	err   error
}

// once returns what read returns, which is called for the first row that asks for the context's field.
func once[V any](ctx context.Context, l *loader, read func() (V, error)) (V, error) {
	field := graphql.GetFieldContext(ctx).Field.Field
	l.mu.Lock()
	b, ok := l.loads[field]
	if !ok {
		if l.loads == nil {
			l.loads = map[*ast.Field]*load{}
		}
		b = &load{}
		l.loads[field] = b
	}
	l.mu.Unlock()
	b.once.Do(func() { b.value, b.err = read() })
	value, _ := b.value.(V)
	return value, b.err
}

// loaders are those of one operation, by their rows.
type loaders struct {
	mu sync.Mutex
	of map[any]*loader
}

type loadersKey struct{}

// withLoaders returns the context of one operation.
func withLoaders(ctx context.Context) context.Context {
	return context.WithValue(ctx, loadersKey{}, &loaders{of: map[any]*loader{}})
}

// batch gives the rows a loader, by which their edges are read together.
func batch[T any](ctx context.Context, rows []*T) {
	all, ok := ctx.Value(loadersKey{}).(*loaders)
	if !ok || len(rows) < 2 {
		return // a single row gets its loader when it is asked for one
	}
	l := &loader{rows: rows}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, row := range rows {
		all.of[row] = l
	}
}

// loaderOf returns the loader of a row, and the rows of its batch.
func loaderOf[T any](ctx context.Context, row *T) (*loader, []*T) {
	all, ok := ctx.Value(loadersKey{}).(*loaders)
	if !ok {
		return &loader{}, []*T{row}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	l, ok := all.of[row]
	if !ok {
		l = &loader{rows: []*T{row}}
		all.of[row] = l
	}
	rows, _ := l.rows.([]*T)
	return l, rows
}

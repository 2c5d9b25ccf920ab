package resolve

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A loader reads what belongs to the rows of one list or look-up. When an edge of one row is resolved, the loader reads it for
// all rows in one batch, and the other rows use the result. So the number of statements does not depend on the number of rows,
// and no call waits for a time window to close. The rows that a batch returns get a loader of their own, so edges of edges are
// Read in batches as well.
//
// gqlgen's batch resolvers are not used: they batch the elements of a list. Here these are a connection's edges, not the nodes
// behind them or the rows below.
type loader struct {
	rows any // a slice of pointers

	mu    sync.Mutex
	loads map[*ast.Field]*load // by the field in the document, which has its own selection and arguments
}

// load is one batch.
type load struct {
	once  sync.Once
	value any
	err   error
}

// once calls read for the first row that asks for the context's field, and returns its result for all rows.
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

// loaders are the loaders of one operation, by row.
type loaders struct {
	mu sync.Mutex
	of map[any]*loader
}

type loadersKey struct{}

// WithLoaders returns a context for one operation.
func WithLoaders(ctx context.Context) context.Context {
	return context.WithValue(ctx, loadersKey{}, &loaders{of: map[any]*loader{}})
}

// Batch gives the rows one loader, so that their edges are read together.
func Batch[T any](ctx context.Context, rows []*T) {
	all, ok := ctx.Value(loadersKey{}).(*loaders)
	if !ok || len(rows) < 2 {
		return // loaderOf makes the loader of a single row
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

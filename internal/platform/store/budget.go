package store

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	entsql "entgo.io/ent/dialect/sql"

	"atrium/internal/platform/apperr"
)

// What one call reads: a page of 100 rows with answers of a mebibyte each would take 100 MB, and forty aliases of GraphQL each a page of
// their own. Short values are not counted: there are only so many of them in the rows that a call may ask for.
const (
	callBytes = 64 << 20 // of long values
	longValue = 4 << 10
)

type budgetKey struct{}

// budget is what may still be read.
type budget struct {
	left atomic.Int64 // bytes
	over error        // what asks for more gets
}

// take counts bytes, and returns an error when there were not so many left.
func (b *budget) take(n int) error {
	if b.left.Add(-int64(n)) < 0 {
		return b.over
	}
	return nil
}

func withBudget(ctx context.Context, bytes int64, over error) context.Context {
	b := &budget{over: over}
	b.left.Store(bytes)
	return context.WithValue(ctx, budgetKey{}, b)
}

// ErrLong is what a read gets that is longer than Within says.
var ErrLong = errors.New("store: the rows are longer than may be read at once")

// ForCall returns the context of one caller's call. Its reads outside of transactions take 64 MiB of long values at most, all together;
// what asks for more gets validation_error.
func ForCall(ctx context.Context) context.Context {
	return withBudget(ctx, callBytes, apperr.New(apperr.Validation, "The rows are longer than %d MiB together. Ask for fewer at once.", callBytes>>20))
}

// Within returns a context whose reads outside of transactions take so many bytes of long values at most, and otherwise get ErrLong. It
// stands in place of the call's own limit, for who reads piece by piece: see Charge.
func Within(ctx context.Context, bytes int64) context.Context { return withBudget(ctx, bytes, ErrLong) }

// Charge counts bytes that are kept against the context's call. Returns validation_error when the call has no more.
func Charge(ctx context.Context, bytes int) error {
	if b, ok := ctx.Value(budgetKey{}).(*budget); ok {
		return b.take(bytes)
	}
	return nil
}

// counted counts the rows of a query against the context's call.
func counted(ctx context.Context, rows entsql.ColumnScanner) entsql.ColumnScanner {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	if !ok {
		return rows
	}
	return countedRows{rows, b}
}

type countedRows struct {
	entsql.ColumnScanner
	budget *budget
}

func (r countedRows) Scan(dest ...any) error {
	if err := r.ColumnScanner.Scan(dest...); err != nil {
		return err
	}
	for _, d := range dest {
		n := 0
		switch d := d.(type) {
		case *[]byte:
			n = len(*d)
		case *sql.NullString:
			n = len(d.String)
		}
		if n < longValue {
			continue
		}
		if err := r.budget.take(n); err != nil {
			return err
		}
	}
	return nil
}

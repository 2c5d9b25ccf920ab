package store

import (
	"context"
	"database/sql"
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

// ForCall returns the context of one caller's call. Its reads outside of transactions take 64 MiB of long values at most, all together;
// what asks for more gets validation_error.
func ForCall(ctx context.Context) context.Context {
	left := &atomic.Int64{}
	left.Store(callBytes)
	return context.WithValue(ctx, budgetKey{}, left)
}

// counted counts the rows of a query against the context's call.
func counted(ctx context.Context, rows entsql.ColumnScanner) entsql.ColumnScanner {
	left, ok := ctx.Value(budgetKey{}).(*atomic.Int64)
	if !ok {
		return rows
	}
	return countedRows{rows, left}
}

type countedRows struct {
	entsql.ColumnScanner
	left *atomic.Int64
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
		if n >= longValue && r.left.Add(-int64(n)) < 0 {
			return apperr.New(apperr.Validation, "The rows are longer than %d MiB together. Ask for fewer at once.", callBytes>>20)
		}
	}
	return nil
}

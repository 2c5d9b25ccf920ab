package testkit

import (
	"context"
	"testing"

	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/principal"
)

// Query returns the texts that a query with one column finds, over all companies and in tables that have no entity, such as that of jobs.
func (w *World) Query(tb testing.TB, query string) (out []string) {
	tb.Helper()
	var rows sql.Rows
	require.NoError(tb, ent.DriverOf(w.Store.Reader()).Query(principal.System(context.Background(), "test"), query, []any{}, &rows))
	for rows.Next() {
		var text string
		require.NoError(tb, rows.Scan(&text))
		out = append(out, text)
	}
	require.NoError(tb, rows.Err())
	require.NoError(tb, rows.Close())
	return out
}

package testkit

import (
	"bytes"
	"context"
	"os"
	"testing"

	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
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

// Dump returns the whole content of the database, including jobs, as text.
func (w *World) Dump(tb testing.TB) string {
	tb.Helper()
	var all bytes.Buffer
	if path := w.Store.Path(); path != "" {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(path + suffix)
			require.NoError(tb, err)
			all.Write(b)
		}
		return all.String()
	}
	tx, err := w.Store.Pool().Begin(tb.Context())
	require.NoError(tb, err)
	defer tx.Rollback(tb.Context()) //nolint:errcheck // it only read
	_, err = tx.Exec(tb.Context(), `SELECT set_config('app.company_id', '*', true)`)
	require.NoError(tb, err)
	tables := []string{"river_job"}
	for _, table := range store.Tables {
		tables = append(tables, table.Name)
	}
	for _, table := range tables {
		rows, err := tx.Query(tb.Context(), `SELECT row_to_json(t)::text FROM "`+table+`" t`)
		require.NoError(tb, err)
		for rows.Next() {
			var row string
			require.NoError(tb, rows.Scan(&row))
			all.WriteString(row)
		}
		require.NoError(tb, rows.Err())
	}
	return all.String()
}

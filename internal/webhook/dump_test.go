package webhook_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// everything returns the whole content of the database, including jobs, as text.
func everything(t *testing.T, w *testkit.World) string {
	t.Helper()
	var all bytes.Buffer
	if path := w.Store.Path(); path != "" {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(path + suffix)
			require.NoError(t, err)
			all.Write(b)
		}
		return all.String()
	}
	tx, err := w.Store.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // it only read
	_, err = tx.Exec(t.Context(), `SELECT set_config('app.company_id', '*', true)`)
	require.NoError(t, err)
	tables := []string{"river_job"}
	for _, table := range store.Tables {
		tables = append(tables, table.Name)
	}
	for _, table := range tables {
		rows, err := tx.Query(t.Context(), `SELECT row_to_json(t)::text FROM "`+table+`" t`)
		require.NoError(t, err)
		for rows.Next() {
			var row string
			require.NoError(t, rows.Scan(&row))
			all.WriteString(row)
		}
		require.NoError(t, rows.Err())
	}
	return all.String()
}

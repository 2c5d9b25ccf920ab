package paging_test

import (
	"context"
	"fmt"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
	"atrium/internal/test/testkit"
)

// Both databases fold every character as Go does, so that what is searched for is found whatever its case and spelling.
func TestDatabasesFoldAlike(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		all, char := "WITH RECURSIVE n(i) AS (SELECT 32 UNION ALL SELECT i + 1 FROM n WHERE i < 131071) SELECT %s, %s FROM n WHERE i NOT BETWEEN 55296 AND 57343", "char(i)"
		if w.Store.Dialect() == dialect.Postgres {
			char = "chr(i)"
		}
		query := fmt.Sprintf(all, char, paging.Folded(w.Store.Dialect(), char))
		n := 0
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			var rows sql.Rows
			if err := ent.DriverOf(tx.Client).Query(ctx, query, []any{}, &rows); err != nil {
				return err
			}
			defer func() { require.NoError(t, rows.Close()) }()
			for rows.Next() {
				var c, folded string
				require.NoError(t, rows.Scan(&c, &folded))
				require.Equal(t, text.Fold(c), folded, "%+q", c)
				n++
			}
			return rows.Err()
		}))
		require.Equal(t, 131072-32-2048, n)
	})
}

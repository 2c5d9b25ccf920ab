package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Large tables have statistics, small ones and those of the job queue have none.
func TestAnalyze(t *testing.T) {
	t.Parallel()
	s := open(t, store.Options{DataDir: t.TempDir()})
	_, err := s.Migrate(t.Context())
	require.NoError(t, err)
	ctx := principal.System(t.Context(), "test")
	fill := func(from, n int) {
		require.NoError(t, s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.ExecRaw(ctx, fmt.Sprintf(`INSERT INTO accounts (id, created_at, updated_at, email)
				WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) SELECT 'acc_' || i, '2026-01-02 03:04:05+00:00', '2026-01-02 03:04:05+00:00', i || '@x.test' FROM n`, from, from+n))
		}))
	}
	statistics := func() (rows int) {
		db, err := store.OpenSQLiteFile(s.Path())
		require.NoError(t, err)
		err = db.QueryRowContext(ctx, "SELECT CAST(stat AS INTEGER) FROM sqlite_stat1 WHERE tbl = 'accounts' LIMIT 1").Scan(&rows)
		require.NoError(t, errors.Join(err, db.Close()))
		return rows
	}
	seen := map[string]int{}
	fill(0, 1000)
	require.NoError(t, s.Analyze(ctx, seen))
	require.Empty(t, seen, "the table is small")
	fill(1000, 19_000)
	require.NoError(t, s.Analyze(ctx, seen))
	require.Equal(t, map[string]int{"accounts": 20_000}, seen)
	require.InDelta(t, 20_000, statistics(), 2000)
	fill(20_000, 10_000)
	require.NoError(t, s.Analyze(ctx, seen))
	require.Equal(t, map[string]int{"accounts": 20_000}, seen, "it has not doubled")
	fill(30_000, 10_000)
	require.NoError(t, s.Analyze(ctx, seen))
	require.InDelta(t, 40_000, statistics(), 4000)
	n, err := s.Reader().Account.Query().Count(ctx)
	require.NoError(t, err)
	require.Equal(t, 40_000, n)
}

package store

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"

	"atrium/ent/migrate"
	"atrium/internal/platform/principal"
)

const (
	statisticsFrom = 10_000 // rows of a table from which its queries are planned with statistics
	analysisLimit  = 1000   // rows of an index that an estimate reads, so that all tables together take milliseconds
)

// Analyze gives SQLite's planner statistics of the large tables, unless since seen, the rows by table, which it updates, none of them has
// doubled or halved. Without statistics SQLite takes an index that narrows by a company alone for as good as any other: of 1,000,000
// requests of one company page 1,000 took 513 ms instead of 4.7 and the last page 540 instead of 169 (BenchmarkScale, 2026-11, two cores).
// Small tables get none, because they would be taken for small when they have grown. Nor do River's, which are empty most of the time:
// with statistics from such a moment its reads took 45 times as long. On PostgreSQL, where autovacuum does the same, it does nothing.
func (s *Store) Analyze(ctx context.Context, seen map[string]int) error {
	if s.dialect != dialect.SQLite {
		return nil
	}
	ctx = principal.System(ctx, "statistics are of whole tables")
	sizes, changed, err := s.sizes(ctx, seen)
	if err != nil || !changed {
		return err
	}
	err = s.Write(ctx, func(ctx context.Context, tx *Tx) error {
		// The other connections read the statistics anew when the schema changes, and a new table of statistics is such a change.
		statements := []string{"DROP TABLE IF EXISTS sqlite_stat1", fmt.Sprintf("PRAGMA analysis_limit = %d", analysisLimit)}
		for table := range sizes {
			statements = append(statements, fmt.Sprintf("ANALYZE main.%q", table))
		}
		for _, statement := range statements {
			if _, err := tx.SQL().ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("analyze the tables: %w", err)
	}
	clear(seen)
	for table, n := range sizes {
		seen[table] = n
	}
	return nil
}

// sizes returns how many rows the large tables have, and whether these are others than at the last time, or twice or half as large.
func (s *Store) sizes(ctx context.Context, seen map[string]int) (sizes map[string]int, changed bool, err error) {
	db, err := OpenSQLiteFile(s.path)
	if err != nil {
		return nil, false, err
	}
	defer db.Close() //nolint:errcheck // nothing was written
	sizes = map[string]int{}
	for _, t := range migrate.Tables {
		var n int // at most; counting them would read an index
		if err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT COALESCE(MAX(rowid), 0) FROM %q", t.Name)).Scan(&n); err != nil {
			return nil, false, fmt.Errorf("look how large %s is: %w", t.Name, err)
		}
		if n >= statisticsFrom {
			sizes[t.Name] = n
		}
		changed = changed || n >= statisticsFrom && (n >= 2*seen[t.Name] || 2*n <= seen[t.Name]) || n < statisticsFrom && seen[t.Name] > 0
	}
	return sizes, changed, nil
}

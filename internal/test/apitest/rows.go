package apitest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	"atrium/internal/platform/store"
)

// Audit returns the audit entries of a call, of any company.
func (s *Server) Audit(tb testing.TB, requestID string) []*ent.AuditEntry {
	tb.Helper()
	rows, err := s.World.Store.Reader().AuditEntry.Query().Where(auditentry.RequestID(requestID)).Order(auditentry.ByID()).All(System())
	require.NoError(tb, err)
	return rows
}

// Events returns the types of all events about a row, oldest first.
func (s *Server) Events(tb testing.TB, subject string) []string {
	tb.Helper()
	rows, err := s.World.Store.Reader().Event.Query().Where(event.SubjectID(subject)).Order(event.ByID()).All(System())
	require.NoError(tb, err)
	out := []string{}
	for _, e := range rows {
		out = append(out, e.Type)
	}
	return out
}

// Counts returns the number of rows of every table.
func (s *Server) Counts(tb testing.TB) map[string]int {
	tb.Helper()
	out := map[string]int{}
	s.Write(tb, func(ctx context.Context, tx *store.Tx) error {
		tables, err := column(ctx, tx, tablesQuery(tx))
		if err != nil {
			return err
		}
		parts := make([]string, len(tables))
		for i, t := range tables {
			parts[i] = fmt.Sprintf(`SELECT '%s ' || count(*) FROM "%s"`, t, t)
		}
		counts, err := column(ctx, tx, strings.Join(parts, " UNION ALL "))
		for _, row := range counts {
			var name string
			var n int
			if _, err := fmt.Sscan(row, &name, &n); err != nil {
				return err
			}
			out[name] = n
		}
		return err
	})
	return out
}

// Except returns counts without some tables.
func Except(counts map[string]int, tables ...string) map[string]int {
	out := map[string]int{}
	for name, n := range counts {
		out[name] = n
	}
	for _, t := range tables {
		delete(out, t)
	}
	return out
}

func tablesQuery(tx *store.Tx) string {
	if tx.PGX() != nil {
		return `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`
	}
	return `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search_words%'` // an index that cannot be scanned
}

// column returns the first column of a query's rows as text.
func column(ctx context.Context, tx *store.Tx, query string) (out []string, err error) {
	var rows interface {
		Next() bool
		Scan(dest ...any) error
		Err() error
	}
	if pg := tx.PGX(); pg != nil {
		r, err := pg.Query(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		defer r.Close()
		rows = r
	} else {
		r, err := tx.SQL().QueryContext(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		defer r.Close() //nolint:errcheck // read to its end below
		rows = r
	}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Of returns, for every entity of which a company has rows, the id of one row, and a summary of all its rows that changes when
// one of them does.
func (s *Server) Of(tb testing.TB, companyID string) (ids, sums map[string]string) {
	tb.Helper()
	ids, sums = map[string]string{}, map[string]string{}
	s.Write(tb, func(ctx context.Context, tx *store.Tx) error {
		for _, e := range ent.Entities {
			if _, owned := e.Row.FieldByName("CompanyID"); !owned {
				continue
			}
			of := fmt.Sprintf(`FROM "%s" WHERE company_id = '%s'`, e.Table, companyID)
			id, err := column(ctx, tx, "SELECT id "+of+" LIMIT 1")
			if err != nil {
				return err
			}
			sum, err := column(ctx, tx, `SELECT count(*) || ' rows, the last changed at ' || CAST(max(updated_at) AS TEXT) `+of+` HAVING count(*) > 0`)
			if err != nil {
				return err
			}
			if len(id) > 0 {
				ids[e.Name], sums[e.Name] = id[0], sum[0]
			}
		}
		return nil
	})
	return ids, sums
}

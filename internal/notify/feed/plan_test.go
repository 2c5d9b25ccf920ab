package feed_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/notify/feed"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// history fills the audit log of a company with entries about requests, one a second before now.
func (d *desk) history(t testing.TB, entries int) {
	t.Helper()
	const head = `INSERT INTO audit_entries (id, created_at, updated_at, company_id, actor_type, actor_id, actor_name, action, resource_type, resource_id, outcome, ip, user_agent, request_id)`
	const batch = 10_000
	now := time.Now()
	for from := 0; from < entries; from += batch {
		// All ids of a batch have the same time prefix.
		at := now.Add(-time.Duration(entries-from) * time.Second)
		prefix := id.From("aud", at)[:18]
		query := fmt.Sprintf(head+` SELECT '%s' || printf('%%012d', i), ?, ?, ?, 'user', 'u', 'U', 'request.updated', 'Request', 'req_' || i, 'allowed', '', '', '' FROM
			(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) SELECT i FROM n)`, prefix, batch)
		if d.Store.Dialect() == dialect.Postgres {
			query = fmt.Sprintf(head+` SELECT '%s' || lpad(i::text, 12, '0'), $1, $2, $3, 'user', 'u', 'U', 'request.updated', 'Request', 'req_' || i, 'allowed', '', '', ''
				FROM generate_series(0, %d) AS i`, prefix, batch-1)
		}
		require.NoError(t, d.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			return ent.DriverOf(tx.Client).Exec(ctx, query, []any{at.UTC(), at.UTC(), d.A.Company.ID}, nil)
		}))
	}
}

// However long the history is, a look reads only the end of the expected index.
func TestLooksReadTheEndAlone(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.history(t, 20_000)
		for kind, index := range map[feed.Kind][]string{
			feed.Requests:   {"audit_entries_pkey", "sqlite_autoindex_audit_entries"},
			feed.Deliveries: {"updated_at"},
			feed.Executions: {"execution_updated_at_id"},
			feed.Tasks:      {"task_updated_at_id"},

			feed.Notifications: {"notifications_pkey", "sqlite_autoindex_notifications"},
		} {
			for _, companies := range [][]string{nil, {d.A.Company.ID}, {d.A.Company.ID, d.B.Company.ID, "co_x"}} {
				query, args := feed.Statement(kind, d.Store.Dialect(), time.Now(), companies)
				plan := d.plan(t, query, args, map[feed.Kind]string{feed.Requests: "on", feed.Deliveries: "off", feed.Notifications: "off", feed.Executions: "off", feed.Tasks: "off"}[kind])
				found := ""
				for _, name := range index {
					if strings.Contains(plan, name) {
						found = name
					}
				}
				require.NotEmpty(t, found, "%s\n%s", query, plan)
				require.NotContains(t, plan, "Seq Scan", plan)
				require.NotContains(t, plan, "TEMP B-TREE", plan)
			}
		}
	})
}

// plan returns the query plan of the database. scans says whether PostgreSQL may scan a whole table, as it prefers to do with
// small ones.
func (d *desk) plan(t *testing.T, text string, args []any, scans string) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, d.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		driver := ent.DriverOf(tx.Client)
		query := "EXPLAIN QUERY PLAN " + text
		if d.Store.Dialect() == dialect.Postgres {
			query = "EXPLAIN " + text
			for _, s := range []string{"ANALYZE audit_entries", "SET LOCAL enable_seqscan = " + scans} {
				if err := driver.Exec(ctx, s, []any{}, nil); err != nil {
					return err
				}
			}
		}
		var rows sql.Rows
		if err := driver.Query(ctx, query, args, &rows); err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to its end below
		for rows.Next() {
			line, into := "", []any{new(int), new(int), new(int)}
			if d.Store.Dialect() == dialect.Postgres {
				into = nil
			}
			if err := rows.Scan(append(into, &line)...); err != nil {
				return err
			}
			out.WriteString(line + "\n")
		}
		return rows.Err()
	}))
	return out.String()
}

// The cost of one look at the end of a long history, while nothing changes and while much does.
func BenchmarkLook(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		b.Run(name, func(b *testing.B) {
			d := open(b, world(b))
			d.history(b, 200_000)
			if d.Store.Dialect() == dialect.Postgres {
				_, err := d.Store.Pool().Exec(b.Context(), "ANALYZE")
				require.NoError(b, err)
			}
			for kind, what := range map[feed.Kind]string{feed.Requests: "requests", feed.Deliveries: "deliveries"} {
				b.Run(what+"/idle", func(b *testing.B) { look(b, d, kind) })
			}
			for range 1000 {
				d.file(b, d.A)
			}
			b.Run("requests/1000 in the window", func(b *testing.B) { look(b, d, feed.Requests) })
		})
	}
}

func look(b *testing.B, d *desk, k feed.Kind) {
	b.ReportAllocs()
	for b.Loop() {
		rows, err := feed.Read(d.Store, k, time.Now().Add(-10*time.Second), []string{d.A.Company.ID})
		require.NoError(b, err)
		b.ReportMetric(float64(rows), "rows")
	}
}

// The cost of watching for writers: a request is created without watchers, and with ten watchers on each of two nodes.
func BenchmarkCreate(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		d := open(b, world(b))
		b.Run(name+"/alone", func(b *testing.B) {
			for b.Loop() {
				d.file(b, d.A)
			}
		})
		b.Run(name+"/watched", func(b *testing.B) {
			for range 10 {
				for _, f := range []*feed.Feed{d.here, d.there} {
					watch(b, f, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
				}
			}
			for b.Loop() {
				d.file(b, d.A)
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"atrium/internal/store"
)

// pageResult compares page 1 of two companies of one database.
type pageResult struct {
	result
	query      string
	big, small int // the exact totals that were answered
}

// pageBound is how many times as much page 1 of the big company may cost.
const pageBound = 2.0

// comparePages seeds a company with very many requests and one with few, and compares page 1 of both.
func comparePages(ctx context.Context, o options, w *world) (out []pageResult, err error) {
	progress("%s: seeding %d and %d requests", w.Dialect, o.small, o.big)
	if err := w.seed(ctx, &w.Small, o.small); err != nil {
		return nil, err
	}
	if err := w.seed(ctx, &w.Big, o.big); err != nil {
		return nil, err
	}
	product, err := startProduct(ctx, o, w)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, product.stop()) }()
	for _, p := range []struct {
		name, query string
		bound       float64
	}{
		{"page", "status=PENDING&sort=-createdAt", pageBound},
		{"page-all", "sort=-createdAt", pageBound},
		{"page-service", "status=PENDING&serviceId={service}&sort=-createdAt", 0},
	} {
		if o.workload != "" && !o.wants(p.name) {
			continue
		}
		progress("%s: %s", w.Dialect, p.name)
		small, big := pageRequests(&w.Small, p.query), pageRequests(&w.Big, p.query)
		wl := workload{name: p.name, requests: small, status: 200, bound: p.bound}
		r := pageResult{query: p.query}
		if r.small, err = total(ctx, w, product, small[0]); err != nil {
			return nil, err
		}
		if r.big, err = total(ctx, w, product, big[0]); err != nil {
			return nil, err
		}
		if p.name == "page-all" && (r.small != o.small || r.big != o.big) {
			return nil, fmt.Errorf("totals are %d and %d, seeded were %d and %d", r.small, r.big, o.small, o.big)
		}
		if r.result, err = alternate(ctx, o, w, wl, [2]*server{product, product}, [2][][]byte{small, big}); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func pageRequests(t *tenant, query string) [][]byte {
	var out [][]byte
	for _, s := range t.Services {
		out = append(out, request(t, "GET", "/v1/requests?"+strings.ReplaceAll(query, "{service}", s.ID), ""))
	}
	return out
}

// total asks for a page and returns its totalCount.
func total(ctx context.Context, w *world, s *server, request []byte) (int, error) {
	l, err := dial(ctx, w, s, 1)
	if err != nil {
		return 0, err
	}
	defer l.close()
	var body bytes.Buffer
	if err := l.conns[0].call(request, 200, &body); err != nil {
		return 0, err
	}
	var page struct {
		Pagination struct{ TotalCount int }
	}
	if err := json.Unmarshal(body.Bytes(), &page); err != nil {
		return 0, fmt.Errorf("read the page: %w", err)
	}
	return page.Pagination.TotalCount, nil
}

// sameRows does one create through each server and says which tables they wrote to differently.
func sameRows(ctx context.Context, o options, w *world) (note string, err error) {
	product, floor, stop, err := startBoth(ctx, o, w)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var wrote [2]map[string]int
	for i, srv := range []*server{product, floor} {
		if wrote[i], err = w.writtenBy(ctx, srv); err != nil {
			return "", err
		}
	}
	text := func(m map[string]int) string {
		var parts []string
		for _, table := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, fmt.Sprintf("%s %+d", table, m[table]))
		}
		return strings.Join(parts, ", ")
	}
	if !maps.Equal(wrote[0], wrote[1]) {
		return fmt.Sprintf("NOT THE SAME ROWS per create: product %s; floor %s", text(wrote[0]), text(wrote[1])), nil
	}
	return "rows per create, both: " + text(wrote[0]), nil
}

// writtenBy does one create and returns by how many rows it made each table grow.
func (w *world) writtenBy(ctx context.Context, srv *server) (map[string]int, error) {
	l, err := dial(ctx, w, srv, 1)
	if err != nil {
		return nil, err
	}
	defer l.close()
	s := w.Main.Services[0]
	create := request(&w.Main, "POST", "/v1/requests", createBody(s.ID, s.Formed, formFields))
	if err := l.conns[0].call(create, 201, nil); err != nil { // the first may make things that last
		return nil, err
	}
	before, err := w.countRows(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.conns[0].call(create, 201, nil); err != nil {
		return nil, err
	}
	after, err := w.countRows(ctx)
	if err != nil {
		return nil, err
	}
	wrote := map[string]int{}
	for table, n := range after {
		if n != before[table] {
			wrote[table] = n - before[table]
		}
	}
	return wrote, nil
}

// countRows counts every table's rows but those that the product writes beside requests, in batches.
func (w *world) countRows(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	count := func(tables []string, one func(string) (int, error)) error {
		for _, t := range tables {
			if t == "rate_counts" || t == "row_counts" || strings.HasPrefix(t, "sqlite_") {
				continue
			}
			n, err := one(t)
			if err != nil {
				return fmt.Errorf("count %s: %w", t, err)
			}
			out[t] = n
		}
		return nil
	}
	if w.Dialect == "postgres" {
		conn, err := pgx.Connect(ctx, w.DatabaseURL)
		if err != nil {
			return nil, fmt.Errorf("count rows: %w", err)
		}
		defer conn.Close(ctx) //nolint:errcheck // nothing is pending
		if _, err := conn.Exec(ctx, "SELECT set_config('app.company_id', '*', false)"); err != nil {
			return nil, fmt.Errorf("count rows: %w", err)
		}
		rows, err := conn.Query(ctx, "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace")
		if err != nil {
			return nil, fmt.Errorf("count rows: %w", err)
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("count rows: %w", err)
		}
		return out, count(tables, func(t string) (n int, err error) {
			err = conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{t}.Sanitize()).Scan(&n)
			return n, err
		})
	}
	db, err := store.OpenSQLiteFile(w.Dir + "/atrium.db")
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // only read
	tables, err := sqliteTables(ctx, db)
	if err != nil {
		return nil, err
	}
	return out, count(tables, func(t string) (n int, err error) {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM "`+t+`"`).Scan(&n)
		return n, err
	})
}

func sqliteTables(ctx context.Context, db *sql.DB) (tables []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	defer rows.Close() //nolint:errcheck // read to its end
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list tables: %w", err)
		}
		tables = append(tables, name)
	}
	return tables, rows.Err()
}

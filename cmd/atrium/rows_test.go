package main_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// column returns the first column of a query's rows, as text, read directly from the database.
func column(t testing.TB, p place, query string) []string {
	t.Helper()
	ctx := context.Background()
	var out []string
	if p.url == "" {
		db := openSQLite(t, p)
		defer db.Close() //nolint:errcheck // only read
		rows, err := db.QueryContext(ctx, query)
		require.NoError(t, err)
		defer rows.Close() //nolint:errcheck // read to its end
		for rows.Next() {
			var s string
			require.NoError(t, rows.Scan(&s))
			out = append(out, s)
		}
		require.NoError(t, rows.Err())
		return out
	}
	onRows(t, p, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			var v any
			err := row.Scan(&v)
			return fmt.Sprint(v), err
		})
		return err
	})
	return out
}

// change runs a statement directly on the database.
func change(t testing.TB, p place, statement string) {
	t.Helper()
	if p.url == "" {
		db := openSQLite(t, p)
		_, err := db.Exec(statement)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		return
	}
	onRows(t, p, func(tx pgx.Tx) error {
		_, err := tx.Exec(context.Background(), statement)
		return err
	})
}

func countRows(t testing.TB, p place, from string) int {
	t.Helper()
	var n int
	_, err := fmt.Sscan(column(t, p, "SELECT count(*) FROM "+from)[0], &n)
	require.NoError(t, err)
	return n
}

func openSQLite(t testing.TB, p place) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", p.data+"/atrium.db?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	return db
}

// onRows runs fn in a transaction for which row-level security shows the rows of all companies.
func onRows(t testing.TB, p place, fn func(pgx.Tx) error) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, p.url)
	require.NoError(t, err)
	defer conn.Close(ctx) //nolint:errcheck // the test is over
	require.NoError(t, pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config('app.company_id', '*', true)"); err != nil {
			return err
		}
		return fn(tx)
	}))
}

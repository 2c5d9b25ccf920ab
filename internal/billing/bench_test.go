package billing_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/billing"
	"atrium/internal/op"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// ledger is a company with one large credit and a number of entries, each of which draws a cent from it, except for the first.
type ledger struct {
	*testkit.World
	owner context.Context
}

func fill(b *testing.B, w *testkit.World, entries int) *ledger {
	b.Helper()
	l := &ledger{World: w, owner: w.As(w.A, principal.Owner)}
	numbers, now, padded := "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)", "strftime('%Y-%m-%d %H:%M:%f+00:00', 'now')", "printf('%026d', n)"
	if w.Store.Dialect() == dialect.Postgres {
		numbers, now, padded = "WITH numbers AS (SELECT generate_series(1, $2::bigint) AS n)", "now()", "lpad(n::text, 26, '0')"
	}
	l.exec(b, numbers+` INSERT INTO credit_entries (id, created_at, updated_at, company_id, type, amount, reason, description, number, balance, drawn_from)
		SELECT 'crd_' || `+padded+`, `+now+`, `+now+`, $1, CASE n WHEN 1 THEN 'issued' ELSE 'applied' END, CASE n WHEN 1 THEN 1000000000 ELSE -1 END,
		CASE n WHEN 1 THEN 'promotion' ELSE 'invoice' END, 'Invoice', n, 1000000001 - n, CASE n WHEN 1 THEN NULL ELSE 1 END FROM numbers`, w.A.Company.ID, entries)
	l.exec(b, `UPDATE billing_accounts SET entries = $2, balance = $3, drawn_entry = 1, drawn_amount = $4 WHERE company_id = $1`,
		w.A.Company.ID, int64(entries), int64(1_000_000_001-entries), int64(entries-1))
	if w.Store.Dialect() == dialect.Postgres {
		_, err := w.Store.Pool().Exec(context.Background(), "VACUUM ANALYZE credit_entries") // as autovacuum does
		require.NoError(b, err)
	}
	return l
}

func (l *ledger) exec(b *testing.B, statement string, args ...any) {
	b.Helper()
	require.NoError(b, l.Store.Write(l.owner, func(ctx context.Context, tx *store.Tx) error {
		return ent.DriverOf(tx.Client).Exec(ctx, statement, args, nil)
	}))
}

// bill makes an invoice of ten cents that the credits pay.
func (l *ledger) bill(b *testing.B) {
	require.NoError(b, l.Engine.Work(context.Background(), l.A.Company.ID, "billing", func(ctx context.Context, tx *op.Tx) error {
		return billing.Bill(ctx, tx, 10)
	}))
}

// byHand writes the same rows in plain SQL without any checks, as a baseline.
func (l *ledger) byHand(b *testing.B) {
	lock := ""
	if l.Store.Dialect() == dialect.Postgres {
		lock = " FOR NO KEY UPDATE"
	}
	require.NoError(b, l.Store.Write(l.owner, func(ctx context.Context, tx *store.Tx) error {
		db, company, now := ent.DriverOf(tx.Client), l.A.Company.ID, time.Now().UTC()
		var account string
		var entries, balance, drawn, used, invoices, number, amount int64
		if err := one(ctx, db, `SELECT id, entries, balance, drawn_entry, drawn_amount, invoices FROM billing_accounts WHERE company_id = $1`+lock,
			[]any{company}, &account, &entries, &balance, &drawn, &used, &invoices); err != nil {
			return err
		}
		if err := one(ctx, db, `SELECT number, amount FROM credit_entries WHERE company_id = $1 AND type = 'issued' AND number >= $2 ORDER BY number LIMIT 1`,
			[]any{company, drawn}, &number, &amount); err != nil {
			return err
		}
		invoice := id.New("inv")
		for _, s := range []struct {
			text string
			args []any
		}{
			{`INSERT INTO credit_entries (id, created_at, updated_at, company_id, type, amount, reason, description, invoice_id, number, balance, drawn_from)
				VALUES ($1, $2, $2, $3, 'applied', -10, 'invoice', 'Invoice', $4, $5, $6, $7)`, []any{id.New("crd"), now, company, invoice, entries + 1, balance - 10, number}},
			{`INSERT INTO invoices (id, created_at, updated_at, company_id, number, status, bill_to, period_start, period_end, lines, subtotal, credits_applied, amount_due, currency, credited, paid_at)
				VALUES ($1, $2, $2, $3, $4, 'paid', 'A', $2, $2, '[{"description":"x","amount":10}]', 10, 10, 0, 'usd', 0, $2)`, []any{invoice, now, company, invoices + 1}},
			{`INSERT INTO journal_lines (id, created_at, updated_at, company_id, source, account, amount) VALUES ($1, $3, $3, $4, $5, 'credit', 10), ($2, $3, $3, $4, $5, 'revenue', -10)`,
				[]any{id.New("jrn"), id.New("jrn"), now, company, invoice}},
			{`UPDATE billing_accounts SET entries = $2, balance = $3, drawn_amount = $4, invoices = $5, updated_at = $6 WHERE id = $1`,
				[]any{account, entries + 1, balance - 10, used + 10, invoices + 1, now}},
		} {
			if err := db.Exec(ctx, s.text, s.args, nil); err != nil {
				return err
			}
		}
		return nil
	}))
}

func one(ctx context.Context, db dialect.Driver, query string, args []any, into ...any) error {
	var rows sql.Rows
	if err := db.Query(ctx, query, args, &rows); err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read to its end
	if !rows.Next() {
		return fmt.Errorf("no row: %w", rows.Err())
	}
	return rows.Scan(into...)
}

// BenchmarkLedger reads the balance and the first page of the history with a thousand entries and with a million, and applies
// credits, through the product and through plain SQL.
func BenchmarkLedger(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		for _, entries := range []int{1_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", name, entries), func(b *testing.B) {
				l := fill(b, world(b), entries)
				b.Run("balance and page 1", func(b *testing.B) {
					for b.Loop() {
						c := testkit.Run(b, l.World, l.owner, billing.GetCredits, billing.GetCreditsInput{Page: 1, PageSize: 20})
						require.Len(b, c.Entries.Rows, 20)
					}
				})
				b.Run("apply", func(b *testing.B) {
					for b.Loop() {
						l.bill(b)
					}
				})
				b.Run("apply by hand", func(b *testing.B) {
					for b.Loop() {
						l.byHand(b)
					}
				})
			})
		}
	}
}

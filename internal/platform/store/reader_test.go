package store_test

import (
	"context"
	"sync"
	"testing"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// ask runs a query on the reader without Ent, and returns the text of its single row.
func ask(ctx context.Context, s *store.Store, query string) (string, error) {
	var rows entsql.Rows
	if err := ent.DriverOf(s.Reader()).Query(ctx, query, []any{}, &rows); err != nil {
		return "", err
	}
	text, err := entsql.ScanString(rows)
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	return text, err
}

// Connections of the read pool are shared. Whatever the previous caller asked and however that ended, the next query is bound to
// its own caller's company.
func TestReaderIsBoundToItsCaller(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	s := onePostgres(t, w)
	a, b := w.As(w.A, principal.Owner), w.As(w.B, principal.Owner)
	callers := []struct {
		ctx  context.Context
		want string
	}{{a, w.A.Company.ID}, {b, w.B.Company.ID}, {system(), "*"}, {context.Background(), ""}}
	const whose = "SELECT current_setting('app.company_id')"
	before := map[string]string{
		"a query":                    whose,
		"one that does not parse":    "SELEC",
		"one that fails":             "SELECT no_such_column FROM services",
		"one that fails in its rows": "SELECT (1/(3-x))::text FROM generate_series(1, 5) x",
		"one that may not write":     "INSERT INTO settings (id, value) VALUES ('x', 'x') RETURNING id",
		"one row of many":            "SELECT x::text FROM generate_series(1, 5000) x",
	}
	for name, query := range before {
		for _, first := range callers {
			for _, second := range callers {
				_, _ = ask(first.ctx, s, whose)
				_, _ = ask(second.ctx, s, query)
				for _, third := range append(callers, second, second) {
					got, err := ask(third.ctx, s, whose)
					require.NoError(t, err)
					require.Equal(t, third.want, got, "after %s", name)
				}
				_, _ = ask(second.ctx, s, query)
				got, err := ask(second.ctx, s, whose)
				require.NoError(t, err)
				require.Equal(t, second.want, got, "after %s of the same caller", name)
			}
		}
	}
}

// The same with many callers on few connections, some of which cancel while their query runs.
func TestReadersDoNotMix(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	s := another(t, w)
	var wg sync.WaitGroup
	wrong := make(chan string, 1000)
	for i := range 8 {
		tenant := []*testkit.Tenant{w.A, w.B}[i%2]
		wg.Go(func() {
			for n := range 40 {
				ctx, cancel := context.WithCancel(w.As(tenant, principal.Owner))
				if n%5 == 4 {
					go cancel()
				}
				got, err := ask(ctx, s, "SELECT string_agg(id, ',') || current_setting('app.company_id') FROM companies")
				if err == nil && got != tenant.Company.ID+tenant.Company.ID {
					wrong <- got
				}
				cancel()
			}
		})
	}
	wg.Wait()
	close(wrong)
	for got := range wrong {
		require.Fail(t, "a caller saw what is not its own", got)
	}
}

package schema_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	guard "atrium/ent/schema"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// exec runs a statement in the transaction, beside Ent. Its marks are $1, $2, …, which both databases take.
func exec(ctx context.Context, tx *store.Tx, statement string, args ...any) error {
	if tx.Dialect() == dialect.Postgres {
		_, err := tx.PGX().Exec(ctx, statement, args...)
		return err
	}
	_, err := tx.SQL().ExecContext(ctx, statement, args...)
	return err
}

// The database refuses a reference to another company's row even from the system principal and past Ent.
func TestDatabaseRefusesForeignReferences(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := twoCompanies(t, w)
		for _, table := range store.Tables {
			for _, fk := range table.ForeignKeys {
				col := fk.Columns[len(fk.Columns)-1].Name
				if col == "company_id" || col == "account_id" {
					continue
				}
				entity, target := entityOf(c, table), entityOf(c, fk.RefTable)
				statement := fmt.Sprintf("UPDATE %s SET %s = $1 WHERE id = $2", table.Name, col)
				set := func(value any) error {
					return w.Store.Write(c.asSystem, func(ctx context.Context, tx *store.Tx) error {
						return exec(ctx, tx, statement, value, c.a[entity])
					})
				}
				var v *store.Violation
				require.ErrorAs(t, set(c.b[target]), &v, "%s.%s takes a row of another company", table.Name, col)
				require.Equal(t, store.ForeignKey, v.Kind)
				require.ErrorAs(t, set("nothing"), &v, "%s.%s takes what does not exist", table.Name, col)
				if entity != "Organization" {
					require.NoError(t, set(c.a[target]), "%s.%s", table.Name, col)
				}
			}
		}
	})
}

// Every key between two tenant-owned tables carries company_id on both sides; every owner is a company.
func TestForeignKeysAreComposite(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, table := range store.Tables {
		if _, ok := table.Column("company_id"); !ok {
			continue
		}
		toCompanies := false
		for _, fk := range table.ForeignKeys {
			if fk.RefTable.Name == "companies" {
				toCompanies = true
				continue
			}
			if _, ok := fk.RefTable.Column("company_id"); !ok || fk.RefTable == table {
				continue // a tree's parent is held by triggers: TestDatabaseRefusesForeignReferences
			}
			seen++
			require.Len(t, fk.Columns, 2, fk.Symbol)
			require.Equal(t, "company_id", fk.Columns[0].Name, fk.Symbol)
			require.Equal(t, "company_id", fk.RefColumns[0].Name, fk.Symbol)
		}
		require.True(t, toCompanies, "%s: company_id refers to nothing", table.Name)
	}
	require.Positive(t, seen)
}

// The same as the live PostgreSQL catalogue tells it, with row-level security enabled, forced and given a policy on
// every table that is not the job queue's, but for the index of package search, which a policy would make useless.
func TestPostgresCatalogue(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	ctx := t.Context()
	rows, err := w.Store.Pool().Query(ctx, `
		SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
			(SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd = '*'),
			(SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND n.nspname = current_schema() AND c.relname NOT LIKE 'river\_%' AND c.relname NOT IN ('schema_migrations', 'search_vectors')`)
	require.NoError(t, err)
	tables := map[string]bool{}
	var name string
	var enabled, forced bool
	var forAll, all int
	_, err = pgx.ForEachRow(rows, []any{&name, &enabled, &forced, &forAll, &all}, func() error {
		tables[name] = true
		require.True(t, enabled, "%s: row-level security is off", name)
		require.True(t, forced, "%s: row-level security is not forced on its owner", name)
		require.Equal(t, 1, forAll, "%s: policies for all commands", name)
		require.Equal(t, 1, all, "%s: further policies would widen the one", name)
		return nil
	})
	require.NoError(t, err)
	for _, table := range store.Tables {
		require.True(t, tables[table.Name], "%s is not in the database", table.Name)
	}

	var loose []string
	err = w.Store.Pool().QueryRow(ctx, `
		SELECT coalesce(array_agg(k.conname::text), '{}') FROM pg_constraint k
		WHERE k.contype = 'f' AND k.conrelid <> k.confrelid
			AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attname = 'company_id')
			AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = k.confrelid AND a.attname = 'company_id')
			AND NOT EXISTS (SELECT 1 FROM pg_attribute a, pg_attribute b
				WHERE a.attrelid = k.conrelid AND a.attnum = k.conkey[1] AND a.attname = 'company_id'
				AND b.attrelid = k.confrelid AND b.attnum = k.confkey[1] AND b.attname = 'company_id')`).Scan(&loose)
	require.NoError(t, err)
	require.Empty(t, loose, "keys between tenant-owned tables without company_id")
}

// A raw connection, past Ent and the store: what it sees is what app.company_id says.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	c := twoCompanies(t, w)
	as := func(company string, fn func(pgx.Tx)) {
		t.Helper()
		tx, err := w.Store.Pool().Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
		if company != "unset" {
			_, err = tx.Exec(t.Context(), "SELECT set_config('app.company_id', $1, true)", company)
			require.NoError(t, err)
		}
		fn(tx)
	}
	count := func(tx pgx.Tx, query string, args ...any) int {
		t.Helper()
		var n int
		require.NoError(t, tx.QueryRow(t.Context(), query, args...).Scan(&n))
		return n
	}
	a, b := w.A.Company.ID, w.B.Company.ID
	for _, table := range store.Tables {
		owner := "company_id"
		if _, ok := table.Column(owner); !ok {
			owner = ""
			if table.Name == "companies" {
				owner = "id"
			}
		}
		all := "SELECT count(*) FROM " + table.Name
		as("*", func(tx pgx.Tx) { require.Positive(t, count(tx, all), table.Name) })
		for _, nobody := range []string{"unset", "", "%", "co_"} {
			as(nobody, func(tx pgx.Tx) { require.Zero(t, count(tx, all), "%s with %q", table.Name, nobody) })
		}
		as(b, func(tx pgx.Tx) {
			if owner == "" {
				require.Zero(t, count(tx, all), "%s is no company's", table.Name)
				return
			}
			require.Zero(t, count(tx, all+" WHERE "+owner+" <> $1", b), table.Name)
			require.Positive(t, count(tx, all), table.Name)
			id := c.a[entityOf(c, table)]
			for _, statement := range []string{"UPDATE " + table.Name + " SET id = id WHERE id = $1", "DELETE FROM " + table.Name + " WHERE id = $1"} {
				tag, err := tx.Exec(t.Context(), statement, id)
				require.NoError(t, err)
				require.Zero(t, tag.RowsAffected(), statement)
			}
		})
		if owner == "company_id" { // B can neither give its row away nor make one for A
			as(b, func(tx pgx.Tx) {
				_, err := tx.Exec(t.Context(), fmt.Sprintf("UPDATE %s SET company_id = $1 WHERE company_id = $2", table.Name), a, b)
				require.Error(t, err, table.Name)
			})
			as(b, func(tx pgx.Tx) {
				from := c.b[entityOf(c, table)]
				if table.Name == "organizations" {
					from = c.b["Parent"] // one that has no parent: that is asked for before the policy
				}
				_, err := tx.Exec(t.Context(), copyRow(table.Name), "copy", a, from)
				require.ErrorContains(t, err, "row-level security", table.Name)
			})
		}
	}
}

// copyRow is an insert of a row's copy under another id and owner.
func copyRow(table string) string {
	var cols, values []string
	for _, t := range store.Tables {
		if t.Name != table {
			continue
		}
		for _, col := range t.Columns {
			name := `"` + col.Name + `"`
			cols = append(cols, name)
			switch {
			case col.Name == "id" && !col.Increment:
				values = append(values, "CAST($1 AS TEXT)")
			case col.Name == "id":
				values = append(values, "id + 1000 + length(CAST($1 AS TEXT))")
			case col.Name == "company_id":
				values = append(values, "CAST($2 AS TEXT)")
			default:
				values = append(values, name)
			}
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE id = $3", table, strings.Join(cols, ", "), strings.Join(values, ", "), table)
}

// The audit log only grows: the database itself refuses to change, delete, replace or empty it, whoever asks.
func TestAuditEntriesCannotBeChanged(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := twoCompanies(t, w)
		id := c.a["AuditEntry"]
		statements := map[string]func(context.Context, *store.Tx) error{
			"UPDATE": func(ctx context.Context, tx *store.Tx) error {
				return exec(ctx, tx, "UPDATE audit_entries SET actor_name = 'x' WHERE id = $1", id)
			},
			"DELETE": func(ctx context.Context, tx *store.Tx) error {
				return exec(ctx, tx, "DELETE FROM audit_entries WHERE id = $1", id)
			},
			"DELETE of all": func(ctx context.Context, tx *store.Tx) error { return exec(ctx, tx, "DELETE FROM audit_entries") },
			"Ent's Delete": func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.AuditEntry.Delete().Exec(ctx)
				return err
			},
			"Ent's Update": func(ctx context.Context, tx *store.Tx) error {
				return tx.AuditEntry.Update().Where(auditentry.ID(id.(string))).Exec(ctx)
			},
		}
		if w.Store.Dialect() == dialect.Postgres {
			statements["TRUNCATE"] = func(ctx context.Context, tx *store.Tx) error { return exec(ctx, tx, "TRUNCATE audit_entries") }
			statements["TRUNCATE CASCADE"] = func(ctx context.Context, tx *store.Tx) error { return exec(ctx, tx, "TRUNCATE companies CASCADE") }
		} else {
			statements["REPLACE"] = func(ctx context.Context, tx *store.Tx) error {
				return exec(ctx, tx, strings.Replace(copyRow("audit_entries"), "INSERT", "REPLACE", 1), id, c.A.Company.ID, id)
			}
		}
		before, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ID(id.(string))).Only(c.asSystem)
		require.NoError(t, err)
		n, err := w.Store.Reader().AuditEntry.Query().Count(c.asSystem)
		require.NoError(t, err)
		for name, statement := range statements {
			for who, ctx := range map[string]context.Context{"system": c.asSystem, "owner": c.asA} {
				err := w.Store.Write(ctx, statement)
				require.ErrorContains(t, err, "append-only", "%s as %s", name, who)
			}
		}
		after, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ID(id.(string))).Only(c.asSystem)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(before), fmt.Sprint(after))
		m, err := w.Store.Reader().AuditEntry.Query().Count(c.asSystem)
		require.NoError(t, err)
		require.Equal(t, n, m)
	})
}

// The company entity guards itself: a caller reads its own, changes its own, and makes or removes none.
func TestCompanyGuardsItself(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		all, err := w.Store.Reader().Company.Query().All(ctx)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, w.A.Company.ID, all[0].ID)
		err = w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.Create().SetName("N").SetSlug("n").Exec(ctx)
		})
		require.ErrorIs(t, err, guard.ErrOtherCompany)
	})
}

package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// The same faulty write gets the same Violation on both databases: kind, table, and the columns that the caller sent.
func TestViolationsAreAlike(t *testing.T) {
	t.Parallel()
	type create func(ctx context.Context, db *ent.Client, w *testkit.World) error
	service := func(slug string) create {
		return func(ctx context.Context, db *ent.Client, w *testkit.World) error {
			return db.Service.Create().SetCompanyID(w.A.Company.ID).SetName("S").SetSlug(slug).Exec(ctx)
		}
	}
	for name, tc := range map[string]struct {
		twice   create
		table   string
		columns []string
	}{
		"in a company": {service("same"), "services", []string{"slug"}},
		"in a service": {func(ctx context.Context, db *ent.Client, w *testkit.World) error {
			id := "svc_of_it"
			if n, err := db.Service.Query().Count(ctx); err != nil {
				return err
			} else if n == 0 {
				if err := db.Service.Create().SetID(id).SetCompanyID(w.A.Company.ID).SetName("S").SetSlug("s").Exec(ctx); err != nil {
					return err
				}
			}
			return db.Offering.Create().SetCompanyID(w.A.Company.ID).SetServiceID(id).SetName("O").SetSlug("o").Exec(ctx)
		}, "offerings", []string{"service_id", "slug"}},
		"a unique column": {func(ctx context.Context, db *ent.Client, _ *testkit.World) error {
			return db.Account.Create().SetEmail("same@x.test").Exec(ctx)
		}, "accounts", []string{"email"}},
		"bytes": {func(ctx context.Context, db *ent.Client, w *testkit.World) error {
			return db.APIKey.Create().SetCompanyID(w.A.Company.ID).SetName("K").SetHash([]byte("h")).SetPrefix("key_live_").SetLast4("abcd").
				SetScopes(nil).SetTest(false).SetCreatedBy("x").Exec(ctx)
		}, "api_keys", []string{"hash"}},
		"an id": {func(ctx context.Context, db *ent.Client, w *testkit.World) error {
			return db.Calendar.Create().SetID("cal_same").SetCompanyID(w.A.Company.ID).SetName("C").Exec(ctx)
		}, "calendars", []string{"id"}},
		"three columns": {func(ctx context.Context, db *ent.Client, w *testkit.World) error {
			return db.IdempotencyKey.Create().SetCompanyID(w.A.Company.ID).SetCallerID("c").SetKey("k").SetFingerprint([]byte("f")).
				SetStatus(200).SetBody([]byte("b")).Exec(ctx)
		}, "idempotency_keys", []string{"caller_id", "key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.Each(t, func(t *testing.T, w *testkit.World) {
				once := func() error {
					return w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error { return tc.twice(ctx, tx.Client, w) })
				}
				require.NoError(t, once())
				var v *store.Violation
				require.ErrorAs(t, once(), &v)
				require.Equal(t, store.Unique, v.Kind)
				require.Equal(t, tc.table, v.Table)
				require.Equal(t, tc.columns, v.Columns)
				require.Error(t, v.Unwrap())
				require.Contains(t, v.Error(), tc.table)
			})
		})
	}
}

// Deleting a row that others refer to and referring to a missing row give the same kind.
func TestForeignKeyViolations(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			team, err := tx.Team.Create().SetName("T").SetSlug("t").Save(ctx)
			if err != nil {
				return err
			}
			return tx.Service.Create().SetName("S").SetSlug("s").SetOwnerTeam(team).Exec(ctx)
		}))
		for name, fn := range map[string]func(context.Context, *store.Tx) error{
			"delete": func(ctx context.Context, tx *store.Tx) error { _, err := tx.Team.Delete().Exec(ctx); return err },
			"insert": func(ctx context.Context, tx *store.Tx) error {
				return tx.AsSystem(ctx, "test", func(ctx context.Context) error {
					return tx.Service.Create().SetCompanyID(w.A.Company.ID).SetName("S").SetSlug("s2").SetOwnerTeamID("team_none").Exec(ctx)
				})
			},
			"company": func(ctx context.Context, tx *store.Tx) error {
				return tx.AsSystem(ctx, "test", func(ctx context.Context) error {
					return tx.Calendar.Create().SetCompanyID("co_none").SetName("C").Exec(ctx)
				})
			},
		} {
			var v *store.Violation
			require.ErrorAs(t, w.Store.Write(ctx, fn), &v, name)
			require.Equal(t, store.ForeignKey, v.Kind, name)
		}
	})
}

// Every unique index is known by name, so that no violation on PostgreSQL lacks its columns. Only triggers write search_vectors.
func TestEveryUniqueIndexIsNamed(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	rows, err := w.Store.Pool().Query(t.Context(), `
		SELECT t.relname, i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
		JOIN pg_namespace n ON n.oid = t.relnamespace
		WHERE x.indisunique AND n.nspname = current_schema() AND t.relname NOT LIKE 'river\_%' AND t.relname NOT IN ('schema_migrations', 'search_vectors')`)
	require.NoError(t, err)
	defer rows.Close()
	n := 0
	for rows.Next() {
		var table, index string
		require.NoError(t, rows.Scan(&table, &index))
		table, index = store.ParentName(table), store.ParentName(index)
		i := slices.IndexFunc(store.Tables, func(t *schema.Table) bool { return t.Name == table })
		require.GreaterOrEqual(t, i, 0, table)
		if strings.HasSuffix(index, "_company_id_id") {
			continue // target of composite keys; the id alone is violated first
		}
		require.True(t, store.KnowsIndex(index), "%s of %s", index, table)
		n++
	}
	require.NoError(t, rows.Err())
	require.Greater(t, n, len(store.Tables))
}

func TestSQLiteUniqueMessages(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"constraint failed: UNIQUE constraint failed: services.company_id, services.slug (2067)": "services/slug",
		"UNIQUE constraint failed: accounts.email (2067)":                                        "accounts/email",
		"something else": "/",
	} {
		table, columns := store.SQLiteUnique(msg)
		require.Equal(t, want, fmt.Sprint(table, "/", columns), msg)
	}
}

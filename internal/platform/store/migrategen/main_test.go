package main

import (
	"os"
	"path/filepath"
	"testing"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The committed migrations produce ent/schema on both databases: there is nothing left to write. The committed atlas.sum matches the
// migration files.
func TestMigrationsAreComplete(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS("../migrations")))
	require.NoError(t, run(t.Context(), root, "change", false, testkit.PostgresURL(t), dialect.SQLite, dialect.Postgres))
	for _, d := range []string{"sqlite", "postgres"} {
		want, err := filepath.Glob(filepath.Join("../migrations", d, "*"))
		require.NoError(t, err)
		got, err := filepath.Glob(filepath.Join(root, d, "*"))
		require.NoError(t, err)
		require.Len(t, got, len(want), "%s: a migration was written", d)
		a, err := os.ReadFile(filepath.Join("../migrations", d, "atlas.sum"))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(root, d, "atlas.sum"))
		require.NoError(t, err)
		require.Equal(t, string(b), string(a), "%s: atlas.sum is not current", d)
	}
}

// Partitioned tables are compared like other tables.
func TestMissingIndexOfPartitionedTableIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS("../migrations")))
	drop := filepath.Join(root, "postgres", "20261121000099_drop.sql")
	require.NoError(t, os.WriteFile(drop, []byte("DROP INDEX webhookdelivery_company_id_subscription_id_outcome;\n"), 0o600))
	require.ErrorContains(t, run(t.Context(), root, "change", true, testkit.PostgresURL(t), dialect.Postgres), `CREATE INDEX "webhookdelivery_company_id_subscription_id_outcome"`)
}

// A difference is found, and -check writes nothing.
func TestMissingMigrationIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS("../migrations")))
	f, err := os.OpenFile(filepath.Join(root, "sqlite", "20261121000009_drop.sql"), os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString("DROP TABLE `organizations`;\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.ErrorContains(t, run(t.Context(), root, "change", true, testkit.PostgresURL(t), dialect.SQLite), "has changes that no migration makes")
	files, err := filepath.Glob(filepath.Join(root, "sqlite", "*.sql"))
	require.NoError(t, err)
	committed, err := filepath.Glob("../migrations/sqlite/*.sql")
	require.NoError(t, err)
	require.Len(t, files, len(committed)+1)
	require.ErrorContains(t, run(t.Context(), root, "change", true, "", dialect.SQLite), "-postgres")
}

// On PostgreSQL a new table gets row-level security in the migration that creates it, and only its own company sees its rows.
func TestNewTableIsSecured(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS("../migrations")))
	drop := filepath.Join(root, "postgres", "20261121000099_drop.sql")
	require.NoError(t, os.WriteFile(drop, []byte("DROP TABLE organizations CASCADE;\nDROP TABLE rate_counts;\n"), 0o600))
	require.NoError(t, run(t.Context(), root, "back", false, testkit.PostgresURL(t), dialect.Postgres))
	made, err := filepath.Glob(filepath.Join(root, "postgres", "*_back.sql"))
	require.NoError(t, err)
	require.Len(t, made, 1)
	text, err := os.ReadFile(made[0])
	require.NoError(t, err)
	for _, want := range []string{
		`ALTER TABLE "organizations" ENABLE ROW LEVEL SECURITY`, `ALTER TABLE "organizations" FORCE ROW LEVEL SECURITY`,
		`CREATE POLICY tenant ON "organizations" USING (company_id = (`, `CREATE POLICY tenant ON "rate_counts" USING ((SELECT`,
	} {
		require.Contains(t, string(text), want)
	}
	require.NoError(t, run(t.Context(), root, "change", true, testkit.PostgresURL(t), dialect.Postgres), "the migration can be replayed, and its sum is current")
}

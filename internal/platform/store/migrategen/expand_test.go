package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlite"
	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

// contracted lists what migrations may remove because the last release neither reads nor writes it: "table" or "table.column",
// and the release that stopped using it.
var contracted = map[string]string{}

// An upgrade replaces one node after the other, so the last release must still work on the schema of the next one. So a migration
// may remove something only after a release that does not use it has shipped.
func TestMigrationsExpand(t *testing.T) {
	t.Parallel()
	for dialect, open := range databases(t) {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, breaking(t, open(t), filepath.Join("../migrations", dialect)))
		})
	}
}

func TestContractingMigrationsAreFound(t *testing.T) {
	t.Parallel()
	for dialect, open := range databases(t) {
		for statement, want := range map[string]string{
			"DROP TABLE saved_views":                                                         "saved_views is dropped",
			"ALTER TABLE services DROP COLUMN description":                                   "services.description is dropped",
			"ALTER TABLE services RENAME COLUMN description TO about":                        "services.description is dropped",
			"ALTER TABLE services ADD COLUMN about text NOT NULL":                            "services.about takes no NULL and has no default",
			"CREATE UNIQUE INDEX names ON organizations (company_id, name)":                  "index names of organizations is unique",
			"ALTER TABLE services ADD COLUMN about text":                                     "",
			"ALTER TABLE services ADD COLUMN about text NOT NULL DEFAULT 'none'":             "",
			"CREATE TABLE shelves (id text NOT NULL PRIMARY KEY, name text NOT NULL UNIQUE)": "",
		} {
			t.Run(dialect+"/"+statement, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join("../migrations", dialect))))
				require.NoError(t, os.WriteFile(filepath.Join(folder, "99990101000000_next.sql"), []byte(statement), 0o600))
				found := breaking(t, open(t), folder)
				if want == "" {
					require.Empty(t, found)
				} else {
					require.Equal(t, []string{want}, found)
				}
			})
		}
	}
}

// databases returns, for each dialect, a function that opens an empty database with Atlas's driver on it.
func databases(t *testing.T) map[string]func(t *testing.T) database {
	t.Helper()
	return map[string]func(t *testing.T) database{
		"sqlite": func(t *testing.T) database {
			t.Helper()
			return connect(t, "sqlite", "file::memory:", sqlite.Open)
		},
		"postgres": func(t *testing.T) database {
			t.Helper()
			return connect(t, "pgx", testkit.PostgresURL(t), postgres.Open)
		},
	}
}

type database struct {
	*sql.DB
	migrate.Driver
}

func connect(t *testing.T, driver, source string, open func(atlas.ExecQuerier) (migrate.Driver, error)) database {
	t.Helper()
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	d, err := open(db)
	require.NoError(t, err)
	return database{db, d}
}

// breaking applies a folder's migrations and returns the changes after the last release that would break it.
func breaking(t *testing.T, db database, folder string) (found []string) {
	t.Helper()
	releases, err := os.ReadFile("../migrations/releases")
	require.NoError(t, err)
	fields := strings.Fields(string(releases))
	last := fields[len(fields)-1]
	files, err := filepath.Glob(folder + "/*.sql")
	require.NoError(t, err)
	at := 0 // index of the first migration that the release does not have
	for at < len(files) && filepath.Base(files[at])[:len(last)] <= last {
		at++
	}
	require.Positive(t, at)
	apply := func(files []string) *atlas.Schema {
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			_, err = db.DB.ExecContext(t.Context(), string(text))
			require.NoError(t, err, f)
		}
		s, err := db.InspectSchema(t.Context(), "", nil)
		require.NoError(t, err)
		return s
	}
	before := apply(files[:at])
	changes, err := db.SchemaDiff(before, apply(files[at:]))
	require.NoError(t, err)
	for _, c := range changes {
		switch c := c.(type) {
		case *atlas.DropTable:
			found = append(found, taken(c.T.Name)...)
		case *atlas.ModifyTable:
			found = append(found, narrowed(c)...)
		}
	}
	return found
}

// narrowed returns the changes to a table that would break the last release.
func narrowed(m *atlas.ModifyTable) (found []string) {
	known := func(parts []*atlas.IndexPart) bool { // all columns existed before
		return !slices.ContainsFunc(parts, func(p *atlas.IndexPart) bool { return p.C != nil && added(m, p.C.Name) })
	}
	unique := func(p *atlas.IndexPart) bool { return p.C != nil && p.C.Name == "id" } // whatever stands beside it
	for _, c := range m.Changes {
		switch c := c.(type) {
		case *atlas.DropColumn:
			found = append(found, taken(m.T.Name+"."+c.C.Name)...)
		case *atlas.AddColumn:
			if !c.C.Type.Null && c.C.Default == nil {
				found = append(found, fmt.Sprintf("%s.%s takes no NULL and has no default", m.T.Name, c.C.Name))
			}
		case *atlas.ModifyColumn:
			if c.Change.Is(atlas.ChangeType) || (c.Change.Is(atlas.ChangeNull) && !c.To.Type.Null) {
				found = append(found, fmt.Sprintf("%s.%s changes its type or takes no NULL any more", m.T.Name, c.To.Name))
			}
		case *atlas.AddIndex:
			if c.I.Unique && known(c.I.Parts) && !slices.ContainsFunc(c.I.Parts, unique) {
				found = append(found, fmt.Sprintf("index %s of %s is unique", c.I.Name, m.T.Name))
			}
		case *atlas.AddForeignKey:
			if !slices.ContainsFunc(c.F.Columns, func(c *atlas.Column) bool { return added(m, c.Name) }) {
				found = append(found, fmt.Sprintf("foreign key %s of %s binds columns from before", c.F.Symbol, m.T.Name))
			}
		case *atlas.AddCheck:
			found = append(found, fmt.Sprintf("check %s of %s binds rows of the last release", c.C.Name, m.T.Name))
		}
	}
	return found
}

// added reports whether the change adds the column.
func added(m *atlas.ModifyTable, column string) bool {
	return slices.ContainsFunc(m.Changes, func(c atlas.Change) bool {
		add, ok := c.(*atlas.AddColumn)
		return ok && add.C.Name == column
	})
}

// taken returns the removal of a table or column as a finding, unless contracted lists it.
func taken(name string) []string {
	if contracted[name] != "" {
		return nil
	}
	return []string{name + " is dropped"}
}

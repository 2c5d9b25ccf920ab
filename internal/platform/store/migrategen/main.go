// Command migrategen writes the migrations that bring the committed schema to ent/schema, one file per dialect. With -check it
// writes nothing and fails if there is anything to write. On PostgreSQL it adds row-level security for each new table. Triggers
// and data moves are written by hand, in separate files. Developers and .ci run it; it never touches a database of the product.
//
// For PostgreSQL it needs an empty database that it may fill and clear: -postgres, or ATRIUM_TEST_POSTGRES_URL.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"atrium/internal/platform/store"
)

func main() {
	name := flag.String("name", "change", "what the migration does, for its file name")
	check := flag.Bool("check", false, "write nothing; fail when a migration is missing")
	pg := flag.String("postgres", os.Getenv("ATRIUM_TEST_POSTGRES_URL"), "URL of an empty PostgreSQL database")
	flag.Parse()
	if err := run(context.Background(), "internal/platform/store/migrations", *name, *check, *pg, dialect.SQLite, dialect.Postgres); err != nil {
		log.Fatal(err)
	}
}

// run generates the migrations of these dialects, whose folders are in root.
func run(ctx context.Context, root, name string, check bool, pg string, dialects ...string) error {
	if pg == "" {
		return errors.New("name an empty PostgreSQL database with -postgres")
	}
	for _, d := range dialects {
		if err := of(ctx, d, root, name, check, pg); err != nil {
			return err
		}
	}
	return nil
}

// of generates the migrations of one dialect.
func of(ctx context.Context, d, root, name string, check bool, pg string) (err error) {
	driver, source, folder := "sqlite", "file::memory:?_pragma=foreign_keys(1)", "sqlite"
	if d == dialect.Postgres {
		driver, source, folder = "pgx", pg, "postgres"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return fmt.Errorf("open the %s database: %w", d, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if d == dialect.SQLite {
		db.SetMaxOpenConns(1) // each connection would have a database of its own
	}
	return diff(ctx, d, filepath.Join(root, folder), db, name, check)
}

// diff replays the migrations of the dialect's folder on db and writes one for the difference to ent/schema.
func diff(ctx context.Context, d, folder string, db *sql.DB, name string, check bool) error {
	path := folder
	if check {
		tmp, err := os.MkdirTemp("", "migrations")
		if err != nil {
			return fmt.Errorf("make a scratch folder: %w", err)
		}
		defer os.RemoveAll(tmp) //nolint:errcheck // scratch
		if err := os.CopyFS(tmp, os.DirFS(path)); err != nil {
			return fmt.Errorf("copy migrations: %w", err)
		}
		path = tmp
	}
	before, err := filepath.Glob(path + "/*.sql")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	dir, err := migrate.NewLocalDir(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	sum, err := dir.Checksum() // include files written by hand
	if err != nil {
		return fmt.Errorf("sum up %s: %w", path, err)
	}
	if err := migrate.WriteSumFile(dir, sum); err != nil {
		return fmt.Errorf("sum up %s: %w", path, err)
	}
	made := map[string]bool{} // the new tables; true when they have a company_id
	m, err := schema.NewMigrate(entsql.OpenDB(d, db), schema.WithDir(dir), schema.WithMigrationMode(schema.ModeReplay), schema.WithFormatter(migrate.DefaultFormatter),
		schema.WithDiffHook(partitioned(d), newTables(made)))
	if err != nil {
		return fmt.Errorf("prepare %s: %w", folder, err)
	}
	tables, err := schema.CopyTables(store.Tables) // a diff writes into the tables that it is given
	if err != nil {
		return fmt.Errorf("copy the tables: %w", err)
	}
	if err := m.NamedDiff(ctx, name, tables...); err != nil {
		return fmt.Errorf("diff %s: %w", folder, err)
	}
	after, err := filepath.Glob(path + "/*.sql")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	if check && len(after) > len(before) {
		b, _ := os.ReadFile(after[len(after)-1])
		return fmt.Errorf("%s: ent/schema has changes that no migration makes:\n%s", folder, b)
	}
	if d == dialect.Postgres && len(made) > 0 {
		return secure(dir, after[len(after)-1], made)
	}
	return nil
}

// newTables records the tables that a diff adds.
func newTables(made map[string]bool) schema.DiffHook {
	return func(next schema.Differ) schema.Differ {
		return schema.DiffFunc(func(current, desired *atlas.Schema) ([]atlas.Change, error) {
			changes, err := next.Diff(current, desired)
			for _, c := range changes {
				if add, ok := c.(*atlas.AddTable); ok {
					_, made[add.T.Name] = add.T.Column("company_id")
				}
			}
			return changes, err
		})
	}
}

// secure appends the statements for row-level security of the new tables to the migration that creates them.
func secure(dir *migrate.LocalDir, file string, made map[string]bool) (err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the migration: %w", err)
	}
	for _, table := range slices.Sorted(maps.Keys(made)) {
		text = fmt.Appendf(text, "-- Put %q under row-level security\n%s", table, store.RowSecurity(table, made[table]))
	}
	if err := os.WriteFile(file, text, 0o644); err != nil { // a source file, with the same mode as the others
		return fmt.Errorf("write the migration: %w", err)
	}
	sum, err := dir.Checksum()
	if err == nil {
		err = migrate.WriteSumFile(dir, sum)
	}
	if err != nil {
		return fmt.Errorf("sum up %s: %w", dir.Path(), err)
	}
	return nil
}

// partitioned declares what Ent's tables cannot express: on PostgreSQL webhook_deliveries is partitioned by id. A difference in
// that is an error, since no statement turns an existing table into a partitioned one. The partitions themselves are created and
// dropped while the server runs; Atlas ignores them.
func partitioned(d string) schema.DiffHook {
	return func(next schema.Differ) schema.Differ {
		return schema.DiffFunc(func(current, desired *atlas.Schema) ([]atlas.Change, error) {
			if d == dialect.Postgres {
				t, ok := desired.Table("webhook_deliveries")
				if !ok {
					return nil, errors.New("ent/schema has no webhook_deliveries, which migrations partition")
				}
				id, _ := t.Column("id")
				t.AddAttrs(&postgres.Partition{T: postgres.PartitionTypeRange, Parts: []*postgres.PartitionPart{{C: id}}})
			}
			return next.Diff(current, desired)
		})
	}
}

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// Migrations holds the versioned migrations, one folder per dialect.
//
//go:embed migrations/sqlite/*.sql migrations/postgres/*.sql
var Migrations embed.FS

// ErrNewer is returned when the database has been migrated by a newer binary than this one.
var ErrNewer = errors.New("the database is newer than this binary: run the version that migrated it, or a later one")

// ErrOutdated is returned by CheckVersion when migrations are missing.
var ErrOutdated = errors.New("the database is older than this binary: run `atrium migrate`")

// migration is one file of the dialect's folder.
type migration struct {
	version string // the file's name up to the first underscore
	name    string
	sql     string
	sum     string
}

// migrationsFor returns the dialect's migrations in order.
func migrationsFor(name string) ([]migration, error) {
	dir := "migrations/" + map[string]string{dialect.SQLite: "sqlite", dialect.Postgres: "postgres"}[name]
	files, err := fs.Glob(Migrations, dir+"/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	slices.Sort(files)
	out := make([]migration, 0, len(files))
	for _, f := range files {
		b, err := Migrations.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		base := strings.TrimSuffix(f[strings.LastIndexByte(f, '/')+1:], ".sql")
		version, _, _ := strings.Cut(base, "_")
		sum := sha256.Sum256(b)
		out = append(out, migration{version: version, name: base, sql: string(b), sum: hex.EncodeToString(sum[:])})
	}
	return out, nil
}

const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version TEXT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)`

// pending returns the migrations that applied lacks, and refuses a database that this binary does not know.
func pending(known []migration, applied map[string]string) ([]migration, error) {
	var todo []migration
	seen := 0
	for _, m := range known {
		sum, done := applied[m.version]
		switch {
		case !done:
			todo = append(todo, m)
		case sum != m.sum:
			return nil, fmt.Errorf("migration %s was changed after it had been applied", m.name)
		default:
			seen++
		}
	}
	if seen < len(applied) {
		return nil, ErrNewer
	}
	return todo, nil
}

// Migrate brings the database to this binary's version, job tables included, under a lock that other processes
// wait for. Returns the names of the migrations that it applied, and ErrNewer for a database that is ahead.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	if s.dialect == dialect.Postgres {
		return migratePostgres(ctx, s.pool)
	}
	return migrateSQLite(ctx, s.path)
}

// migrateSQLite works on a connection of its own with foreign keys off, as table rebuilds need, and checks them all
// before it commits.
func migrateSQLite(ctx context.Context, path string) (names []string, err error) {
	known, err := migrationsFor(dialect.SQLite)
	if err != nil {
		return nil, err
	}
	db, err := OpenSQLiteFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil) // immediate: the lock
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it has nothing to say
	names, err = applySQLite(ctx, tx, known)
	if err != nil {
		return nil, err
	}
	m, err := rivermigrate.New(riversqlite.New(db), nil)
	if err != nil {
		return nil, fmt.Errorf("migrate the job tables: %w", err)
	}
	// The transaction is the lock that other processes wait for; it is PostgreSQL whose migrations cannot share one.
	if _, err := m.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil); err != nil { //nolint:staticcheck // deprecated for that reason
		return nil, fmt.Errorf("migrate the job tables: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return names, nil
}

func applySQLite(ctx context.Context, tx *sql.Tx, known []migration) ([]string, error) {
	if _, err := tx.ExecContext(ctx, migrationsTable); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	rows, err := tx.QueryContext(ctx, "SELECT version, checksum FROM schema_migrations")
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	applied, err := scanApplied(rows)
	if err != nil {
		return nil, err
	}
	todo, err := pending(known, applied)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range todo {
		if _, err := tx.ExecContext(ctx, m.sql); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.name, err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO schema_migrations VALUES (?, ?, ?, datetime('now'))", m.version, m.name, m.sum); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.name, err)
		}
		names = append(names, m.name)
	}
	bad, err := tx.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return nil, fmt.Errorf("check foreign keys: %w", err)
	}
	defer bad.Close() //nolint:errcheck // read to its end below
	if bad.Next() {
		return nil, errors.New("migrate: a foreign key would point nowhere; nothing was changed")
	}
	return names, bad.Err()
}

// scanApplied reads version and checksum rows and closes them.
func scanApplied(rows *sql.Rows) (map[string]string, error) {
	defer rows.Close() //nolint:errcheck // read to its end
	applied := map[string]string{}
	for rows.Next() {
		var version, sum string
		if err := rows.Scan(&version, &sum); err != nil {
			return nil, fmt.Errorf("read applied migrations: %w", err)
		}
		applied[version] = sum
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return applied, nil
}

// migrationLock is the key of PostgreSQL's advisory lock: "atrium" in ASCII.
const migrationLock = 0x61747269756d

func migratePostgres(ctx context.Context, pool *pgxpool.Pool) ([]string, error) {
	known, err := migrationsFor(dialect.Postgres)
	if err != nil {
		return nil, err
	}
	var names []string
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
			return fmt.Errorf("wait for the migration lock: %w", err)
		}
		defer func() {
			_, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrationLock))
		}()
		if names, err = applyPostgres(ctx, conn.Conn(), known); err != nil {
			return err
		}
		m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
		if err != nil {
			return fmt.Errorf("migrate the job tables: %w", err)
		}
		if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return fmt.Errorf("migrate the job tables: %w", err)
		}
		return nil
	})
	return names, err
}

func applyPostgres(ctx context.Context, conn *pgx.Conn, known []migration) ([]string, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after the commit it has nothing to say
	if _, err := tx.Exec(ctx, migrationsTable); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if _, err := tx.Exec(ctx, setCompany, everyCompany); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	applied, err := appliedPostgres(ctx, tx)
	if err != nil {
		return nil, err
	}
	todo, err := pending(known, applied)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range todo {
		if _, err := tx.Exec(ctx, m.sql); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.name, err)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO schema_migrations VALUES ($1, $2, $3, now()::text)", m.version, m.name, m.sum); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.name, err)
		}
		names = append(names, m.name)
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return names, nil
}

func appliedPostgres(ctx context.Context, tx pgx.Tx) (map[string]string, error) {
	rows, err := tx.Query(ctx, "SELECT version, checksum FROM schema_migrations")
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	applied := map[string]string{}
	var version, sum string
	_, err = pgx.ForEachRow(rows, []any{&version, &sum}, func() error {
		applied[version] = sum
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return applied, nil
}

// CheckVersion returns ErrNewer or ErrOutdated when the database is not at this binary's version.
func (s *Store) CheckVersion(ctx context.Context) error {
	known, err := migrationsFor(s.dialect)
	if err != nil {
		return err
	}
	applied := map[string]string{}
	if s.dialect == dialect.Postgres {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var exists bool
			if err := tx.QueryRow(ctx, "SELECT to_regclass('schema_migrations') IS NOT NULL").Scan(&exists); err != nil || !exists {
				return err
			}
			applied, err = appliedPostgres(ctx, tx)
			return err
		})
	} else {
		applied, err = appliedSQLite(ctx, s.path)
	}
	if err != nil {
		return err
	}
	todo, err := pending(known, applied)
	if err != nil {
		return err
	}
	if len(todo) > 0 {
		return ErrOutdated
	}
	return nil
}

func appliedSQLite(ctx context.Context, path string) (map[string]string, error) {
	db, err := OpenSQLiteFile(path)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // only read
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = 'schema_migrations'").Scan(&n); err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	if n == 0 {
		return map[string]string{}, nil
	}
	rows, err := db.QueryContext(ctx, "SELECT version, checksum FROM schema_migrations")
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return scanApplied(rows)
}

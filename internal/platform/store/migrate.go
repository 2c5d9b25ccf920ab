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
	"path"
	"slices"
	"strings"
	"time"

	"ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5/stdlib"
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

// migrationLock is the key of PostgreSQL's advisory lock: "atrium" in ASCII.
const migrationLock = 0x61747269756d

// A statement that waits for a table's lock blocks all that come after it. So it gives up before PostgreSQL looks for deadlocks
// (deadlock_timeout, 1 s), lets the nodes go on, and is tried again.
const (
	lockWait     = 200 * time.Millisecond // for one lock; the pause before the next try is as long at least
	lockPatience = time.Minute            // for all tries of one statement
)

// migrationSQL holds the migrator's statements for each database. begin runs before the transaction, end after it, and bind is
// the first statement inside it.
var migrationSQL = map[string]struct{ folder, exists, begin, bind, end string }{
	dialect.SQLite: {
		folder: "migrations/sqlite",
		exists: "SELECT count(*) FROM sqlite_master WHERE name = 'schema_migrations'",
		begin:  "PRAGMA foreign_keys = OFF", // for rebuilds of tables; the immediate transaction is the lock
		bind:   "SELECT 1",
		end:    "PRAGMA foreign_keys = ON",
	},
	dialect.Postgres: {
		folder: "migrations/postgres",
		exists: "SELECT count(to_regclass('schema_migrations'))",
		begin:  fmt.Sprintf("SELECT pg_advisory_lock(%d)", int64(migrationLock)),
		bind:   fmt.Sprintf("SELECT set_config('app.company_id', '%s', true)", allCompanies),
		end:    fmt.Sprintf("SELECT pg_advisory_unlock(%d)", int64(migrationLock)),
	},
}

// migration is one file of the dialect's folder.
type migration struct {
	version string // the file's name up to the first underscore
	name    string
	sql     string
	sum     string
}

// applied is the statement that notes that all of the file was applied.
func (m migration) applied() string {
	return fmt.Sprintf("INSERT INTO schema_migrations VALUES ('%s', '%s', '%s', CAST(CURRENT_TIMESTAMP AS TEXT))", m.version, m.name, m.sum)
}

// statements returns what a served database gets in a transaction each: the statements of a generated file, and a file that was
// written by hand, whose statements may need each other, as a whole.
func (m migration) statements() (all []string, err error) {
	if strings.HasSuffix(m.name, "_guards") {
		return []string{m.sql}, nil
	}
	parsed, err := migrate.Stmts(m.sql)
	if err != nil {
		return nil, fmt.Errorf("migration %s: %w", m.name, err)
	}
	for _, p := range parsed {
		all = append(all, p.Text)
	}
	return all, nil
}

// migrationsFor returns the dialect's migrations in order.
func migrationsFor(name string) ([]migration, error) {
	files, err := fs.Glob(Migrations, migrationSQL[name].folder+"/*.sql")
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
		base := strings.TrimSuffix(path.Base(f), ".sql")
		version, _, _ := strings.Cut(base, "_")
		sum := sha256.Sum256(b)
		out = append(out, migration{version: version, name: base, sql: string(b), sum: hex.EncodeToString(sum[:])})
	}
	return out, nil
}

// migrationDB opens the database for migrations. Closing it does not affect the store.
func (s *Store) migrationDB() (*sql.DB, error) {
	if s.dialect == dialect.Postgres {
		return stdlib.OpenDBFromPool(s.pool), nil
	}
	return OpenSQLiteFile(s.path)
}

// Migrate brings the database to this binary's version, job tables included, under a lock that other processes wait for. A new
// database and SQLite get all of the product's migrations in one transaction; a PostgreSQL database that nodes may be using gets
// them statement by statement (migrateServed). On PostgreSQL the job tables follow. Returns the names of the applied migrations,
// ErrNewer for a newer database, and an error if an applied migration file has been changed since.
func (s *Store) Migrate(ctx context.Context) (names []string, err error) {
	db, err := s.migrationDB()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, migrationSQL[s.dialect].begin); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer func() {
		if _, eerr := conn.ExecContext(context.WithoutCancel(ctx), migrationSQL[s.dialect].end); eerr != nil {
			err = errors.Join(err, fmt.Errorf("migrate: %w", eerr))
		}
	}()
	var tables int
	if err := conn.QueryRowContext(ctx, migrationSQL[s.dialect].exists).Scan(&tables); err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	if s.dialect == dialect.SQLite || tables == 0 {
		names, err = s.migrateAtOnce(ctx, db, conn)
	} else {
		names, err = s.migrateServed(ctx, conn)
	}
	if err != nil || s.dialect == dialect.SQLite {
		return names, err
	}
	m, err := rivermigrate.New(riverpgxv5.New(s.pool), nil)
	if err == nil {
		_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("migrate the job tables: %w", err)
	}
	return names, nil
}

// migrateAtOnce applies the missing migrations, on SQLite River's with them, all in one transaction.
func (s *Store) migrateAtOnce(ctx context.Context, db *sql.DB, conn *sql.Conn) (names []string, err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it has nothing to say
	if names, err = s.apply(ctx, tx); err != nil {
		return nil, err
	}
	if s.dialect == dialect.SQLite {
		m, err := rivermigrate.New(riversqlite.New(db), nil)
		if err == nil {
			// The transaction is the lock that other processes wait for. River's migrations fit into one transaction on SQLite,
			// not on PostgreSQL.
			_, err = m.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil) //nolint:staticcheck // deprecated for that reason
		}
		if err != nil {
			return nil, fmt.Errorf("migrate the job tables: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return names, nil
}

// migrateServed applies the missing migrations while nodes of the last release work. They take locks in another order than a file
// does, and one that locks two busy tables never gets the second. So each statement has a transaction of its own, which also
// notes how far its file has come: after a failure the next call goes on there.
func (s *Store) migrateServed(ctx context.Context, conn *sql.Conn) (names []string, err error) {
	todo, err := s.pending(ctx, conn)
	if err != nil || len(todo) == 0 {
		return nil, err
	}
	const begun = "CREATE TABLE IF NOT EXISTS schema_migrations_begun (version TEXT PRIMARY KEY, checksum TEXT NOT NULL, statements INT NOT NULL)"
	if _, err := conn.ExecContext(ctx, begun); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	for _, m := range todo {
		statements, err := m.statements()
		if err != nil {
			return nil, err
		}
		done, sum := 0, m.sum
		err = conn.QueryRowContext(ctx, "SELECT statements, checksum FROM schema_migrations_begun WHERE version = $1", m.version).Scan(&done, &sum)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("read applied migrations: %w", err)
		}
		if sum != m.sum || done >= len(statements) {
			return nil, fmt.Errorf("migration %s was changed after it had been begun", m.name)
		}
		for i := done; i < len(statements); i++ {
			note := fmt.Sprintf(`INSERT INTO schema_migrations_begun VALUES ('%s', '%s', %d) ON CONFLICT (version) DO UPDATE SET statements = excluded.statements`, m.version, m.sum, i+1)
			if i == len(statements)-1 {
				note = fmt.Sprintf("DELETE FROM schema_migrations_begun WHERE version = '%s'; %s", m.version, m.applied())
			}
			if err := applyServed(ctx, conn, statements[i], note); err != nil {
				return nil, fmt.Errorf("migration %s: %w", m.name, err)
			}
		}
		names = append(names, m.name)
	}
	return names, nil
}

// applyServed runs a statement and the note of it in one transaction, again and again while nodes hold what it needs.
func applyServed(ctx context.Context, conn *sql.Conn, statement, note string) error {
	wait := fmt.Sprintf("SET LOCAL lock_timeout = '%dms'", lockWait.Milliseconds())
	once := func() error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after the commit it has nothing to say
		for _, q := range []string{migrationSQL[dialect.Postgres].bind, wait, statement, note} {
			if _, err := tx.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	for start := time.Now(); ; {
		err := once()
		if !IsLockTimeout(err) && !isRetryable(err) || time.Since(start) > lockPatience || Pause(ctx, lockWait) != nil {
			return err
		}
	}
}

// apply applies the missing migrations in tx and returns their names.
func (s *Store) apply(ctx context.Context, tx *sql.Tx) (names []string, err error) {
	const table = `CREATE TABLE IF NOT EXISTS schema_migrations (
		version TEXT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)`
	for _, statement := range []string{migrationSQL[s.dialect].bind, table} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("migrate: %w", err)
		}
	}
	todo, err := s.pending(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, m := range todo {
		for _, statement := range []string{m.sql, m.applied()} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return nil, fmt.Errorf("migration %s: %w", m.name, err)
			}
		}
		names = append(names, m.name)
	}
	if s.dialect == dialect.SQLite {
		var table string
		err := tx.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check`).Scan(&table)
		if err == nil {
			return nil, fmt.Errorf("migrate: a foreign key of %s would point nowhere; nothing was changed", table)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("check foreign keys: %w", err)
		}
	}
	return names, nil
}

// querier is a *sql.DB or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// pending returns the missing migrations, and an error if the database has one that this binary does not know or whose file
// changed.
func (s *Store) pending(ctx context.Context, db querier) (todo []migration, err error) {
	known, err := migrationsFor(s.dialect)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT version, checksum FROM schema_migrations")
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
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
	for _, m := range known {
		sum, done := applied[m.version]
		if !done {
			todo = append(todo, m)
		} else if sum != m.sum {
			return nil, fmt.Errorf("migration %s was changed after it had been applied", m.name)
		}
	}
	if len(known)-len(todo) < len(applied) {
		return nil, ErrNewer
	}
	return todo, nil
}

// CheckVersion returns ErrNewer or ErrOutdated when the database is not at this binary's version.
func (s *Store) CheckVersion(ctx context.Context) (err error) {
	db, err := s.migrationDB()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables int
	if err := db.QueryRowContext(ctx, migrationSQL[s.dialect].exists).Scan(&tables); err != nil {
		return fmt.Errorf("read applied migrations: %w", err)
	}
	if tables == 0 {
		return ErrOutdated
	}
	todo, err := s.pending(ctx, db)
	if err == nil && len(todo) > 0 {
		err = ErrOutdated
	}
	return err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"atrium/ent"
	_ "atrium/ent/runtime" // registers the schema's hooks and guards
	"atrium/ent/schema"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
)

// ErrBusy is returned by Write when the queue for the database is full.
var ErrBusy = errors.New("store: too many writes are waiting")

// Options say which database to open.
type Options struct {
	DataDir     string // holds atrium.db when DatabaseURL is empty
	DatabaseURL string // postgres://…, or empty for SQLite
	ReadURL     string // a streaming replica of that PostgreSQL, for Read; empty for none
	MaxConns    int    // PostgreSQL connections; 0 means 16

	// WriteTime limits the duration of all statements of one transaction on PostgreSQL; 0 means 30 s.
	WriteTime time.Duration

	// LockTime limits how long a write waits for another process that writes to the SQLite file; 0 means 10 s.
	LockTime time.Duration
	Clock    *clock.Clock
}

// Store is an open database. Safe for concurrent use.
type Store struct {
	dialect string
	clock   *clock.Clock
	reader  *ent.Client
	begin   beginner
	watch   *watch
	commits listeners
	closers []func() error

	pool      *pgxpool.Pool // PostgreSQL
	heartbeat *heartbeat    // PostgreSQL
	replica   *replica      // PostgreSQL with a replica for reads
	writeDB   *sql.DB       // SQLite: the writer's connection
	turn      sync.Mutex    // SQLite: held by the connection of this process that writes
	path      string        // SQLite: the file

	lockTime time.Duration // SQLite: how long to wait for another process's lock
}

// beginner runs functions in write transactions.
type beginner interface {
	write(ctx context.Context, fn func(context.Context, *Tx) error) error
}

// Tx is one write transaction. Do not use it after the function that received it has returned.
type Tx struct {
	*ent.Client
	dialect string
	sqlTx   *sql.Tx // SQLite
	pgxTx   pgx.Tx  // PostgreSQL
	store   *Store
	before  []func(context.Context) error // called before the commit
	after   []func()                      // called after the commit

	gathered map[any]any // see Gather
}

// Dialect returns dialect.SQLite or dialect.Postgres.
func (tx *Tx) Dialect() string { return tx.dialect }

// SQL returns SQLite's transaction, for inserting jobs; nil on PostgreSQL.
func (tx *Tx) SQL() *sql.Tx { return tx.sqlTx }

// PGX returns PostgreSQL's transaction, for inserting jobs; nil on SQLite.
func (tx *Tx) PGX() pgx.Tx { return tx.pgxTx }

// AsSystem runs fn in the same transaction with the tenancy guards disabled: Ent's by the context that fn gets, PostgreSQL's
// row-level security by the transaction's setting, which is restored afterwards. reason says why, as for principal.System.
func (tx *Tx) AsSystem(ctx context.Context, reason string, fn func(context.Context) error) error {
	if err := tx.bind(ctx, allCompanies); err != nil {
		return err
	}
	if err := fn(principal.System(ctx, reason)); err != nil {
		return err // the rollback restores the setting
	}
	return tx.bind(ctx, companyOf(ctx))
}

// bind sets the company for row-level security; it does nothing on SQLite.
func (tx *Tx) bind(ctx context.Context, company string) error {
	if tx.pgxTx == nil {
		return nil
	}
	if _, err := tx.pgxTx.Exec(ctx, setCompany, company); err != nil {
		return fmt.Errorf("bind the transaction's company: %w", err)
	}
	return nil
}

// Open opens the database that o describes. It does not migrate it.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = &clock.Clock{}
	}
	switch {
	case o.ReadURL != "" && o.DatabaseURL == "":
		return nil, errors.New("a read URL requires a database URL: SQLite has no replicas")
	case o.DatabaseURL == "":
		return openSQLite(ctx, filepath.Join(o.DataDir, "atrium.db"), o)
	case strings.HasPrefix(o.DatabaseURL, "postgres://"), strings.HasPrefix(o.DatabaseURL, "postgresql://"):
		return openPostgres(ctx, o)
	default:
		return nil, errors.New("the database URL must start with postgres:// (leave it out for SQLite in the data folder)")
	}
}

// Dialect returns dialect.SQLite or dialect.Postgres.
func (s *Store) Dialect() string { return s.dialect }

// Clock returns the product's time.
func (s *Store) Clock() *clock.Clock { return s.clock }

// Reader returns the client for reads outside of a transaction. It cannot write.
func (s *Store) Reader() *ent.Client { return s.reader }

// Pool returns PostgreSQL's pool for writes; nil on SQLite.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Path returns the path of SQLite's file; empty on PostgreSQL.
func (s *Store) Path() string { return s.path }

// Write runs fn in one transaction and commits it. fn must only touch the database: it may run again after a serialization
// failure, and on SQLite other writers wait for it. Returns fn's error, *Violation if a constraint was violated, or ErrBusy. The
// caller's context limits the wait for the transaction, not the statements inside it.
func (s *Store) Write(ctx context.Context, fn func(context.Context, *Tx) error) error {
	ctx = schema.RememberLoaded(clock.With(ctx, s.clock))
	err := s.begin.write(ctx, func(ctx context.Context, tx *Tx) error {
		tx.store = s
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return tx.runBeforeCommit(ctx)
	})
	if err != nil {
		return AsViolation(err)
	}
	s.committed()
	return nil
}

// detachedTime limits a WriteDetached, the wait for the transaction included.
const detachedTime = 10 * time.Second

// WriteDetached is Write for what must be stored although the caller leaves or the server stops: it goes on when ctx ends, and
// limits itself to ten seconds.
func (s *Store) WriteDetached(ctx context.Context, fn func(context.Context, *Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTime)
	defer cancel()
	return s.Write(ctx, fn)
}

// Ping returns an error if the database does not answer, or while calls are refused because it did not.
func (s *Store) Ping(ctx context.Context) error {
	if s.dialect == dialect.Postgres {
		ctx, cancel := s.heartbeat.bound(ctx)
		defer cancel()
		if err := s.pool.Ping(ctx); err != nil {
			return fmt.Errorf("ping postgres: %w", wrapNoAnswer(ctx, err))
		}
		return nil
	}
	db, ok := s.begin.(*sqliteWriter)
	if !ok {
		return errors.New("store: no writer")
	}
	return db.ping(ctx)
}

// Close stops the writers and closes the connections in reverse order of opening.
func (s *Store) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

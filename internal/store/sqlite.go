package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"entgo.io/ent/dialect"
	"modernc.org/sqlite" // the driver "sqlite", too

	"atrium/ent"
)

// readOnly is the pragma of connections that do not write.
const readOnly = "query_only(1)"

// sqliteDSN returns the connection string for the file, with these pragmas besides. Writers begin immediately, so that two of them
// never deadlock on an upgrade; commits are durable (synchronous=FULL), which group commit pays for. With recursive_triggers
// a REPLACE fires the delete triggers of the row that it takes away: the audit log's refuse it. With secure_delete what is
// overwritten or deleted is zeroed in the file, so that an erasure need not rewrite it all.
func sqliteDSN(path string, pragmas ...string) string {
	q := url.Values{}
	q.Set("_txlock", "immediate")
	q.Set("_time_format", "sqlite")
	q.Set("_timezone", "UTC")
	q["_pragma"] = append([]string{
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "recursive_triggers(1)", "secure_delete(1)", "cache_size(-8000)", "temp_store(MEMORY)",
	}, pragmas...)
	return "file:" + path + "?" + q.Encode()
}

// SQLite looks at a statement's context until its first row. What may take long between two rows names its deadline in the
// statement: atrium_in_time(nanoseconds since 1970) is 1 until then, and an error afterwards.
func init() {
	sqlite.MustRegisterScalarFunction("atrium_in_time", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		if until, ok := args[0].(int64); !ok || time.Now().UnixNano() > until {
			return nil, context.DeadlineExceeded
		}
		return int64(1), nil
	})
}

// OpenSQLiteFile opens the file for one connection, for migrations and jobs.
func OpenSQLiteFile(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", sqliteDSN(path))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func openSQLite(ctx context.Context, path string, o Options) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	s := &Store{dialect: dialect.SQLite, clock: o.Clock, path: path}
	fail := func(err error) (*Store, error) { return nil, errors.Join(err, s.Close()) }

	var err error
	if s.writeDB, err = OpenSQLiteFile(path); err != nil {
		return fail(err)
	}
	s.closers = append(s.closers, s.writeDB.Close)
	w, err := newSQLiteWriter(ctx, s.writeDB, &s.turn)
	if err != nil {
		return fail(err)
	}
	s.begin = w
	s.closers = append(s.closers, w.close)

	readDB, err := sql.Open("sqlite", sqliteDSN(path, readOnly))
	if err != nil {
		return fail(fmt.Errorf("open the read pool: %w", err))
	}
	n := max(4, runtime.GOMAXPROCS(0)*2)
	readDB.SetMaxOpenConns(n)
	readDB.SetMaxIdleConns(n)
	s.closers = append(s.closers, readDB.Close)
	cache := newStmtCache(readDB)
	s.closers = append(s.closers, cache.close)
	s.reader = ent.NewClient(ent.Driver(sqliteReader{cache}))

	s.watch = newWatch(&sqliteSignal{db: readDB})
	s.closers = append(s.closers, s.watch.close)
	return s, nil
}

// EmptyLog moves what SQLite's write-ahead log holds into the file and empties it, so that nothing is left of rows as they were.
// It waits for readers that began before. PostgreSQL's log is the operator's.
func (s *Store) EmptyLog(ctx context.Context) error {
	if s.dialect != dialect.SQLite {
		return nil
	}
	db, err := OpenSQLiteFile(s.path)
	if err != nil {
		return err
	}
	defer db.Close()                                                            //nolint:errcheck // nothing was written
	if _, err := db.ExecContext(ctx, "PRAGMA busy_timeout = 500"); err != nil { // writers wait meanwhile
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	for range emptyTries {
		var busy, frames, moved int
		if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
			return fmt.Errorf("empty the write-ahead log: %w", err)
		}
		if busy == 0 {
			return nil
		}
		select {
		case <-time.After(emptyPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("empty the write-ahead log: somebody reads all the time")
}

const (
	emptyTries = 40
	emptyPause = 250 * time.Millisecond
)

// errReadOnly is what a write through Reader gets; the pool's connections refuse it as well.
var errReadOnly = errors.New("store: the reader cannot write")

// sqliteReader is the Ent driver of the read pool.
type sqliteReader struct{ cache *stmtCache }

func (d sqliteReader) Exec(context.Context, string, any, any) error { return errReadOnly }
func (d sqliteReader) Query(ctx context.Context, q string, args, v any) error {
	return d.cache.query(ctx, q, args, v)
}
func (d sqliteReader) Tx(context.Context) (dialect.Tx, error) { return nil, errReadOnly }
func (d sqliteReader) Close() error                           { return nil }
func (d sqliteReader) Dialect() string                        { return dialect.SQLite }

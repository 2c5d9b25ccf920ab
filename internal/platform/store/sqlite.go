package store

import (
	"cmp"
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
	entsql "entgo.io/ent/dialect/sql"
	"modernc.org/sqlite" // also registers the driver "sqlite"

	"atrium/ent"
)

// lockTime is how long SQLite waits for another process's lock, unless Options.LockTime is set.
const lockTime = 10 * time.Second

// readOnly is the pragma of read connections.
const readOnly = "query_only(1)"

// sqliteDSN returns the connection string for the file, with the time to wait for a lock and additional pragmas. Transactions begin immediately, so that two of
// them never deadlock when a read lock is upgraded. Commits are durable (synchronous=FULL); group commit makes that affordable.
// With recursive_triggers a REPLACE fires the delete triggers of the row that it replaces, so the audit log's triggers can refuse
// it. With secure_delete, overwritten and deleted data is zeroed in the file at once (Scrub is for the rest).
func sqliteDSN(path string, wait time.Duration, pragmas ...string) string {
	q := url.Values{}
	q.Set("_txlock", "immediate")
	q.Set("_time_format", "sqlite")
	q.Set("_timezone", "UTC")
	q["_pragma"] = append([]string{
		fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "recursive_triggers(1)", "secure_delete(1)", "cache_size(-8000)", "temp_store(MEMORY)",
	}, pragmas...)
	return "file:" + path + "?" + q.Encode()
}

// SQLite's driver checks a statement's context only until the first row. A statement that may take long between two rows contains
// its deadline: atrium_in_time(nanoseconds since 1970) is 1 until then, and an error afterwards.
func init() {
	sqlite.MustRegisterScalarFunction("atrium_in_time", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		if until, ok := args[0].(int64); !ok || time.Now().UnixNano() > until {
			return nil, context.DeadlineExceeded
		}
		return int64(1), nil
	})
}

// OpenSQLiteFile opens the file with a single connection, for the writer and for migrations.
func OpenSQLiteFile(path string) (*sql.DB, error) { return openSQLiteFile(path, lockTime) }

func openSQLiteFile(path string, wait time.Duration) (*sql.DB, error) {
	db, err := sql.Open("sqlite", sqliteDSN(path, wait))
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
	s := &Store{dialect: dialect.SQLite, clock: o.Clock, path: path, lockTime: cmp.Or(o.LockTime, lockTime)}
	fail := func(err error) (*Store, error) { return nil, errors.Join(err, s.Close()) }

	plain, err := openSQLiteFile(path, s.lockTime) // for its driver; it has no connection yet
	if err != nil {
		return fail(err)
	}
	if err := plain.Close(); err != nil {
		return fail(err)
	}
	s.writeDB = sql.OpenDB(&turnConnector{plain.Driver(), sqliteDSN(path, s.lockTime), noTurn{}})
	s.writeDB.SetMaxOpenConns(1)
	s.closers = append(s.closers, s.writeDB.Close)
	w, err := newSQLiteWriter(ctx, s.writeDB, &s.turn)
	if err != nil {
		return fail(err)
	}
	s.begin = w
	s.closers = append(s.closers, w.close)

	readDB, err := sql.Open("sqlite", sqliteDSN(path, lockTime, readOnly))
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

// errReadOnly is the error of a write through Reader. The pool's connections refuse writes as well.
var errReadOnly = errors.New("store: the reader cannot write")

// sqliteReader is the Ent driver of the read pool.
type sqliteReader struct{ cache *stmtCache }

func (d sqliteReader) Exec(context.Context, string, any, any) error { return errReadOnly }
func (d sqliteReader) Query(ctx context.Context, q string, args, v any) error {
	if err := d.cache.query(ctx, q, args, v); err != nil {
		return err
	}
	if out, ok := v.(*entsql.Rows); ok {
		out.ColumnScanner = counted(ctx, out.ColumnScanner)
	}
	return nil
}
func (d sqliteReader) Tx(context.Context) (dialect.Tx, error) { return nil, errReadOnly }
func (d sqliteReader) Close() error                           { return nil }
func (d sqliteReader) Dialect() string                        { return dialect.SQLite }

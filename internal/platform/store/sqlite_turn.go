package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
)

// Package jobs writes to the file on a connection of its own. When the file is locked, SQLite retries after pauses of up to 100
// ms, so a writer that is always busy would win each time. Within this process the two therefore share a mutex and write in the
// order in which they arrive: with it, a first task beside a busy neighbour's executions begins 3 times as soon (execution's
// BenchmarkNeighbour, 2026-11, two cores: 65 to 75 ms instead of 200 to 270, all else equal). Other processes wait as SQLite
// makes them.

// OpenForJobs opens the store's SQLite file with a single connection that takes turns with the store's writer. Its commits do not
// wait for the disk, so a power loss may undo them.
func (s *Store) OpenForJobs() *sql.DB {
	db := sql.OpenDB(&turnConnector{s.writeDB.Driver(), sqliteDSN(s.path, s.lockTime, "synchronous(NORMAL)"), &s.turn})
	db.SetMaxOpenConns(1)
	return db
}

// noTurn is the lock of the writer's own connection, whose user holds the turn.
type noTurn struct{}

func (noTurn) Lock()   {}
func (noTurn) Unlock() {}

type turnConnector struct {
	driver driver.Driver
	dsn    string
	turn   sync.Locker
}

func (c *turnConnector) Driver() driver.Driver { return c.driver }

func (c *turnConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, fmt.Errorf("open the database for jobs: %w", err)
	}
	inner, ok := conn.(sqliteConn)
	if !ok {
		return nil, fmt.Errorf("store: the driver's connection is a %T", conn)
	}
	return &turnConn{sqliteConn: inner, turn: c.turn, idle: map[string]turnStmt{}}, nil
}

// sqliteConn lists the interfaces of the driver's connection that database/sql uses.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// turnConn holds the lock during each transaction, and during each statement outside of one. It keeps statements prepared: River asks
// the same few many times a second, and inserts jobs through the writer's connection by the same few. With that, and polls once a second where nobody waits for a short snooze, an idle server takes 5 %
// of a busy core instead of 12 (side by side, 2026-11).
type turnConn struct {
	sqliteConn
	turn sync.Locker
	inTx bool
	idle map[string]turnStmt // prepared statements that are not running, by their text; at most maxStatements
}

// turnStmt lists the interfaces of the driver's statement that turnConn uses.
type turnStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// prepared returns a statement that is not running, and a function that gives it back after use.
func (c *turnConn) prepared(ctx context.Context, query string) (st turnStmt, back func() error, err error) {
	st, ok := c.idle[query]
	delete(c.idle, query)
	if !ok {
		made, err := c.PrepareContext(ctx, query)
		if err != nil {
			return nil, nil, err
		}
		if st, ok = made.(turnStmt); !ok {
			return nil, nil, errors.Join(fmt.Errorf("store: the driver's statement is a %T", made), made.Close())
		}
	}
	return st, func() error {
		if _, other := c.idle[query]; other || len(c.idle) >= maxStatements {
			return st.Close()
		}
		c.idle[query] = st
		return nil
	}, nil
}

// Close closes the connection with its statements.
func (c *turnConn) Close() error {
	var errs []error
	for _, st := range c.idle {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

func (c *turnConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.turn.Lock()
	tx, err := c.sqliteConn.BeginTx(ctx, o)
	if err != nil {
		c.turn.Unlock()
		return nil, err
	}
	c.inTx = true
	return &turnTx{tx, c}, nil
}

func (c *turnConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (res driver.Result, err error) {
	if !c.inTx {
		c.turn.Lock()
		defer c.turn.Unlock()
	}
	st, back, err := c.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, back()) }()
	return st.ExecContext(ctx, args)
}

func (c *turnConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	unlock := func() {}
	if !c.inTx {
		c.turn.Lock()
		unlock = c.turn.Unlock
	}
	st, back, err := c.prepared(ctx, query)
	if err != nil {
		unlock()
		return nil, err
	}
	rows, err := st.QueryContext(ctx, args)
	if err != nil {
		err = errors.Join(err, back())
		unlock()
		return nil, err
	}
	return &turnRows{Rows: rows, end: sync.OnceValue(func() error { defer unlock(); return back() })}, nil
}

type turnTx struct {
	driver.Tx
	conn *turnConn
}

func (t *turnTx) Commit() error   { defer t.end(); return t.Tx.Commit() }
func (t *turnTx) Rollback() error { defer t.end(); return t.Tx.Rollback() }

func (t *turnTx) end() {
	t.conn.inTx = false
	t.conn.turn.Unlock()
}

type turnRows struct {
	driver.Rows
	end func() error
}

func (r *turnRows) Close() error { return errors.Join(r.Rows.Close(), r.end()) }

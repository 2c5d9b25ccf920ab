package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
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

type turnConnector struct {
	driver driver.Driver
	dsn    string
	turn   *sync.Mutex
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
	return &turnConn{sqliteConn: inner, turn: c.turn}, nil
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

// turnConn holds the mutex during each transaction, and during each statement outside of one.
type turnConn struct {
	sqliteConn
	turn *sync.Mutex
	inTx bool
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

func (c *turnConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !c.inTx {
		c.turn.Lock()
		defer c.turn.Unlock()
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c *turnConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.inTx {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	c.turn.Lock()
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	if err != nil {
		c.turn.Unlock()
		return nil, err
	}
	return &turnRows{Rows: rows, end: sync.OnceFunc(c.turn.Unlock)}, nil
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
	end func()
}

func (r *turnRows) Close() error { defer r.end(); return r.Rows.Close() }

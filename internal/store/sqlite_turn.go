package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync"
)

// A connection of package jobs writes to the file as well. SQLite has it look again after pauses of up to 100 ms where it finds the
// file taken, so that a writer that is busy all the time gets it first each time. In this process they take turns, in the order in
// which they come: a first task beside a busy neighbour's executions comes 3 times as soon (execution's BenchmarkNeighbour, 2026-11,
// two cores: 200 to 270 ms in place of 65 to 75, with all else alike). Other processes wait as SQLite has them.

// OpenForJobs opens the SQLite file of the store for one connection that takes turns with the store's writer. A machine that
// loses power may forget what it has committed: nothing waits for the disk.
func (s *Store) OpenForJobs() *sql.DB {
	db := sql.OpenDB(&turnConnector{s.writeDB.Driver(), sqliteDSN(s.path, "synchronous(NORMAL)"), &s.turn})
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

// sqliteConn is what database/sql uses of the driver's connection.
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

// turnConn has its turn for each transaction, and for each statement outside of one.
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

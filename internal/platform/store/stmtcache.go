package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	entsql "entgo.io/ent/dialect/sql"
)

// maxStatements limits the prepared statements of one cache. Further queries run unprepared.
const maxStatements = 512

// preparer is implemented by *sql.DB and *sql.Conn.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// stmtCache runs Ent's statements as prepared statements. Otherwise SQLite's driver parses a query each time.
type stmtCache struct {
	on preparer

	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

func newStmtCache(on preparer) *stmtCache {
	return &stmtCache{on: on, stmts: make(map[string]*sql.Stmt)}
}

// prepared returns the statement for query; nil when the cache is full.
func (c *stmtCache) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	c.mu.RLock()
	st, n := c.stmts[query], len(c.stmts)
	c.mu.RUnlock()
	if st != nil || n >= maxStatements {
		return st, nil
	}
	st, err := c.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.stmts[query]; old != nil {
		return old, errors.Join(st.Close())
	}
	c.stmts[query] = st
	return st, nil
}

// exec implements Exec of dialect.Driver.
func (c *stmtCache) exec(ctx context.Context, query string, args, v any) error {
	argv, ok := args.([]any)
	if !ok {
		return fmt.Errorf("store: invalid type %T for args", args)
	}
	st, err := c.prepared(ctx, query)
	if err != nil {
		return err
	}
	var res sql.Result
	if st != nil {
		res, err = st.ExecContext(ctx, argv...)
	} else {
		res, err = c.on.ExecContext(ctx, query, argv...)
	}
	if err != nil {
		return err
	}
	if out, wanted := v.(*sql.Result); wanted {
		*out = res
	}
	return nil
}

// query implements Query of dialect.Driver.
func (c *stmtCache) query(ctx context.Context, query string, args, v any) error {
	argv, out, err := queryArgs(args, v)
	if err != nil {
		return err
	}
	st, err := c.prepared(ctx, query)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	if st != nil {
		rows, err = st.QueryContext(ctx, argv...)
	} else {
		rows, err = c.on.QueryContext(ctx, query, argv...)
	}
	if err != nil {
		return err
	}
	*out = entsql.Rows{ColumnScanner: rows}
	return nil
}

// close closes every prepared statement.
func (c *stmtCache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for q, st := range c.stmts {
		errs = append(errs, st.Close())
		delete(c.stmts, q)
	}
	return errors.Join(errs...)
}

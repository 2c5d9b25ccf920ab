package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"atrium/ent"
)

const (
	maxTries        = 4                     // tries of a transaction after a serialization failure or deadlock
	retryPause      = 20 * time.Millisecond // multiplied by the number of tries so far, plus up to as much again at random
	rollbackTimeout = 5 * time.Second       // for a ROLLBACK after the caller's context has ended
	maxWriteTime    = 30 * time.Second      // for all statements of one transaction, unless Options.WriteTime is set
)

// pgWriter runs write transactions on the pool.
type pgWriter struct {
	pool      *pgxpool.Pool
	heartbeat *heartbeat
	limit     time.Duration // for all statements of one transaction
}

// write runs fn, and repeats it after a serialization failure or a deadlock.
func (w pgWriter) write(ctx context.Context, fn func(context.Context, *Tx) error) error {
	for try := 1; ; try++ {
		err := w.once(ctx, fn)
		if err == nil || try == maxTries || !isRetryable(err) {
			return err
		}
		// Without a pause the transaction that lost would take its first lock again before the one that won has taken its second.
		if Pause(ctx, time.Duration(try)*retryPause) != nil {
			return err
		}
	}
}

// Pause waits between two tries: at least d, and up to as much again at random, so that those who failed together do not meet
// again. Returns the context's error if that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d + rand.N(d)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// IsLockTimeout reports whether a statement gave up because it waited for a lock longer than lock_timeout.
func IsLockTimeout(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgErr.Code == "55P03"
}

// isRetryable reports whether err is a serialization failure or a deadlock, after which a retry may succeed.
func isRetryable(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pgErr.Code == "40001" || pgErr.Code == "40P01")
}

func (w pgWriter) once(ctx context.Context, fn func(context.Context, *Tx) error) (err error) {
	actx, cancel := w.heartbeat.bound(ctx)
	conn, err := w.pool.Acquire(actx)
	err = wrapNoAnswer(actx, err)
	cancel()
	if err != nil {
		return fmt.Errorf("acquire a connection: %w", err)
	}
	defer conn.Release()
	// From here on the caller's context must not cancel the transaction: the outcome of a commit under way would be unknown.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), w.limit)
	defer cancel()
	ctx, end := w.heartbeat.bound(ctx)
	defer end()
	defer func() { err = wrapNoAnswer(ctx, err) }()
	p := &pipeline{conn: conn.Conn(), queued: &pgx.Batch{}}
	p.queued.Queue("BEGIN")
	p.queued.Queue(setCompany, companyOf(ctx))
	committed := false
	defer func() {
		if !committed && p.sent {
			rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
			defer cancel()
			if _, rerr := p.conn.Exec(rctx, "ROLLBACK"); rerr != nil {
				err = errors.Join(err, fmt.Errorf("roll back: %w", rerr))
				_ = p.conn.Close(rctx) // never return a connection to the pool inside a transaction
			}
		}
	}()
	tx := &Tx{Client: ent.NewClient(ent.Driver(pgTxDriver{p})), dialect: dialect.Postgres, pgxTx: pgxTx{p}}
	if err := fn(ctx, tx); err != nil {
		return err
	}
	p.queued.Queue("COMMIT")
	tag, err := p.exec(ctx)
	if err != nil {
		return err
	}
	if tag.String() != "COMMIT" {
		return errors.New("store: the transaction had failed before its commit")
	}
	committed = true
	w.heartbeat.recordResponse()
	tx.runAfterCommit()
	return nil
}

// pipeline queues statements whose results nobody waits for and sends them with the next one whose result is needed.
type pipeline struct {
	conn   *pgx.Conn
	queued *pgx.Batch
	sent   bool // BEGIN has been sent
}

// send sends the queued statements and returns their results. Those of all but the last are already read and checked.
func (p *pipeline) send(ctx context.Context) (pgx.BatchResults, error) {
	batch := p.queued
	p.queued, p.sent = &pgx.Batch{}, true
	br := p.conn.SendBatch(ctx, batch)
	for range batch.Len() - 1 {
		if _, err := br.Exec(); err != nil {
			_ = br.Close() // repeats the batch's error
			return nil, err
		}
	}
	return br, nil
}

// flush sends the queued statements, if any.
func (p *pipeline) flush(ctx context.Context) error {
	if p.queued.Len() == 0 {
		return nil
	}
	_, err := p.exec(ctx)
	return err
}

// Flush makes the database execute all statements of the transaction so far. On PostgreSQL, statements whose results nobody reads
// otherwise wait for the next one that is read, or for the commit. Returns *Violation like Write.
func (tx *Tx) Flush(ctx context.Context) error {
	t, ok := tx.pgxTx.(pgxTx)
	if !ok {
		return nil
	}
	if err := t.p.flush(ctx); err != nil {
		return AsViolation(fmt.Errorf("send the statements so far: %w", err))
	}
	return nil
}

// exec sends the queued statements and returns the last one's command tag.
func (p *pipeline) exec(ctx context.Context) (pgconn.CommandTag, error) {
	br, err := p.send(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := br.Exec()
	if cerr := br.Close(); err == nil {
		err = cerr
	}
	return tag, err
}

// query sends a statement with those that are queued and returns its rows, and the function that ends the batch after them.
func (p *pipeline) query(ctx context.Context, query string, args []any) (rows pgx.Rows, end func() error, err error) {
	p.queued.Queue(query, args...)
	br, err := p.send(ctx)
	if err != nil {
		return nil, nil, err
	}
	if rows, err = br.Query(); err != nil {
		_ = br.Close() // repeats the batch's error
		return nil, nil, err
	}
	return rows, br.Close, nil
}

// pgTxDriver is the Ent driver of one transaction.
type pgTxDriver struct{ p *pipeline }

func (d pgTxDriver) Exec(ctx context.Context, query string, args, v any) error {
	argv, ok := args.([]any)
	if !ok {
		return fmt.Errorf("store: invalid type %T for args", args)
	}
	d.p.queued.Queue(query, argv...)
	out, wanted := v.(*sql.Result)
	if !wanted {
		return nil
	}
	tag, err := d.p.exec(ctx)
	if err != nil {
		return err
	}
	*out = affected(tag.RowsAffected())
	return nil
}

func (d pgTxDriver) Query(ctx context.Context, query string, args, v any) error {
	argv, out, err := queryArgs(args, v)
	if err != nil {
		return err
	}
	rows, end, err := d.p.query(ctx, query, argv)
	if err != nil {
		return err
	}
	*out = entsql.Rows{ColumnScanner: &pgRows{Rows: rows, ctx: ctx, end: end}}
	return nil
}

func (d pgTxDriver) Tx(context.Context) (dialect.Tx, error) { return dialect.NopTx(d), nil }
func (d pgTxDriver) Close() error                           { return nil }
func (d pgTxDriver) Dialect() string                        { return dialect.Postgres }

// affected is a sql.Result that only counts rows.
type affected int64

func (affected) LastInsertId() (int64, error) {
	return 0, errors.New("store: PostgreSQL has no last insert id")
}
func (a affected) RowsAffected() (int64, error) { return int64(a), nil }

// pgxTx exposes the pipeline as a pgx.Tx, through which the job queue inserts. Only the store commits it or rolls it back.
type pgxTx struct{ p *pipeline }

var errNotYours = errors.New("store: the transaction is ended by the store")

func (t pgxTx) Begin(context.Context) (pgx.Tx, error) { return nil, errNotYours }
func (t pgxTx) Commit(context.Context) error          { return errNotYours }
func (t pgxTx) Rollback(context.Context) error        { return errNotYours }

func (t pgxTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (int64, error) {
	if err := t.p.flush(ctx); err != nil {
		return 0, err
	}
	return t.p.conn.CopyFrom(ctx, table, columns, src)
}

func (t pgxTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.p.flush(ctx); err != nil {
		return failedBatch{err}
	}
	return t.p.conn.SendBatch(ctx, b)
}
func (t pgxTx) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

func (t pgxTx) Prepare(ctx context.Context, name, query string) (*pgconn.StatementDescription, error) {
	if err := t.p.flush(ctx); err != nil {
		return nil, err
	}
	return t.p.conn.Prepare(ctx, name, query)
}

// Exec sends a statement together with those that wait. One without arguments may be several, which a batch does not take.
func (t pgxTx) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	if len(args) > 0 {
		t.p.queued.Queue(query, args...)
		return t.p.exec(ctx)
	}
	if err := t.p.flush(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.p.conn.Exec(ctx, query)
}

// Query sends a statement together with those that wait. Its rows must be closed.
func (t pgxTx) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	rows, end, err := t.p.query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return lastRows{rows, end}, nil
}

// lastRows are the rows of a batch's last statement.
type lastRows struct {
	pgx.Rows
	end func() error // of the batch
}

func (r lastRows) Close() {
	r.Rows.Close()
	_ = r.end() // repeats the error of the rows
}

func (t pgxTx) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	if err := t.p.flush(ctx); err != nil {
		return failedRow{err}
	}
	return t.p.conn.QueryRow(ctx, query, args...)
}
func (t pgxTx) Conn() *pgx.Conn { return t.p.conn }

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

type failedBatch struct{ err error }

func (b failedBatch) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, b.err }
func (b failedBatch) Query() (pgx.Rows, error)         { return nil, b.err }
func (b failedBatch) QueryRow() pgx.Row                { return failedRow(b) }
func (b failedBatch) Close() error                     { return b.err }

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"

	"atrium/ent"
)

const (
	maxWaitingWrites = 4096                 // callers that may queue for the writer, half of them of one company; more get ErrBusy
	maxGroup         = 128                  // functions in one transaction
	maxGroupTime     = 5 * time.Millisecond // after which a group accepts no more functions
)

var errClosed = errors.New("store: closed")

// write is one caller's function in the writer's queue.
type write struct {
	ctx    context.Context
	fn     func(context.Context, *Tx) error
	err    error
	panicV any
	done   chan struct{}
	tx     *Tx

	claimed atomic.Bool // by the writer, which runs it, or by its caller, which gave up
}

// sqliteWriter owns the only connection that writes. Callers queue, company by company. Functions that wait at the same time run as savepoints of one
// transaction, which is committed once.
type sqliteWriter struct {
	conn   *sql.Conn
	turn   *sync.Mutex // shared with the jobs' connection
	cache  *stmtCache
	client *ent.Client
	queue  *writeQueue
	stop   chan struct{}
	ended  sync.WaitGroup
}

func newSQLiteWriter(ctx context.Context, db *sql.DB, turn *sync.Mutex) (*sqliteWriter, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the writer's connection: %w", err)
	}
	w := &sqliteWriter{
		conn:  conn,
		turn:  turn,
		cache: newStmtCache(conn),
		queue: newWriteQueue(),
		stop:  make(chan struct{}),
	}
	w.client = ent.NewClient(ent.Driver(sqliteTxDriver{w.cache}))
	w.ended.Go(w.run)
	return w, nil
}

// write queues fn and waits for the commit of its group.
func (w *sqliteWriter) write(ctx context.Context, fn func(context.Context, *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("wait for the writer: %w", err)
	}
	// The statements run on a shared connection: interrupting one would abort the work of other callers.
	job := &write{ctx: context.WithoutCancel(ctx), fn: fn, done: make(chan struct{})}
	if err := w.queue.add(job); err != nil {
		return err
	}
	select {
	case <-job.done:
	case <-ctx.Done():
		if job.claimed.CompareAndSwap(false, true) {
			return fmt.Errorf("wait for the writer: %w", ctx.Err())
		}
		<-job.done // it has begun, so wait for its outcome
	}
	if job.panicV != nil {
		panic(job.panicV) // in the caller's goroutine
	}
	return job.err
}

// run serves groups until the writer is closed, then the rest of the queue.
func (w *sqliteWriter) run() {
	for {
		if job := w.queue.next(); job != nil {
			w.group(job)
			continue
		}
		select {
		case <-w.queue.filled:
		case <-w.stop:
			for job := w.queue.next(); job != nil; job = w.queue.next() {
				w.group(job)
			}
			return
		}
	}
}

// group runs first and the writes that wait behind it in one transaction, commits, and answers all of them.
func (w *sqliteWriter) group(first *write) {
	jobs := []*write{first}
	w.turn.Lock()
	tx, err := w.conn.BeginTx(context.Background(), nil)
	if err != nil {
		jobs = w.addWaiting(jobs) // each would wait for the lock as long again
	} else {
		err = w.runAll(tx, &jobs)
		if err == nil {
			err = tx.Commit()
		} else if rerr := tx.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) {
			err = errors.Join(err, rerr)
		}
	}
	if err != nil {
		err = fmt.Errorf("commit the group: %w", err)
		// A commit that failed half-way may leave the connection inside the transaction.
		_, _ = w.conn.ExecContext(context.Background(), "ROLLBACK")
	}
	w.turn.Unlock()
	for _, job := range jobs {
		if job.err == nil {
			job.err = err
		}
		if job.err == nil && job.panicV == nil && job.tx != nil {
			job.tx.runAfterCommit()
		}
		close(job.done)
	}
}

// addWaiting takes all writes that wait at the moment.
func (w *sqliteWriter) addWaiting(jobs []*write) []*write {
	for job := w.queue.next(); job != nil; job = w.queue.next() {
		jobs = append(jobs, job)
	}
	return jobs
}

// runAll runs the first write and accepts others while they wait. It returns only errors of the transaction itself.
func (w *sqliteWriter) runAll(tx *sql.Tx, jobs *[]*write) error {
	began := time.Now()
	for i := 0; ; i++ {
		if err := w.one(tx, (*jobs)[i]); err != nil {
			return err
		}
		if len(*jobs) >= maxGroup || time.Since(began) > maxGroupTime {
			return nil
		}
		job := w.queue.next()
		if job == nil {
			return nil
		}
		*jobs = append(*jobs, job)
	}
}

// one runs a write inside its own savepoint, unless its caller has given up.
func (w *sqliteWriter) one(tx *sql.Tx, job *write) error {
	if !job.claimed.CompareAndSwap(false, true) {
		return nil
	}
	ctx := context.Background()
	if err := w.cache.exec(ctx, "SAVEPOINT op", []any{}, nil); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	job.err = w.call(tx, job)
	if job.err != nil || job.panicV != nil {
		if err := w.cache.exec(ctx, "ROLLBACK TO op", []any{}, nil); err != nil {
			return fmt.Errorf("roll back to the savepoint: %w", err)
		}
	}
	if err := w.cache.exec(ctx, "RELEASE op", []any{}, nil); err != nil {
		return fmt.Errorf("release the savepoint: %w", err)
	}
	return nil
}

// call runs the write's function and catches a panic, which write rethrows in the caller's goroutine.
func (w *sqliteWriter) call(tx *sql.Tx, job *write) (err error) {
	defer func() {
		if v := recover(); v != nil {
			job.panicV = v
		}
	}()
	job.tx = &Tx{Client: w.client, dialect: dialect.SQLite, sqlTx: tx}
	return job.fn(job.ctx, job.tx)
}

func (w *sqliteWriter) ping(ctx context.Context) error {
	return w.write(ctx, func(ctx context.Context, tx *Tx) error {
		return w.cache.exec(ctx, "SELECT 1", []any{}, nil)
	})
}

// close serves the rest of the queue and returns the connection.
func (w *sqliteWriter) close() error {
	w.queue.close()
	close(w.stop)
	w.ended.Wait()
	return errors.Join(w.cache.close(), w.conn.Close())
}

// sqliteTxDriver is the Ent driver of the writer's connection. The writer begins and ends the transaction around it.
type sqliteTxDriver struct{ cache *stmtCache }

func (d sqliteTxDriver) Exec(ctx context.Context, q string, args, v any) error {
	return d.cache.exec(ctx, q, args, v)
}

func (d sqliteTxDriver) Query(ctx context.Context, q string, args, v any) error {
	return d.cache.query(ctx, q, args, v)
}
func (d sqliteTxDriver) Tx(context.Context) (dialect.Tx, error) { return dialect.NopTx(d), nil }
func (d sqliteTxDriver) Close() error                           { return nil }
func (d sqliteTxDriver) Dialect() string                        { return dialect.SQLite }

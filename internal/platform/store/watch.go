package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Propagation is the longest time until a change of authority by another process is known here.
const Propagation = 250 * time.Millisecond

// authorityChannel is the channel on which PostgreSQL's triggers announce changes of keys, members, plans and signing keys.
const authorityChannel = "atrium_authority"

// watch counts the observed changes of authority (keys, roles, plans, clients), so that caches can tell when they are stale.
// While its signal is down, caches must be bypassed.
type watch struct {
	version atomic.Uint64
	checked atomic.Int64 // when the signal was last known to be alive, in Unix nanoseconds; 0 while it is down
	used    atomic.Int64 // when somebody last asked, to about a tenth of a second, in Unix nanoseconds
	woken   chan struct{}
	cancel  context.CancelFunc
	ended   sync.WaitGroup
}

// signal reports the changes that any process commits, this one included, until ctx ends.
type signal interface {
	run(ctx context.Context, w *watch) error
}

func newWatch(s signal) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{cancel: cancel, woken: make(chan struct{}, 1)}
	w.ended.Go(func() {
		for ctx.Err() == nil {
			err := s.run(ctx, w)
			w.checked.Store(0)
			w.version.Add(1)
			if err != nil {
				select {
				case <-ctx.Done():
				case <-time.After(250 * time.Millisecond):
				}
			}
		}
	})
	return w
}

// markHealthy records that every change committed before t has been counted.
func (w *watch) markHealthy(t time.Time) { w.checked.Store(t.UnixNano()) }

// unusedFor is the time without a question after which the signal is asked less often. The first question after it finds no cached value
// valid. Each look of a server that nobody uses would cost it more than all its other work together.
const unusedFor = 5 * time.Second

// note records a question, and wakes a signal that rests.
func (w *watch) note(now time.Time) {
	last := w.used.Load()
	if now.UnixNano()-last < int64(unusedFor)/50 {
		return
	}
	w.used.Store(now.UnixNano())
	if now.UnixNano()-last > int64(unusedFor) {
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}
}

// pause waits until the next look is due, and returns false when ctx has ended.
func (w *watch) pause(ctx context.Context, poll time.Duration) bool {
	if time.Now().UnixNano()-w.used.Load() > int64(unusedFor) {
		poll = restPoll
	}
	select {
	case <-ctx.Done():
		return false
	case <-w.woken:
	case <-time.After(poll):
	}
	return true
}

func (w *watch) close() error {
	w.cancel()
	w.ended.Wait()
	return nil
}

// Authority returns a number that grows with every change of keys, roles, plans or clients, and whether changes by other
// processes are being heard at the moment. Do not use values that were cached under another number, or any cached value while ok
// is false.
func (s *Store) Authority() (version uint64, ok bool) {
	now := time.Now()
	s.watch.note(now)
	return s.watch.version.Load(), now.UnixNano()-s.watch.checked.Load() < int64(Propagation)
}

// AuthorityChanged invalidates this process's caches at once, without waiting for the signal. Inside a transaction, use
// Tx.AuthorityChanged instead.
func (s *Store) AuthorityChanged() { s.watch.version.Add(1) }

// AuthorityChanged invalidates this process's caches as soon as the transaction has committed.
func (tx *Tx) AuthorityChanged() { tx.AfterCommit(tx.store.AuthorityChanged) }

// sqliteSignal polls SQLite's data_version, which changes with every commit of another connection. When it changes, the signal
// reads the number that the authority triggers maintain.
type sqliteSignal struct{ db *sql.DB }

// Poll intervals of the signals: several polls fit into Propagation, unless nobody asks.
const (
	sqlitePoll = 80 * time.Millisecond
	pgPoll     = 80 * time.Millisecond
	restPoll   = 2 * time.Second
)

func (s *sqliteSignal) run(ctx context.Context, w *watch) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer conn.Close() //nolint:errcheck // a read connection
	pragma, err := conn.PrepareContext(ctx, "PRAGMA data_version")
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer pragma.Close() //nolint:errcheck // a read connection
	var data int64
	var authority string
	for {
		began := time.Now()
		var now int64
		if err := pragma.QueryRowContext(ctx).Scan(&now); err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		if now != data {
			data = now
			var value string
			err := conn.QueryRowContext(ctx, "SELECT value FROM settings WHERE id = 'authority'").Scan(&value)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("watch: %w", err) // for example before the first migration
			}
			if value != authority {
				authority = value
				w.version.Add(1)
			}
		}
		w.markHealthy(began)
		if !w.pause(ctx, sqlitePoll) {
			return nil
		}
	}
}

// pgSignal listens on its own connection, which also shows the store whether the server answers at all.
type pgSignal struct {
	cfg       *pgx.ConnConfig
	heartbeat *heartbeat
	lost      func() // called when the connection was lost
}

// pgAnswer is the time limit for one answer to the watch.
const pgAnswer = 2 * time.Second

func (s *pgSignal) run(ctx context.Context, w *watch) error {
	conn, err := s.listen(ctx)
	if _, refused := errors.AsType[*pgconn.PgError](err); err == nil || refused {
		s.heartbeat.answered()
	}
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer func() {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(cctx)
		if ctx.Err() == nil {
			s.lost()
		}
	}()
	w.version.Add(1) // changes before LISTEN were not heard
	w.markHealthy(time.Now())
	for {
		// A dead connection gives no error by itself, so ping it after each wait.
		nctx, cancel := context.WithCancel(ctx)
		go func() {
			w.pause(nctx, pgPoll)
			cancel()
		}()
		_, err := conn.WaitForNotification(nctx)
		cancel()
		switch {
		case err == nil:
			w.version.Add(1)
		case ctx.Err() != nil:
			return nil
		case nctx.Err() != nil:
			began := time.Now()
			pctx, cancel := context.WithTimeout(ctx, pgAnswer)
			err := conn.Ping(pctx)
			cancel()
			if err != nil {
				return fmt.Errorf("watch: %w", err)
			}
			w.markHealthy(began)
			s.heartbeat.answered()
		default:
			return fmt.Errorf("watch: %w", err)
		}
	}
}

// listen connects and subscribes to the changes.
func (s *pgSignal) listen(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, pgAnswer)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.cfg)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+authorityChannel); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

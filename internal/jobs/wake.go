package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// River learns of new jobs from its listener. A NOTIFY in the transaction that inserts a job would make PostgreSQL commit
// such transactions one after the other, and SQLite has none: there River looks into a table twenty times a second. So
// this process tells its own River by itself, right after the commit (store.WakeQueue), and only a process that works no
// jobs tells the others, by a NOTIFY of its own. Whoever is missed in a crash finds the job when River next looks.

const (
	insertTopic = "river_insert" // where River's producers listen
	maxWoken    = 64             // queues that may wait to be told; names of queues are few

	// announceEvery is how often a process that works no jobs tells others of due ones, at most.
	announceEvery = 5 * time.Millisecond
)

// bell gathers the queues that have due jobs.
type bell struct {
	mu     sync.Mutex
	queues map[string]bool
	rung   chan struct{} // holds one when queues is not empty
}

func newBell() *bell { return &bell{queues: map[string]bool{}, rung: make(chan struct{}, 1)} }

// ring notes that a queue has due jobs.
func (b *bell) ring(queue string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queues) < maxWoken {
		b.queues[queue] = true
	}
	b.signal()
}

func (b *bell) signal() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// take returns one of the queues that have due jobs, and false when there is none.
func (b *bell) take() (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for queue := range b.queues {
		delete(b.queues, queue)
		if len(b.queues) > 0 {
			b.signal()
		}
		return queue, true
	}
	return "", false
}

// notification is what River's producers understand.
func notification(queue string) (*riverdriver.Notification, error) {
	payload, err := json.Marshal(map[string]string{"queue": queue})
	return &riverdriver.Notification{Topic: insertTopic, Payload: string(payload)}, err //nolint:wrapcheck // texts always encode
}

// pgDriver is River's driver with a listener that also hears the bell, and an executor that knows finished jobs.
type pgDriver struct {
	*riverpgxv5.Driver
	bell     *bell
	finisher *Finisher
}

// GetExecutor returns River's own executor behind ours.
func (d pgDriver) GetExecutor() riverdriver.Executor {
	return executor{d.Driver.GetExecutor(), d.finisher}
}

// GetListener returns River's own listener behind ours.
func (d pgDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &pgListener{Listener: d.Driver.GetListener(p), bell: d.bell}
}

type pgListener struct {
	riverdriver.Listener
	bell *bell
	kept *riverdriver.Notification // came while the bell was answered
}

type heard struct {
	n   *riverdriver.Notification
	err error
}

// WaitForNotification waits for PostgreSQL or for the bell.
func (l *pgListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	if n := l.kept; n != nil {
		l.kept = nil
		return n, nil
	}
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	remote := make(chan heard, 1)
	go func() {
		n, err := l.Listener.WaitForNotification(wctx)
		remote <- heard{n, err}
	}()
	for {
		select {
		case h := <-remote:
			return h.n, h.err
		case <-l.bell.rung:
			queue, ok := l.bell.take()
			if !ok {
				continue
			}
			cancel()
			h := <-remote // the connection is River's again
			if h.err != nil && !errors.Is(h.err, context.Canceled) {
				l.bell.ring(queue) // for the next connection
				return nil, h.err
			}
			l.kept = h.n
			return notification(queue)
		}
	}
}

// liteDriver is the same for SQLite, with a listener that hears the bell and nothing else: the one process that works jobs
// on a file is the one that inserts most of them. It writes no notifications.
type liteDriver struct {
	*riversqlite.Driver
	bell     *bell
	finisher *Finisher
}

// GetExecutor returns River's own executor behind ours.
func (d liteDriver) GetExecutor() riverdriver.Executor {
	return executor{d.Driver.GetExecutor(), d.finisher}
}

// SupportsListenNotify tells River to write no notifications.
func (liteDriver) SupportsListenNotify() bool { return false }

// GetListener returns the listener.
func (d liteDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return liteListener{bell: d.bell, schema: p.Schema}
}

type liteListener struct {
	bell   *bell
	schema string
}

func (liteListener) Close(context.Context) error            { return nil }
func (liteListener) Connect(context.Context) error          { return nil }
func (liteListener) Listen(context.Context, string) error   { return nil }
func (liteListener) Unlisten(context.Context, string) error { return nil }
func (liteListener) Ping(context.Context) error             { return nil }
func (liteListener) SetAfterConnectExec(string)             {}
func (l liteListener) Schema() string                       { return l.schema }

// WaitForNotification waits for the bell.
func (l liteListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // River's contract
		case <-l.bell.rung:
			if queue, ok := l.bell.take(); ok {
				return notification(queue)
			}
		}
	}
}

// announcer tells the other nodes on a PostgreSQL of due jobs, in place of a node that works none itself.
type announcer struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

func announce(pool *pgxpool.Pool, b *bell) *announcer {
	ctx, cancel := context.WithCancel(context.Background())
	a := &announcer{cancel: cancel}
	a.ended.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-b.rung:
			}
			if queue, ok := b.take(); ok {
				_ = notify(ctx, pool, queue) // they look by themselves soon
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(announceEvery):
			}
		}
	})
	return a
}

func (a *announcer) close() {
	a.cancel()
	a.ended.Wait()
}

// notify sends what River's own insert would, without waiting for a disk: nothing is lost with it but time.
func notify(ctx context.Context, pool *pgxpool.Pool, queue string) error {
	n, err := notification(queue)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b := &pgx.Batch{}
	b.Queue("SET LOCAL synchronous_commit = off")
	b.Queue("SELECT pg_notify(concat(current_schema(), '.', $1::text), $2)", n.Topic, n.Payload)
	return pool.SendBatch(ctx, b).Close() //nolint:wrapcheck // nobody reads it
}

// listen makes the queue hear of due jobs, and returns what it hears. A node that works none tells those that do.
func (q *Queue) listen() *bell {
	b := newBell()
	pool := q.store.Pool()
	if !q.works && pool == nil {
		return b // they look by themselves
	}
	cancel := q.store.OnWake(b.ring)
	q.closes(func() error { cancel(); return nil })
	if !q.works {
		a := announce(pool, b)
		q.closes(func() error { a.close(); return nil })
	}
	return b
}

// closes adds to what Close does: it comes first.
func (q *Queue) closes(fn func() error) {
	before := q.closer
	q.closer = func() error { return errors.Join(fn(), before()) }
}

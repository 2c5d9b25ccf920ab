package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxNoAnswer is how long PostgreSQL may answer no call at all before all waiting calls fail.
const maxNoAnswer = 5 * time.Second

// connectTimeout limits opening a connection, unless the database URL sets a timeout.
const connectTimeout = 5 * time.Second

// errNoAnswer means that PostgreSQL does not answer. A stopped server or a network that loses packets gives no error of its own.
var errNoAnswer = errors.New("store: the database does not answer")

// heartbeat detects a PostgreSQL that does not answer. When it has answered nothing for a while, heartbeat ends the waiting calls and
// refuses new ones until it answers again. Any answer counts, and the watch asks many times a second. So a call may take as long
// as it needs while the server answers others, and no deadline has to distinguish slow from lost.
type heartbeat struct {
	heard   atomic.Int64 // when the server last answered, in Unix nanoseconds
	timeout time.Duration
	timer   *time.Timer

	mu     sync.Mutex
	ctx    context.Context // ends when the server counts as silent
	cancel context.CancelFunc
}

// newHeartbeat returns a detector for a server that may answer nothing for at most this long.
func newHeartbeat(most time.Duration) *heartbeat {
	s := &heartbeat{timeout: most}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.recordResponse()
	s.timer = time.AfterFunc(most, s.check)
	return s
}

// check declares the server silent if it has answered nothing for s.timeout. Otherwise it schedules the next check.
func (s *heartbeat) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.timeout - time.Since(time.Unix(0, s.heard.Load())); left > 0 {
		s.timer.Reset(left)
		return
	}
	s.cancel()
}

// recordResponse records that the server has just answered a call.
func (s *heartbeat) recordResponse() { s.heard.Store(time.Now().UnixNano()) }

// answered records that the server has just answered the watch, and ends a time without answers.
func (s *heartbeat) answered() {
	s.recordResponse()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.timer.Reset(s.timeout)
	}
}

// bound returns a context that ends with errNoAnswer as its cause when the server becomes silent.
func (s *heartbeat) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	s.mu.Lock()
	silent := s.ctx
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(silent, func() { cancel(errNoAnswer) })
	if silent.Err() != nil {
		cancel(errNoAnswer) // at once; AfterFunc runs in another goroutine
	}
	return ctx, func() { stop(); cancel(nil) }
}

func (s *heartbeat) close() error {
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	return nil
}

// wrapNoAnswer wraps err with errNoAnswer if that is what ended the bound context.
func wrapNoAnswer(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errNoAnswer) {
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return err
}

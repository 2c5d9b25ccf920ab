package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxSilence is how long PostgreSQL may answer no call at all before all waiting calls fail.
const maxSilence = 5 * time.Second

// connectTimeout limits opening a connection, unless the database URL sets a timeout.
const connectTimeout = 5 * time.Second

// errSilent means that PostgreSQL does not answer. A stopped server or a network that loses packets gives no error of its own.
var errSilent = errors.New("store: the database does not answer")

// silence detects a PostgreSQL that does not answer. When it has answered nothing for a while, silence ends the waiting calls and
// refuses new ones until it answers again. Any answer counts, and the watch asks many times a second. So a call may take as long
// as it needs while the server answers others, and no deadline has to distinguish slow from lost.
type silence struct {
	heard   atomic.Int64 // when the server last answered, in Unix nanoseconds
	timeout time.Duration
	timer   *time.Timer

	mu     sync.Mutex
	ctx    context.Context // ends when the server counts as silent
	cancel context.CancelFunc
}

// newSilence returns a detector for a server that may answer nothing for at most this long.
func newSilence(most time.Duration) *silence {
	s := &silence{timeout: most}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.recordResponse()
	s.timer = time.AfterFunc(most, s.check)
	return s
}

// check declares the server silent if it has answered nothing for s.timeout. Otherwise it schedules the next check.
func (s *silence) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.timeout - time.Since(time.Unix(0, s.heard.Load())); left > 0 {
		s.timer.Reset(left)
		return
	}
	s.cancel()
}

// recordResponse records that the server has just answered a call.
func (s *silence) recordResponse() { s.heard.Store(time.Now().UnixNano()) }

// answered records that the server has just answered the watch, and ends a silence.
func (s *silence) answered() {
	s.recordResponse()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.timer.Reset(s.timeout)
	}
}

// bound returns a context that ends with errSilent as its cause when the server becomes silent.
func (s *silence) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	s.mu.Lock()
	silent := s.ctx
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(silent, func() { cancel(errSilent) })
	if silent.Err() != nil {
		cancel(errSilent) // at once; AfterFunc runs in another goroutine
	}
	return ctx, func() { stop(); cancel(nil) }
}

func (s *silence) close() error {
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	return nil
}

// wrapSilent wraps err with errSilent if that is what ended the bound context.
func wrapSilent(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return err
}

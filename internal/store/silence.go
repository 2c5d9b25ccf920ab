package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxSilence is for how long PostgreSQL may leave everybody without an answer before all that wait for one are told so.
const maxSilence = 5 * time.Second

// connectTimeout bounds making a connection, unless the database URL says otherwise.
const connectTimeout = 5 * time.Second

// errSilent says that PostgreSQL does not answer: a stopped server or a network that loses packets gives no error of its own.
var errSilent = errors.New("store: the database does not answer")

// silence ends the calls that wait for PostgreSQL once it answers nothing, and lets none begin until it answers again. Any answer
// counts, and the watch asks many times a second; so a call may take as long as it needs while the server answers others, and no
// deadline has to tell slow from lost.
type silence struct {
	heard atomic.Int64 // when the server last answered, in Unix nanoseconds
	most  time.Duration
	timer *time.Timer

	mu    sync.Mutex
	ctx   context.Context // ends with the silence's beginning
	begin context.CancelFunc
}

// newSilence returns the silence of a server that may leave everybody without an answer for at most so long.
func newSilence(most time.Duration) *silence {
	s := &silence{most: most}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.begin = context.WithCancel(context.Background())
	s.hear()
	s.timer = time.AfterFunc(most, s.check)
	return s
}

// check begins the silence when the server has answered nothing for so long, or looks again when that may be.
func (s *silence) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.most - time.Since(time.Unix(0, s.heard.Load())); left > 0 {
		s.timer.Reset(left)
		return
	}
	s.begin()
}

// hear notes that the server has just answered a call.
func (s *silence) hear() { s.heard.Store(time.Now().UnixNano()) }

// answered notes that the server has just answered the watch, and ends the silence.
func (s *silence) answered() {
	s.hear()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		s.ctx, s.begin = context.WithCancel(context.Background())
		s.timer.Reset(s.most)
	}
}

// bound returns a context that ends with errSilent as its cause once the server is silent.
func (s *silence) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	s.mu.Lock()
	silent := s.ctx
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(silent, func() { cancel(errSilent) })
	if silent.Err() != nil {
		cancel(errSilent) // at once, not when the other goroutine runs
	}
	return ctx, func() { stop(); cancel(nil) }
}

func (s *silence) close() error {
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	return nil
}

// explain says of an error under a bound context that the server is silent, where that is why.
func explain(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return err
}

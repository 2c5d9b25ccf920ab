package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// maxSilence is for how long PostgreSQL may leave the watch's connection without an answer before all that wait for it are told so.
const maxSilence = 5 * time.Second

// connectTimeout bounds making a connection, unless the database URL says otherwise.
const connectTimeout = 5 * time.Second

// errSilent says that PostgreSQL does not answer: a stopped server or a network that loses packets gives no error of its own.
var errSilent = errors.New("store: the database does not answer")

// silence ends the calls that wait for PostgreSQL once it answers nothing, and lets none begin until it answers again. A call may
// take as long as it needs while the server answers others, so that no deadline has to tell slow from gone.
type silence struct {
	timer *time.Timer

	mu    sync.Mutex
	ctx   context.Context // ends with the silence's beginning
	begin context.CancelFunc
}

func newSilence() *silence {
	s := &silence{}
	s.ctx, s.begin = context.WithCancel(context.Background())
	s.timer = time.AfterFunc(maxSilence, s.fell)
	return s
}

func (s *silence) fell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
}

// answered notes that the server has just answered.
func (s *silence) answered() {
	s.timer.Reset(maxSilence)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		s.ctx, s.begin = context.WithCancel(context.Background())
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
	s.fell()
	return nil
}

// explain says of an error under a bound context that the server is silent, where that is why.
func explain(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return err
}

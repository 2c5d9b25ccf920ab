package password

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/share"
)

type sourceKey struct{}

// From returns a context whose passwords are hashed for a source: the client's network, because no company is known before somebody has
// signed in. A source has all workers but one, and three quarters of the queue. Whoever has no source, such as a command, has a share of
// its own for each call.
func From(ctx context.Context, source string) context.Context {
	return context.WithValue(ctx, sourceKey{}, source)
}

// turns are who hashes and who waits, by their sources.
type turns struct {
	places *share.Places
	queue  int // callers who may wait
	wait   time.Duration
	calls  atomic.Int64 // of no source

	mu      sync.Mutex
	waiting int
	of      map[string]int // the waiting callers of each source
}

func newTurns(workers, queue int, wait time.Duration) *turns {
	return &turns{places: share.New(workers, max(1, workers-1)), queue: queue, wait: wait, of: map[string]int{}}
}

// take takes a worker, and returns the function that gives it back. Returns ErrBusy, wrapped, or the context's error.
func (t *turns) take(ctx context.Context) (leave func(), err error) {
	source, ok := ctx.Value(sourceKey{}).(string)
	if !ok {
		source = strconv.FormatInt(t.calls.Add(1), 10)
	}
	if leave, ok = t.places.TakeNow(source); ok {
		return leave, nil
	}
	if !t.enter(source) {
		return nil, busy()
	}
	defer t.exit(source)
	waiting, stop := context.WithTimeout(ctx, t.wait)
	defer stop()
	leave, err = t.places.Take(waiting, source)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("wait for a worker: %w", ctx.Err())
	}
	if err != nil {
		return nil, busy()
	}
	return leave, nil
}

// enter lets a caller wait, unless the queue is full, or as full as one source may make it.
func (t *turns) enter(source string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting >= t.queue || t.of[source] >= max(1, t.queue*3/4) {
		return false
	}
	t.waiting++
	t.of[source]++
	return true
}

func (t *turns) exit(source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
	if t.of[source]--; t.of[source] == 0 {
		delete(t.of, source)
	}
}

func busy() error {
	err := apperr.Wrap(ErrBusy, apperr.Unavailable, "Too many people are signing in at this moment. Try again shortly.")
	err.RetryAfter = 2
	return err
}

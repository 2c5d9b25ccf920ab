package ratelimit

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	sharedPatience = 2 * time.Second // how long a call waits for the shared counts: longer than a burst on a busy node takes
	sharedPause    = time.Second     // between two attempts while the shared counts are unreachable
)

// Failover counts in a Limiter that nodes share, and in its own Memory while the shared one does not answer. Calls that the
// shared one allows are counted in the Memory too, so that a caller's minute and day do not restart when the shared one fails.
// Calls that a node allowed alone are not added to the shared counts afterwards: for up to a minute after the return, a caller
// of several nodes may exceed its limit.
type Failover struct {
	shared Limiter
	alone  *Memory
	pause  pause
}

// NewFailover returns a Failover in front of shared.
func NewFailover(shared Limiter, log *slog.Logger) *Failover {
	return &Failover{shared: shared, alone: NewMemory(), pause: pause{log: log, what: "calls"}}
}

// Take implements Limiter.
func (f *Failover) Take(ctx context.Context, key string, l Limit, now time.Time) (Result, error) {
	return f.TakeMany(ctx, key, l, now, 1)
}

// TakeMany implements Limiter. It fails for invalid arguments and when ctx ends, never because the shared counts are
// unreachable.
func (f *Failover) TakeMany(ctx context.Context, key string, l Limit, now time.Time, n int) (Result, error) {
	if _, err := instant(key, now, n); err != nil {
		return Result{}, err
	}
	var shared Result
	asked, err := f.pause.ask(ctx, func(ctx context.Context) (err error) {
		shared, err = f.shared.TakeMany(ctx, key, l, now, n)
		return err
	})
	switch {
	case err != nil:
		return Result{}, err
	case !asked:
		return f.alone.TakeMany(ctx, key, l, now, n)
	case !shared.Allowed:
		return shared, nil
	}
	_, err = f.alone.TakeMany(ctx, key, l, now, n)
	return shared, err
}

// pause keeps calls from waiting for an unreachable Redis: after a failure one call a second tries it, and all others proceed
// without.
type pause struct {
	log   *slog.Logger
	what  string       // what is counted, for the log
	until atomic.Int64 // nanoseconds since 1970; 0 while Redis answers
}

// ask calls f, which asks Redis, unless Redis is known to be unreachable. It reports whether Redis answered. The error is that
// of ctx, if ctx has ended.
func (p *pause) ask(ctx context.Context, f func(context.Context) error) (answered bool, err error) {
	now, until := time.Now().UnixNano(), p.until.Load()
	if until > now || until > 0 && !p.until.CompareAndSwap(until, now+sharedPause.Nanoseconds()) {
		return false, nil
	}
	asking, cancel := context.WithTimeout(ctx, sharedPatience)
	defer cancel()
	failed := f(asking)
	if failed != nil && ctx.Err() != nil {
		return false, ctx.Err()
	}
	if failed != nil {
		if p.until.Swap(time.Now().Add(sharedPause).UnixNano()) == 0 {
			p.log.ErrorContext(ctx, "Redis does not answer: this node counts alone until it does", "counts", p.what, "error", failed)
		}
		return false, nil
	}
	if p.until.Swap(0) != 0 {
		p.log.InfoContext(ctx, "Redis answers again: nodes count together", "counts", p.what)
	}
	return true, nil
}

package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"
)

// gcPercent lets the heap grow by 400 % of the live data before a collection. A server keeps little and allocates much, so this
// costs little memory and quarters the work of the garbage collector.
const gcPercent = 400

// TuneGC sets the garbage collector for a server, unless the environment variable GOGC is set.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// Drained returns a context that ends d after ctx ends, or when it is cancelled. Until then the server answers calls but reports
// that it is not ready, so that load balancers send it no new ones.
func Drained(ctx context.Context, log *slog.Logger, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-ctx.Done():
		case <-out.Done():
			return
		}
		defer cancel()
		if d > 0 {
			log.InfoContext(out, "stopping soon", "drain", d.String())
		}
		select {
		case <-time.After(d):
		case <-out.Done():
		}
	}()
	return out, cancel
}

// Part is a component that runs until its context ends.
type Part struct {
	Name  string
	Run   func(ctx context.Context) error // returns nil after a requested stop
	Grace time.Duration                   // maximum time to stop; 0 means 10 s
}

type running struct {
	Part
	cancel context.CancelFunc
	done   chan error
}

// All starts all parts at once and waits until ctx ends or one of the parts ends. Then it stops all parts in reverse order,
// each within its grace period. Returns the parts' errors joined, one of which says which part ended by itself or did not stop
// in time; nil after a clean stop.
func All(ctx context.Context, log *slog.Logger, parts ...Part) error {
	var started []*running
	ended := make(chan *running, len(parts))
	for _, p := range parts {
		pctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		r := &running{Part: p, cancel: cancel, done: make(chan error, 1)}
		started = append(started, r)
		go func() {
			r.done <- r.Run(pctx)
			ended <- r
		}()
	}
	var errs []error
	select {
	case <-ctx.Done():
		log.InfoContext(ctx, "stopping")
	case r := <-ended:
		if ctx.Err() == nil {
			errs = append(errs, fmt.Errorf("%s ended by itself", r.Name))
		}
	}
	for i := len(started) - 1; i >= 0; i-- {
		if err := stop(started[i]); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// stop cancels one part and waits for it, at most for its grace period.
func stop(r *running) error {
	r.cancel()
	grace := r.Grace
	if grace == 0 {
		grace = 10 * time.Second
	}
	select {
	case err := <-r.done:
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		return nil
	case <-time.After(grace):
		return fmt.Errorf("%s did not stop within %s", r.Name, grace)
	}
}

package gate

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"atrium/internal/apperr"
	"atrium/internal/authn"
	"atrium/internal/clock"
	"atrium/internal/id"
	"atrium/internal/ratelimit"
)

// Options are what the gate is built from.
type Options struct {
	Authn   *authn.Authenticator
	Limiter ratelimit.Limiter
	Clock   *clock.Clock
	Log     *slog.Logger
	Observe func(route, method string, status int, took time.Duration) // nil for nothing
	Origins func(ctx context.Context, origin string) bool              // whose pages may call; nil for nobody's
}

// Gate stands before the doors. Safe for concurrent use.
type Gate struct{ Options }

// New returns a gate.
func New(o Options) *Gate {
	if o.Observe == nil {
		o.Observe = func(string, string, int, time.Duration) {}
	}
	return &Gate{o}
}

// Front gives a call its id (in the answer's X-Request-Id), refuses it when it came without TLS, answers 500 when next
// panics, and measures it.
func (g *Gate) Front(next http.Handler) http.Handler {
	return g.front(func(r *http.Request) error {
		if r.TLS == nil {
			return apperr.New(apperr.HTTPSRequired, "Use HTTPS.")
		}
		return nil
	}, next)
}

// front is Front for calls that may pass.
func (g *Gate) front(may func(*http.Request) error, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rid := id.New("rid")
		rec := &recorder{ResponseWriter: w}
		h := w.Header()
		h.Set("X-Request-Id", rid)
		h.Set("X-Content-Type-Options", "nosniff")
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // a panic's value is no chain
				g.Log.ErrorContext(r.Context(), "panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()), "requestId", rid)
				if rec.status == 0 {
					Fail(g.Log, rec, r, fmt.Errorf("panic: %v", v))
				}
			}
			took := time.Since(began)
			g.Observe(rec.route, r.Method, rec.status, took)
			if g.Log.Enabled(r.Context(), slog.LevelDebug) {
				g.Log.DebugContext(r.Context(), "request", "method", r.Method, "route", rec.route, "status", rec.status, "took", took, "requestId", rid)
			}
		}()
		if err := may(r); err != nil {
			Fail(g.Log, rec, r, err)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// recorder notes the status that was sent.
type recorder struct {
	http.ResponseWriter
	status int
	route  string // the path's pattern; empty where no route took the request
}

// SetRoute names the pattern that took the call, for metrics and logs: paths hold ids, patterns do not.
func SetRoute(w http.ResponseWriter, pattern string) {
	if rec, ok := w.(*recorder); ok {
		rec.route = pattern
	}
}

// WriteHeader notes and sends the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write sends, with status 200 when none was sent before.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Flush sends what is buffered, for answers that stream.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() } // a writer that cannot flush sends at the end

// Unwrap shows the writer behind to http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

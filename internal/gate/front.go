package gate

import (
	"context"
	"crypto/rand"
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
	// Anonymous bounds callers that have not been recognised; nil makes one that counts in this process.
	Anonymous *Anonymous
	Clock     *clock.Clock
	Log       *slog.Logger
	Observe   func(route, method string, status int, took time.Duration) // nil for nothing
	Origins   func(ctx context.Context, origin string) bool              // whose pages may call; nil for nobody's
	Agents    Agents                                                     // tells as what agents call; nil where no agent has a key

	Logged    Logged       // calls that AccessLog gets a line for; none when empty
	AccessLog *slog.Logger // needed with Logged

	// StrictTransport tells browsers to use HTTPS only, for a year. It must be false where the certificate is one that
	// they do not trust by themselves: they would let nobody pass their warning.
	StrictTransport bool
}

const strictTransport = "max-age=31536000" // without subdomains, which may be somebody else's

// Gate stands before the doors. Safe for concurrent use.
type Gate struct{ Options }

// New returns a gate.
func New(o Options) *Gate {
	if o.Observe == nil {
		o.Observe = func(string, string, int, time.Duration) {}
	}
	if o.Anonymous == nil {
		o.Anonymous = NewAnonymous(ratelimit.NewMemory(), rand.Text(), o.Clock, o.Log)
	}
	return &Gate{o}
}

// Front gives a call its id (in the answer's X-Request-Id), refuses it when it came without TLS, answers 500 when next
// panics, measures it, and logs it.
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
		rid := id.New("rid")
		rec := &recorder{ResponseWriter: w, began: time.Now()}
		h := w.Header()
		h.Set("X-Request-Id", rid)
		h.Set("X-Content-Type-Options", "nosniff")
		if g.StrictTransport && r.TLS != nil {
			h.Set("Strict-Transport-Security", strictTransport)
		}
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // a panic's value is no chain
				g.Log.ErrorContext(r.Context(), "panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()), "requestId", rid)
				if rec.status == 0 {
					Fail(g.Log, rec, r, fmt.Errorf("panic: %v", v))
				}
			}
			g.Observe(rec.route, r.Method, rec.status, time.Since(rec.began))
			g.line(r.Context(), rec, rid)
		}()
		if err := may(r); err != nil {
			Fail(g.Log, rec, r, err)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// recorder notes what was sent, and what the access log says of the call.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64         // of the answer's body
	route  string        // the path's pattern; empty where no route took the request
	began  time.Time     // the call
	waited time.Duration // until the answer began: a stream is not slow because it lasts

	operation, principal, company string
}

// SetRoute names the pattern that took the call, for metrics and logs: paths hold ids, patterns do not.
func SetRoute(w http.ResponseWriter, pattern string) {
	if rec, ok := w.(*recorder); ok {
		rec.route = pattern
	}
}

// WriteHeader notes and sends the status.
func (r *recorder) WriteHeader(status int) {
	r.begin(status)
	r.ResponseWriter.WriteHeader(status)
}

// Write sends, with status 200 when none was sent before.
func (r *recorder) Write(b []byte) (int, error) {
	r.begin(http.StatusOK)
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

func (r *recorder) begin(status int) {
	if r.status == 0 {
		r.status, r.waited = status, time.Since(r.began)
	}
}

// Flush sends what is buffered, for answers that stream.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() } // a writer that cannot flush sends at the end

// Unwrap shows the writer behind to http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

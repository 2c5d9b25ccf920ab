package gate

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"atrium/internal/identity/authn"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
	"atrium/internal/platform/ratelimit"
)

// Options are what the gate is built from.
type Options struct {
	Authn   *authn.Authenticator
	Limiter ratelimit.Limiter
	// Anonymous limits unrecognised callers; nil makes one that counts in this process.
	Anonymous *Anonymous
	Clock     *clock.Clock
	Log       *slog.Logger
	Observe   func(route, method string, status int, took time.Duration) // nil for nothing
	Origins   func(ctx context.Context, origin string) bool              // reports the origins whose pages may call; nil for none
	Agents    Agents                                                     // returns the principals of agents' calls; nil where no agent has a key

	Logged    Logged       // selects calls that get a line in AccessLog; empty for none
	AccessLog *slog.Logger // needed with Logged

	// StrictTransport tells browsers to use only HTTPS for a year. It must be false if browsers do not trust the
	// certificate by themselves, because they would then let nobody bypass their warning.
	StrictTransport bool
}

const strictTransport = "max-age=31536000" // without subdomains, which may belong to somebody else

// Gate stands before the doors. Safe for concurrent use.
type Gate struct {
	Options
	bytes *ratelimit.Bytes
}

// New returns a gate.
func New(o Options) *Gate {
	if o.Observe == nil {
		o.Observe = func(string, string, int, time.Duration) {}
	}
	if o.Anonymous == nil {
		o.Anonymous = NewAnonymous(ratelimit.NewMemory(), rand.Text(), o.Clock, o.Log)
	}
	return &Gate{o, ratelimit.NewBytes(o.Limiter)}
}

// Front gives a call its id (in the answer's X-Request-Id), refuses it without TLS, answers 500 when next panics,
// measures it, and logs it.
func (g *Gate) Front(next http.Handler) http.Handler {
	return g.front(func(r *http.Request) error {
		if r.TLS == nil {
			return apperr.New(apperr.HTTPSRequired, "Use HTTPS.")
		}
		return nil
	}, next)
}

// front is Front for the calls that may accepts.
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
			v, begun := recover(), rec.status != 0
			aborted := v == http.ErrAbortHandler //nolint:errorlint // a panic's value is no chain
			if v != nil && !aborted {
				g.Log.ErrorContext(r.Context(), "panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()), "requestId", rid)
				if !begun {
					Fail(g.Log, rec, r, fmt.Errorf("panic: %v", v))
				}
			}
			r.Pattern = rec.route // for tracing, which stands around the gate; a pattern that a mux has left says less
			g.Observe(rec.route, r.Method, rec.outcome(), time.Since(rec.began))
			g.line(r.Context(), rec, rid)
			if aborted || v != nil && begun {
				panic(http.ErrAbortHandler) // net/http closes the connection, so that half an answer does not look complete
			}
		}()
		if err := may(r); err != nil {
			Fail(g.Log, rec, r, err)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// recorder records the answer, and what the access log needs of the call.
type recorder struct {
	http.ResponseWriter
	status int
	within int           // the status that SetStatus was given; 0 if none
	bytes  int64         // of the answer's body
	route  string        // the path's pattern; empty if no route matched
	began  time.Time     // the call
	waited time.Duration // until the answer began, because a long stream is not slow

	operation, principal, company string
}

// SetRoute sets the pattern that matched the call, for metrics and logs: paths contain ids, patterns do not.
func SetRoute(w http.ResponseWriter, pattern string) {
	if rec, ok := w.(*recorder); ok {
		rec.route = pattern
	}
}

// SetStatus sets the status of a call in the metrics and the access log if its answer is within one of another protocol, whose own
// status says nothing.
func SetStatus(w http.ResponseWriter, status int) {
	if rec, ok := w.(*recorder); ok {
		rec.within = status
	}
}

// outcome returns the call's status for the metrics and the access log.
func (r *recorder) outcome() int { return cmp.Or(r.within, r.status) }

// WriteHeader records and sends the status.
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

// Flush sends buffered data, for streaming answers.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() } // a writer that cannot flush sends at the end

// Unwrap gives http.ResponseController the wrapped writer.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

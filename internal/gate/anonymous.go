package gate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"atrium/internal/clock"
	"atrium/internal/ratelimit"
)

// Allowance says how many anonymous calls there may be of one kind.
type Allowance struct {
	Name      string // of the kind
	PerMinute int    // calls of one address in any 60 seconds
	PerDay    int    // calls of one address in one calendar day, UTC
}

// places is the number of counters of each kind. Addresses are hashed into a fixed number of counters, with a seed that nobody
// outside knows, so that a flood from many addresses uses bounded memory, and nobody can tell which others share a counter.
const places = 1 << 16

// Anonymous bounds the calls of callers that have not been recognised, by the address that they call from: an IPv4 address, or
// the /64 of an IPv6 one, which is what one customer has. Safe for concurrent use.
type Anonymous struct {
	limiter ratelimit.Limiter
	clock   *clock.Clock
	seed    []byte
	log     *slog.Logger
}

// NewAnonymous returns an Anonymous that counts by limiter, apart from callers that are known: nodes count together where they share
// the limiter and the seed.
func NewAnonymous(limiter ratelimit.Limiter, seed string, c *clock.Clock, log *slog.Logger) *Anonymous {
	return &Anonymous{limiter: limiter, clock: c, seed: []byte(seed), log: log}
}

// Refuse answers a call that is one too many; Retry-After is set.
type Refuse func(w http.ResponseWriter, r *http.Request, wait time.Duration)

// Every lets calls through to next within an allowance, and sends the others to refuse.
func (s *Anonymous) Every(a Allowance, next http.Handler, refuse Refuse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait := s.take(r.Context(), a, s.place(r)); wait > 0 {
			s.refuse(w, r, wait, refuse)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Failures lets calls through to next, unless the address has used up the allowance with calls that were answered with a
// status of 400 to 499. Calls that succeed are not limited.
func (s *Anonymous) Failures(a Allowance, next http.Handler, refuse Refuse) http.Handler {
	until := make([]atomic.Int64, places) // in nanoseconds since 1970: no call of the place is looked at before
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place := s.place(r)
		if wait := time.Duration(until[place].Load() - s.clock.Now().UnixNano()); wait > 0 {
			s.refuse(w, r, wait, refuse)
			return
		}
		rec := &recorder{ResponseWriter: w}
		next.ServeHTTP(rec, r)
		if rec.status < http.StatusBadRequest || rec.status >= http.StatusInternalServerError {
			return
		}
		if wait := s.take(r.Context(), a, place); wait > 0 {
			until[place].Store(s.clock.Now().Add(wait).UnixNano())
		}
	})
}

// take counts a call of a place, or returns how long to wait before the next one.
func (s *Anonymous) take(ctx context.Context, a Allowance, place uint64) time.Duration {
	key := "anonymous/" + a.Name + "/" + strconv.FormatUint(place, 36)
	res, err := s.limiter.Take(ctx, key, ratelimit.Limit{PerMinute: a.PerMinute, PerDay: a.PerDay}, s.clock.Now())
	if err != nil {
		s.log.ErrorContext(ctx, "an anonymous call could not be counted", "error", err) // its caller has gone
		return time.Second
	}
	if res.Allowed {
		return 0
	}
	return res.RetryAfter
}

// place returns the number of the counters of the caller's address.
func (s *Anonymous) place(r *http.Request) uint64 {
	mac := hmac.New(sha256.New, s.seed)
	mac.Write([]byte(Network(RemoteIP(r)).String()))
	return binary.BigEndian.Uint64(mac.Sum(nil)) % places
}

func (s *Anonymous) refuse(w http.ResponseWriter, r *http.Request, wait time.Duration, refuse Refuse) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int((wait+time.Second-1)/time.Second))))
	w.Header().Set("Cache-Control", "no-store")
	refuse(w, r, wait)
}

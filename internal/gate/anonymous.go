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

	"atrium/internal/platform/clock"
	"atrium/internal/platform/ratelimit"
)

// Allowance is the number of anonymous calls of one kind that an address may make.
type Allowance struct {
	Name      string // of the kind of call
	PerMinute int    // calls of one address in any 60 seconds
	PerDay    int    // calls of one address in one calendar day, UTC
}

// places is the number of counters for each kind. Addresses are hashed into a fixed number of counters with a secret seed, so that
// a flood from many addresses uses limited memory, and nobody can find out which addresses share a counter.
const places = 1 << 16

// Anonymous limits the calls of unrecognised callers by their address: an IPv4 address, or the /64 of an IPv6 address, which is
// what one customer has. Safe for concurrent use.
type Anonymous struct {
	limiter ratelimit.Limiter
	clock   *clock.Clock
	seed    []byte
	log     *slog.Logger
}

// NewAnonymous returns an Anonymous that counts with limiter, separately from recognised callers. Nodes that share the limiter and
// the seed count together.
func NewAnonymous(limiter ratelimit.Limiter, seed string, c *clock.Clock, log *slog.Logger) *Anonymous {
	return &Anonymous{limiter: limiter, clock: c, seed: []byte(seed), log: log}
}

// Refuse answers a call that exceeds the allowance; Retry-After is set already.
type Refuse func(w http.ResponseWriter, r *http.Request, wait time.Duration)

// Every passes calls to next within an allowance, and the others to refuse.
func (s *Anonymous) Every(a Allowance, next http.Handler, refuse Refuse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait := s.take(r.Context(), a, s.place(r)); wait > 0 {
			s.refuse(w, r, wait, refuse)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Failures passes calls to next, unless the address has used up the allowance with calls that were answered with a status from 400
// to 499. Successful calls are not limited.
func (s *Anonymous) Failures(a Allowance, next http.Handler, refuse Refuse) http.Handler {
	until := make([]atomic.Int64, places) // in nanoseconds since 1970: calls of the place are refused until then
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
		if wait := s.take(context.WithoutCancel(r.Context()), a, place); wait > 0 {
			until[place].Store(s.clock.Now().Add(wait).UnixNano())
		}
	})
}

// take counts a call of a place, or returns how long to wait until the next one.
func (s *Anonymous) take(ctx context.Context, a Allowance, place uint64) time.Duration {
	key := "anonymous/" + a.Name + "/" + strconv.FormatUint(place, 36)
	res, err := s.limiter.Take(ctx, key, ratelimit.Limit{PerMinute: a.PerMinute, PerDay: a.PerDay}, s.clock.Now())
	if err != nil {
		s.log.DebugContext(ctx, "an anonymous call could not be counted", "error", err) // the caller has closed the connection
		return time.Second
	}
	if res.Allowed {
		return 0
	}
	return res.RetryAfter
}

// place returns the index of the counters for the caller's address.
func (s *Anonymous) place(r *http.Request) uint64 {
	mac := hmac.New(sha256.New, s.seed)
	mac.Write([]byte(Network(RemoteIP(r)).String()))
	return binary.BigEndian.Uint64(mac.Sum(nil)) % places
}

func (s *Anonymous) refuse(w http.ResponseWriter, r *http.Request, wait time.Duration, refuse Refuse) {
	w.Header().Set("Retry-After", strconv.Itoa(ratelimit.RetryAfter(wait)))
	w.Header().Set("Cache-Control", "no-store")
	refuse(w, r, wait)
}

package gate_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/ratelimit"
)

// knock sends a call from an address and returns its status.
func knock(h http.Handler, from string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "https://atrium.test/open", nil)
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func refuse(w http.ResponseWriter, _ *http.Request, _ time.Duration) {
	w.WriteHeader(http.StatusTooManyRequests)
}

// An address does so much in a minute and in a day; others are not held back by it.
func TestAnonymousEvery(t *testing.T) {
	t.Parallel()
	c := &clock.Clock{}
	served := 0
	h := gate.NewAnonymous(ratelimit.NewMemory(), "seed", c, slog.New(slog.DiscardHandler)).Every(gate.Allowance{Name: "open", PerMinute: 3, PerDay: 5},
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }), refuse)
	for range 3 {
		require.Equal(t, 200, knock(h, "192.0.2.1:1000").Code)
	}
	w := knock(h, "192.0.2.1:2000")
	require.Equal(t, 429, w.Code)
	wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, wait)
	require.LessOrEqual(t, wait, 60)
	require.Equal(t, 3, served, "what is refused is not served")
	require.Equal(t, 200, knock(h, "192.0.2.2:1000").Code)

	require.Equal(t, 200, knock(h, "[2001:db8:1:2::1]:1000").Code)
	require.Equal(t, 200, knock(h, "[2001:db8:1:2::2]:1000").Code)
	require.Equal(t, 200, knock(h, "[2001:db8:1:2:ffff::]:1000").Code)
	require.Equal(t, 429, knock(h, "[2001:db8:1:2::3]:1000").Code, "a customer's addresses are one")
	require.Equal(t, 200, knock(h, "[2001:db8:1:3::1]:1000").Code)

	c.SetOffset(time.Minute)
	require.Equal(t, 200, knock(h, "192.0.2.1:1000").Code)
	require.Equal(t, 200, knock(h, "192.0.2.1:1000").Code)
	w = knock(h, "192.0.2.1:1000")
	require.Equal(t, 429, w.Code, "the day's are used up")
	wait, err = strconv.Atoi(w.Header().Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, wait)
}

// Only failures count, and they hold back the address that made them until they are a minute old.
func TestAnonymousFailures(t *testing.T) {
	t.Parallel()
	c := &clock.Clock{}
	status, served := 200, 0
	h := gate.NewAnonymous(ratelimit.NewMemory(), "seed", c, slog.New(slog.DiscardHandler)).Failures(gate.Allowance{Name: "programs", PerMinute: 2, PerDay: 100},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { served++; w.WriteHeader(status) }), refuse)
	for range 10 {
		require.Equal(t, 200, knock(h, "192.0.2.1:1000").Code)
	}
	status = 500
	for range 10 {
		require.Equal(t, 500, knock(h, "192.0.2.1:1000").Code, "that is our fault")
	}
	status = 401
	for range 3 {
		require.Equal(t, 401, knock(h, "192.0.2.1:1000").Code)
	}
	served = 0
	w := knock(h, "192.0.2.1:1000")
	require.Equal(t, 429, w.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	require.Zero(t, served)
	require.Equal(t, 401, knock(h, "192.0.2.2:1000").Code)
	c.SetOffset(time.Minute + time.Second)
	status = 200
	require.Equal(t, 200, knock(h, "192.0.2.1:1000").Code)
}

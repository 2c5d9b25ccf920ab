package password_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/identity/password"
	"atrium/internal/platform/apperr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// oldHash is the hash of "correct horse" with the parameters of the first release: two lanes.
const oldHash = "$argon2id$v=19$m=65536,t=1,p=2$RqLkLGlKTuZrVNnE6HhfTw$"

func TestHashAndVerify(t *testing.T) {
	t.Parallel()
	h := password.New(password.Options{})
	hash, err := h.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=65536,t=1,p=1$"), hash)
	require.False(t, h.NeedsRehash(hash))
	for plain, want := range map[string]bool{"correct horse": true, "correct horse ": false, "Correct horse": false, "": false} {
		same, err := h.Verify(t.Context(), hash, plain)
		require.NoError(t, err)
		require.Equal(t, want, same, "%q", plain)
	}
	again, err := h.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	require.NotEqual(t, hash, again, "every hash has a salt of its own")
}

// The same password typed on keyboards that compose letters differently matches.
func TestNormalisation(t *testing.T) {
	t.Parallel()
	h := password.New(password.Options{Memory: 64})
	hash, err := h.Hash(t.Context(), "Zo\u00eb schl\u00e4ft \uff11\uff12")
	require.NoError(t, err)
	same, err := h.Verify(t.Context(), hash, "Zoe\u0308 schla\u0308ft 12")
	require.NoError(t, err)
	require.True(t, same)
}

// A missing hash never matches, and takes as much work as a wrong password.
func TestVerifyWithoutHash(t *testing.T) {
	t.Parallel()
	h := password.New(password.Options{})
	var worked atomic.Int32
	h.Watch(func() { worked.Add(1) })
	for _, plain := range []string{"", "anything", strings.Repeat("x", 5000)} {
		same, err := h.Verify(t.Context(), "", plain)
		require.NoError(t, err)
		require.False(t, same)
	}
	require.EqualValues(t, 3, worked.Load())
	hash, err := h.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	same, err := h.Verify(t.Context(), hash, strings.Repeat("x", 5000))
	require.NoError(t, err)
	require.False(t, same)
	require.EqualValues(t, 4, worked.Load(), "a password too long to be anyone's costs the same")
}

func TestFaultyHash(t *testing.T) {
	t.Parallel()
	h := password.New(password.Options{})
	_, err := h.Verify(t.Context(), "not a hash", "correct horse")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "correct horse")
	for _, parameters := range []string{"m=64,t=0,p=1", "m=64,t=1,p=0", "m=4294967295,t=1,p=1", "m=64,t=4294967295,p=1"} { // a company's file may hold any
		_, err = h.Verify(t.Context(), "$argon2id$v=19$"+parameters+"$"+strings.Repeat("A", 22)+"$"+strings.Repeat("A", 43), "correct horse")
		require.ErrorContains(t, err, "out of bounds", parameters)
	}
	require.True(t, h.NeedsRehash("not a hash"))
	require.True(t, h.NeedsRehash(oldHash+"9vIkzZzc0gJx2eBHnsaIl1cGkMzYh1nEynJ5zGZ6vTM"))
	_, err = h.Hash(t.Context(), strings.Repeat("x", 5000))
	require.Error(t, err)
}

// During a flood, the workers are busy, the queue is full, and all further callers are refused at once.
func TestFlood(t *testing.T) {
	t.Parallel()
	const workers, queue, flood = 2, 5, 40
	h := password.New(password.Options{Workers: workers, Queue: queue, Wait: time.Hour, Memory: 64})
	var busy, peak atomic.Int32
	entered, proceed := make(chan struct{}, flood), make(chan struct{})
	h.Watch(func() {
		n := busy.Add(1)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		entered <- struct{}{}
		<-proceed
		busy.Add(-1)
	})
	var wg sync.WaitGroup
	var served, refused atomic.Int32
	turnedAway := make(chan error, flood)
	for range flood {
		wg.Go(func() {
			if _, err := h.Verify(context.Background(), "", "guess"); err != nil {
				refused.Add(1)
				turnedAway <- err
				return
			}
			served.Add(1)
		})
	}
	for range workers {
		<-entered
	}
	for range flood - workers - queue {
		err := <-turnedAway // while no worker proceeds: these callers did not wait
		require.ErrorIs(t, err, password.ErrBusy)
		require.Equal(t, apperr.Unavailable, apperr.CodeOf(err))
		require.Positive(t, apperr.From(err).RetryAfter)
	}
	close(proceed)
	wg.Wait()
	require.EqualValues(t, workers+queue, served.Load())
	require.EqualValues(t, flood-workers-queue, refused.Load())
	require.EqualValues(t, workers, peak.Load(), "no more than the workers were at work, and so in memory, at once")
	require.Zero(t, h.Waiting())
}

// A source that floods the sign-in leaves a worker and places of the queue to others.
func TestOneSourceLeavesRoom(t *testing.T) {
	t.Parallel()
	const workers, queue, flood = 2, 8, 40
	h := password.New(password.Options{Workers: workers, Queue: queue, Wait: time.Hour, Memory: 64})
	entered, proceed := make(chan struct{}, flood), make(chan struct{})
	h.Watch(func() { entered <- struct{}{}; <-proceed })
	turnedAway := make(chan error, flood)
	verify := func(source string) error {
		_, err := h.Verify(password.From(context.Background(), source), "", "guess")
		return err
	}
	var wg sync.WaitGroup
	for range flood {
		wg.Go(func() {
			if err := verify("192.0.2.1/32"); err != nil {
				turnedAway <- err
			}
		})
	}
	<-entered
	for range flood - 1 - queue*3/4 {
		require.ErrorIs(t, <-turnedAway, password.ErrBusy)
	}
	require.Empty(t, entered, "the second worker is free")
	others := make(chan error, 3)
	for i := range cap(others) {
		go func() { others <- verify(fmt.Sprintf("198.51.100.%d/32", i)) }()
	}
	<-entered
	require.Eventually(t, func() bool { return h.Waiting() == queue }, 30*time.Second, time.Millisecond, "others wait in the places that are left")
	close(proceed)
	for range cap(others) {
		require.NoError(t, <-others)
	}
	wg.Wait()
	require.Zero(t, h.Waiting())
}

// A caller is refused after waiting too long, or when its context ends.
func TestWaiting(t *testing.T) {
	t.Parallel()
	h := password.New(password.Options{Workers: 1, Wait: time.Millisecond, Memory: 64})
	entered, proceed, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	h.Watch(func() { close(entered); <-proceed })
	go func() {
		_, err := h.Verify(context.Background(), "", "guess")
		done <- err
	}()
	<-entered
	_, err := h.Hash(t.Context(), "correct horse")
	require.ErrorIs(t, err, password.ErrBusy)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.Verify(cancelled, "", "guess")
	require.Error(t, err)
	close(proceed)
	require.NoError(t, <-done)
}

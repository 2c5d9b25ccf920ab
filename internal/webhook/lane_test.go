package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/webhook"
)

// fill takes all places of a subscription's lane, and returns how many there were.
func fill(t *testing.T, l webhook.Lanes, subscription string) (n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // whoever would have to wait goes at once
	for {
		if _, ok := l.Enter(ctx, subscription); !ok {
			return n
		}
		n++
	}
}

// answers has a receiver answer quickly until its lane is as wide as lanes get.
func answers(t *testing.T, l webhook.Lanes, subscription string) {
	t.Helper()
	for range webhook.LaneWidth {
		_, ok := l.Enter(t.Context(), subscription)
		require.True(t, ok)
		l.Leave(subscription, time.Millisecond, time.Millisecond)
	}
}

// A lane begins narrow and grows by a place with each answer; others are none of its business.
func TestLaneGrows(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	require.Equal(t, webhook.FirstWidth, fill(t, l, "a"))
	require.Equal(t, webhook.FirstWidth, fill(t, l, "b"))
	l.Leave("a", time.Millisecond, time.Millisecond)
	require.Equal(t, 2, fill(t, l, "a"), "the place itself, and the one that it has earned")
	answers(t, l, "c")
	require.Equal(t, webhook.LaneWidth, fill(t, l, "c"))
	l.Leave("c", time.Millisecond, time.Millisecond)
	require.Equal(t, 1, fill(t, l, "c"))
}

// A receiver that has not come back for a while is known to hang before its calls time out: whoever comes is put back, for
// longer and longer, and does not wait in a slot.
func TestHangingIsNoticedEarly(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	fill(t, l, "a")
	now := time.Now()
	last := time.Duration(0)
	for _, after := range []time.Duration{2 * webhook.Brisk, 4 * time.Second, 20 * time.Second} {
		now = now.Add(after)
		park, ok := l.EnterAt(t.Context(), "a", now)
		require.False(t, ok)
		require.Greater(t, park, last)
		last = park
	}
	require.Greater(t, last, 5*time.Second)

	answers(t, l, "b") // one that has answered is given the benefit of the doubt
	fill(t, l, "b")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	park, _ := l.EnterAt(gone, "b", time.Now().Add(4*time.Second))
	require.Less(t, park, time.Second)
	park, _ = l.EnterAt(gone, "b", time.Now().Add(20*time.Second))
	require.Greater(t, park, time.Second)
	require.Zero(t, l.Waiting())
}

// Who finds no place in a lane of a receiver that answers quickly waits, and gets the first that is free, in turn.
func TestWaitingForAPlace(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	answers(t, l, "a")
	fill(t, l, "a")
	order := make(chan int, 5)
	for i := range 5 {
		go func() {
			_, ok := l.Enter(t.Context(), "a")
			if ok {
				order <- i
			}
		}()
		require.Eventually(t, func() bool { return l.Waiting() == i+1 }, patience, time.Millisecond)
	}
	for i := range 5 {
		l.Leave("a", time.Millisecond, time.Millisecond)
		require.Equal(t, i, <-order)
	}
	require.Zero(t, l.Waiting())
}

// Who finds no place in a lane of a receiver that answers slowly is put back, the next one for longer than the one
// before, and nobody for more than a minute.
func TestParking(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	answers(t, l, "a")
	fill(t, l, "a")
	for range webhook.LaneWidth {
		l.Leave("a", 30*time.Second, 30*time.Second)
	}
	require.Equal(t, webhook.FirstWidth, fill(t, l, "a"), "a slow lane is narrow")
	last := time.Duration(0)
	for i := range 200 {
		park, ok := l.Enter(t.Context(), "a")
		require.False(t, ok)
		require.GreaterOrEqual(t, park, webhook.MinPark)
		require.LessOrEqual(t, park, webhook.MaxPark)
		if i < 2 {
			require.Greater(t, park, last)
		}
		last = park
	}
	require.Zero(t, l.Waiting(), "nobody holds a slot for a slow receiver")

	l.Leave("a", time.Millisecond, time.Millisecond) // it has recovered
	require.Equal(t, 2, fill(t, l, "a"), "and earns its places again")
}

// A place that was held without a call says nothing of the receiver.
func TestPlaceWithoutACall(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	answers(t, l, "a")
	require.Equal(t, webhook.LaneWidth, fill(t, l, "a"))
	l.Leave("a", 30*time.Second, 30*time.Second)
	l.Leave("a", time.Millisecond, -1)
	for range webhook.LaneWidth - 2 {
		l.Leave("a", time.Minute, -1)
	}
	require.Equal(t, webhook.FirstWidth, fill(t, l, "a"))
}

// However many receivers hang, some places are left for the others.
func TestRoomForOthers(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	taken := 0
	for i := range webhook.Slots / webhook.LaneWidth {
		answers(t, l, fmt.Sprint("hangs", i))
	}
	for i := range webhook.Slots / webhook.LaneWidth {
		taken += fill(t, l, fmt.Sprint("hangs", i))
	}
	require.Less(t, taken, webhook.Slots*9/10)
	for i := range 100 {
		require.Positive(t, fill(t, l, fmt.Sprint("quick", i)))
	}
}

func TestIdleLanesAreForgotten(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	fill(t, l, "busy")
	for i := range webhook.MaxIdleLanes + 100 {
		_, ok := l.Enter(t.Context(), fmt.Sprint(i))
		require.True(t, ok)
		l.Leave(fmt.Sprint(i), 0, 0)
	}
	require.LessOrEqual(t, l.Known(), webhook.MaxIdleLanes)
	require.Zero(t, fill(t, l, "busy"), "a lane that somebody is in is kept")
}

func TestLanesUnderLoad(t *testing.T) {
	t.Parallel()
	l := webhook.NewLanes()
	var busy [4]atomic.Int64
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			lane := i % len(busy)
			_, ok := l.Enter(t.Context(), fmt.Sprint(lane))
			if !ok {
				return
			}
			if n := busy[lane].Add(1); n > webhook.LaneWidth {
				t.Errorf("%d calls at once", n)
			}
			time.Sleep(time.Millisecond) // a call
			busy[lane].Add(-1)
			l.Leave(fmt.Sprint(lane), time.Millisecond, time.Millisecond)
		})
	}
	wg.Wait()
	for i := range busy {
		require.Equal(t, webhook.LaneWidth, fill(t, l, fmt.Sprint(i)), "places that nobody gave back")
	}
}

// Callers who come while a batch is under way are in the next one, together.
func TestBatches(t *testing.T) {
	t.Parallel()
	var sizes []int
	entered, gate := make(chan struct{}, 100), make(chan struct{})
	b := webhook.NewBatcher(8, func(_ context.Context, in []int) ([]int, error) {
		sizes = append(sizes, len(in))
		entered <- struct{}{}
		<-gate
		out := make([]int, len(in))
		for i, n := range in {
			out[i] = n * n
		}
		return out, nil
	})
	var wg sync.WaitGroup
	ask := func(n int) {
		wg.Go(func() {
			got, err := b.Call(n)
			if err != nil || got != n*n {
				t.Errorf("%d: %d %v", n, got, err)
			}
		})
	}
	ask(1)
	<-entered
	for n := range 20 {
		ask(n)
	}
	require.Eventually(t, func() bool { return b.Pending() == 20 }, patience, time.Millisecond)
	close(gate)
	wg.Wait()
	require.Equal(t, []int{1, 8, 8, 4}, sizes)
}

// One that fails does not keep the others from being done.
func TestBatchWithOneThatFails(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	gate, entered := make(chan struct{}), make(chan struct{}, 100)
	b := webhook.NewBatcher(100, func(_ context.Context, in []int) ([]int, error) {
		entered <- struct{}{}
		<-gate
		for _, n := range in {
			if n == 3 {
				return nil, bad
			}
		}
		return in, nil
	})
	var wg sync.WaitGroup
	var failed atomic.Int64
	for n := range 6 {
		wg.Go(func() {
			got, err := b.Call(n)
			switch {
			case n == 3 && errors.Is(err, bad):
				failed.Add(1)
			case n == 3 || err != nil || got != n:
				t.Errorf("%d: %d %v", n, got, err)
			}
		})
	}
	<-entered
	close(gate)
	wg.Wait()
	require.EqualValues(t, 1, failed.Load())
	short := webhook.NewBatcher(100, func(context.Context, []int) ([]int, error) { return nil, nil })
	_, err := short.Call(1)
	require.Error(t, err)
}

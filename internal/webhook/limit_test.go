package webhook_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/webhook"
)

// fill takes all free places of a receiver, and returns the functions that give them back.
func fill(t *testing.T, l webhook.Limits, receiver string) (leaves []func(bool)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a job that would have to wait returns at once
	for {
		leave, snooze := l.Enter(ctx, receiver)
		if snooze > 0 {
			return leaves
		}
		leaves = append(leaves, leave)
	}
}

// The attempts under way for a receiver are limited; other receivers are not affected.
func TestLimitOfAReceiver(t *testing.T) {
	t.Parallel()
	l := webhook.NewLimits()
	leaves := fill(t, l, "a")
	require.Len(t, leaves, webhook.PerReceiver)
	require.Len(t, fill(t, l, "b"), webhook.PerReceiver)
	leaves[0](true)
	require.Len(t, fill(t, l, "a"), 1)
}

// A job that finds no place of a fast receiver waits, and each place that is given back lets one job in.
func TestWaitingForAPlace(t *testing.T) {
	t.Parallel()
	l := webhook.NewLimits()
	leaves := fill(t, l, "a")
	entered := make(chan int, 5)
	for i := range 5 {
		go func() {
			if _, snooze := l.Enter(t.Context(), "a"); snooze == 0 {
				entered <- i
			}
		}()
		require.Eventually(t, func() bool { return l.Waiting() == i+1 }, patience, time.Millisecond)
	}
	var in []int
	for i := range 5 {
		leaves[i](true)
		in = append(in, <-entered)
		require.Equal(t, 4-i, l.Waiting())
	}
	require.ElementsMatch(t, []int{0, 1, 2, 3, 4}, in)
}

// A job that finds no place of a receiver that has not answered for a while snoozes, each job longer than the one before it, and
// none for more than a minute. It holds no slot of the node meanwhile.
func TestSnoozing(t *testing.T) {
	t.Parallel()
	l := webhook.NewLimits()
	leaves := fill(t, l, "a")
	l.Age("a", 20*time.Second)
	last := time.Duration(0)
	for i := range 200 {
		_, snooze := l.Enter(t.Context(), "a")
		require.GreaterOrEqual(t, snooze, webhook.MinSnooze)
		require.LessOrEqual(t, snooze, webhook.MaxSnooze)
		if i < 10 {
			require.Greater(t, snooze, last)
		}
		last = snooze
	}
	require.Equal(t, webhook.MaxSnooze, last.Round(time.Second))
	require.Zero(t, l.Waiting())

	leaves[0](true) // the receiver has recovered
	require.Len(t, fill(t, l, "a"), 1)
}

// However many receivers hang, some slots are left for the others.
func TestRoomForOthers(t *testing.T) {
	t.Parallel()
	l := webhook.NewLimits()
	taken := 0
	for i := range webhook.Slots / webhook.PerReceiver {
		name := fmt.Sprint("hangs", i)
		leave, _ := l.Enter(t.Context(), name)
		l.Age(name, 20*time.Second)
		leave(false)
		first, _ := l.Enter(t.Context(), name)
		require.NotNil(t, first)
		l.Age(name, 20*time.Second)
		taken += 1 + len(fill(t, l, name))
	}
	require.Less(t, taken, webhook.Slots*3/4)
	for i := range 20 {
		require.Len(t, fill(t, l, fmt.Sprint("quick", i)), webhook.PerReceiver)
	}
}

// However many receivers a company has, and however fast they are, its attempts leave three quarters of the slots to other companies.
func TestLimitOfACompany(t *testing.T) {
	t.Parallel()
	l := webhook.NewLimits()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	take := func(company string, receivers int) (leaves []func(bool)) {
		for i := range receivers * webhook.PerReceiver {
			if leave, snooze := l.EnterOf(ctx, company, fmt.Sprint(company, i%receivers)); snooze == 0 {
				leaves = append(leaves, leave)
			}
		}
		return leaves
	}
	leaves := take("greedy", 50)
	require.Len(t, leaves, webhook.PerCompany)
	require.Len(t, take("other", 10), 10*webhook.PerReceiver)
	leaves[0](true)
	_, snooze := l.EnterOf(ctx, "greedy", "greedy0")
	require.Zero(t, snooze, "a place of its own is free again")
	_, snooze = l.EnterOf(ctx, "greedy", "greedy49")
	require.NotZero(t, snooze)
}

func TestIdleReceiversAreForgotten(t *testing.T) {
	t.Parallel()
	l := webhook.NewLimits()
	leaves := fill(t, l, "busy")
	for i := range 1000 {
		leave, snooze := l.Enter(t.Context(), fmt.Sprint(i))
		require.Zero(t, snooze)
		leave(true)
	}
	require.Equal(t, 1, l.Known())
	require.Empty(t, fill(t, l, "busy"), "a receiver that somebody is at is kept")
	for _, leave := range leaves {
		leave(true)
	}
	require.Zero(t, l.Known())
}

func TestLimitsUnderLoad(t *testing.T) {
	t.Parallel()
	l := webhook.NewLimits()
	var busy [4]atomic.Int64
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			leave, snooze := l.Enter(t.Context(), fmt.Sprint(i%len(busy)))
			if snooze > 0 {
				return
			}
			if n := busy[i%len(busy)].Add(1); n > webhook.PerReceiver {
				t.Errorf("%d calls at once", n)
			}
			time.Sleep(time.Millisecond) // a call
			busy[i%len(busy)].Add(-1)
			leave(true)
		})
	}
	wg.Wait()
	for i := range busy {
		require.Len(t, fill(t, l, fmt.Sprint(i)), webhook.PerReceiver, "places that nobody gave back")
	}
}

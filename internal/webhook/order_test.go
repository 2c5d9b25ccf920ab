package webhook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

// numbered is a delivery as a receiver reads it.
type numbered struct {
	Sequence int64
	Data     struct{ ID string }
}

func read(t testing.TB, got receiver.Got) (n numbered) {
	t.Helper()
	require.NoError(t, json.Unmarshal(got.Body, &n))
	return n
}

// arrived returns the numbers of a resource's events in the order of their arrival.
func arrived(t testing.TB, r *receiver.Receiver, subject string) (out []int64) {
	t.Helper()
	for _, got := range r.Got() {
		if n := read(t, got); n.Data.ID == subject {
			out = append(out, n.Sequence)
		}
	}
	return out
}

// happened makes n events of company A, one after the other, each in a transaction of its own.
func (o *office) happened(t testing.TB, subject string, n int) {
	t.Helper()
	for range n {
		require.NoError(t, emitIn(o.World, o.A, events.RequestCreated, subject, nil))
	}
}

// second opens a second node on PostgreSQL; SQLite has one.
func second(t *testing.T, w *testkit.World) {
	t.Helper()
	if w.Store.Dialect() == dialect.Postgres {
		open(t, w.Node(t))
	}
}

// Ten events of one resource reach a slow receiver in their order, one at a time, with many workers and two nodes; so do those of
// others beside them.
func TestEventsOfOneResourceArriveInOrder(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var underway, most atomic.Int64
		r := receiver.New(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			most.Store(max(most.Load(), underway.Add(1)))
			time.Sleep(30 * time.Millisecond)
			underway.Add(-1)
		}))
		o := open(t, w)
		second(t, w)
		o.subscribe(t, r.URL)
		for range 10 {
			for _, subject := range []string{"req_1", "req_2", "req_3"} {
				o.happened(t, subject, 1)
			}
		}
		r.Await(t, 30)
		for _, subject := range []string{"req_1", "req_2", "req_3"} {
			require.Equal(t, upTo(10), arrived(t, r, subject))
		}
		require.LessOrEqual(t, most.Load(), int64(3), "one of each")
		require.Greater(t, most.Load(), int64(1), "they do not wait for each other")
	})
}

// After a failed attempt, later events of the resource do not wait for the retry.
func TestAFailedAttemptLetsOthersPass(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var calls atomic.Int64
		r := receiver.New(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if calls.Add(1) == 1 {
				time.Sleep(50 * time.Millisecond)
				rw.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		o.subscribe(t, r.URL)
		o.happened(t, "req_1", 3)
		r.Await(t, 3)
		require.Equal(t, upTo(3), arrived(t, r, "req_1"))
		require.Eventually(t, func() bool { return o.pending(t) == 1 }, patience, 5*time.Millisecond, "the first one waits for its retry")
	}, schedule(time.Hour))
}

// While a resource's event is on its first attempt, the others of the resource wait, and nothing else does: not another resource, nor
// another subscription.
func TestASlowResourceHoldsUpNoOther(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		release := make(chan struct{})
		var calls atomic.Int64
		slow := receiver.New(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if calls.Add(1) == 1 {
				<-release
			}
		}))
		quick := receiver.New(t, nil)
		o.subscribe(t, slow.URL)
		o.happened(t, "req_slow", 1)
		slow.Await(t, 1)
		o.subscribe(t, quick.URL)
		o.happened(t, "req_slow", 60)
		o.happened(t, "req_other", 1)
		quick.Await(t, 61)
		slow.Await(t, 2)
		require.Equal(t, upTo(1), arrived(t, slow, "req_slow"))
		require.Equal(t, upTo(1), arrived(t, slow, "req_other"))
		close(release)
		slow.Await(t, 62)
		require.Equal(t, upTo(61), arrived(t, slow, "req_slow"))
	}, func(_ *webhook.Options, e *egress.Options) { e.Timeout = time.Minute })
}

// When the node that makes a first attempt is killed, later events of the resource wait until another node has made it.
func TestOrderAfterAKill(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		r := receiver.New(t, nil)
		first := open(t, w)
		first.stop()
		first.subscribe(t, r.URL)
		first.happened(t, "req_1", 1)
		abandon(t, w)
		first.happened(t, "req_1", 3)
		o := open(t, w)
		r.Await(t, 4)
		require.Equal(t, upTo(4), arrived(t, r, "req_1"))
		require.Eventually(t, func() bool { return o.pending(t) == 0 }, patience, 10*time.Millisecond)
	})
}

// An attempt that this node gives up because it stops has not ended: later events wait until the next node makes it.
func TestOrderAfterAStop(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var calls atomic.Int64
		r := receiver.New(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			if calls.Add(1) == 1 {
				receiver.Hang().ServeHTTP(rw, req)
			}
		}))
		o := open(t, w, func(_ *webhook.Options, e *egress.Options) { e.Timeout = time.Minute })
		o.subscribe(t, r.URL)
		o.happened(t, "req_1", 3)
		r.Await(t, 1)
		o.stop()
		open(t, w)
		r.Await(t, 4)
		require.Equal(t, []int64{1, 1, 2, 3}, arrived(t, r, "req_1"))
	})
}

// A delivery whose job is gone holds the later ones up for a day, and no longer.
func TestALostJobHoldsUpForADay(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, nil)
		s := o.subscribe(t, r.URL)
		o.happened(t, "req_1", 2)
		r.Await(t, 2)
		require.Eventually(t, func() bool { return o.pending(t) == 0 }, patience, 5*time.Millisecond)
		lose := func(due time.Duration) {
			require.NoError(t, o.Store.Write(o.asOwner(), func(ctx context.Context, tx *store.Tx) error {
				return tx.WebhookDelivery.Update().Where(webhookdelivery.SubscriptionID(s.ID), webhookdelivery.OutcomeEQ(webhookdelivery.OutcomeSUCCESS)).
					SetOutcome(webhookdelivery.OutcomePENDING).ClearAttempts().SetNextAttemptAt(o.Clock.Now().Add(-due)).Exec(ctx)
			}))
		}
		lose(webhook.BelievedAlive - time.Minute)
		o.happened(t, "req_1", 1)
		time.Sleep(300 * time.Millisecond)
		require.Len(t, r.Got(), 2)
		require.NoError(t, o.Store.Write(o.asOwner(), func(ctx context.Context, tx *store.Tx) error {
			return tx.WebhookDelivery.Update().Where(webhookdelivery.NextAttemptAtLT(o.Clock.Now().Add(-time.Hour))).
				SetNextAttemptAt(o.Clock.Now().Add(-webhook.BelievedAlive - time.Minute)).Exec(ctx)
		}))
		r.Await(t, 3)
	})
}

// What a subscription has missed is replayed in order, too.
func TestMissedEventsAreReplayedInOrder(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		since := o.Clock.Now()
		o.happened(t, "req_1", 8)
		r := receiver.New(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }))
		s := o.subscribe(t, r.URL)
		testkit.Run(t, o.World, o.asOwner(), webhook.ReplayEvents, webhook.ReplayEventsInput{BySubscription: by(s), Since: since})
		r.Await(t, 8)
		require.Equal(t, upTo(8), arrived(t, r, "req_1"))
	})
}

// Of the jobs that wait for an earlier event, the first ones in line keep their worker, and few of all together.
func TestFewWaitInLine(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := webhook.NewOrder()
	end := o.Begin("whd_1")
	var wg sync.WaitGroup
	for range webhook.MaxBehind {
		wg.Go(func() { o.Await(ctx, "whd_1", webhook.MaxInLine) })
	}
	require.Eventually(t, func() bool { return o.Waiting() == webhook.MaxBehind }, patience, time.Millisecond)
	require.False(t, o.Await(ctx, "whd_1", 1), "too many wait")
	end()
	wg.Wait()
	require.Zero(t, o.Waiting())
	require.Zero(t, o.Ours())
	require.False(t, o.Await(ctx, "whd_1", webhook.MaxInLine+1), "it is far behind")
	require.True(t, o.Await(ctx, "whd_1", 1), "another node has the earlier one")
	cancel()
	require.False(t, o.Await(ctx, "whd_1", 1), "the node stops")
	require.Equal(t, time.Second, webhook.SnoozeBehind(1, 0))
	require.Equal(t, 2*time.Second, webhook.SnoozeBehind(2*webhook.MaxInLine, 20*time.Second))
	require.Equal(t, 6*time.Second, webhook.SnoozeBehind(1, time.Minute))
	require.Equal(t, webhook.MaxSnooze, webhook.SnoozeBehind(1, time.Hour))
}

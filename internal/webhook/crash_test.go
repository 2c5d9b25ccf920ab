package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

// abandon makes all waiting jobs of deliveries look as if their node was killed while it ran them.
func abandon(t *testing.T, w *testkit.World) {
	t.Helper()
	set := "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = datetime('now', 'subsec'), attempted_by = jsonb('[\"node_dead\"]') WHERE kind = 'webhook'"
	if w.Store.Dialect() == dialect.Postgres {
		set = "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = ARRAY['node_dead'] WHERE kind = 'webhook'"
	}
	require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return ent.DriverOf(tx.Client).Exec(ctx, set, []any{}, nil)
	}))
}

// When a node is killed during an attempt, another one makes the attempt, with the same id; the history shows the interrupted
// attempt.
func TestAttemptOfADeadNode(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		r := receiver.New(t, nil)
		first := open(t, w)
		first.stop()
		first.subscribe(t, r.URL)
		first.emit(t, events.RequestCreated, "req_1")
		abandon(t, w)
		o := open(t, w)
		d, attempts := o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))
		require.Len(t, attempts, 2)
		require.Equal(t, 1, d.RetryCount)
		require.Nil(t, attempts[0].StatusCode)
		require.True(t, strings.HasPrefix(*attempts[0].Error, "interrupted: "), *attempts[0].Error)
		require.WithinDuration(t, time.Now(), attempts[0].At, time.Minute)
		require.Equal(t, 204, *attempts[1].StatusCode)
		require.Len(t, r.Got(), 1)
	})
}

// An interrupted attempt uses up none of the five retries.
func TestInterruptionsAreNoRetries(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		r := receiver.New(t, receiver.Status(500, ""))
		first := open(t, w)
		first.stop()
		first.subscribe(t, r.URL)
		first.emit(t, events.RequestCreated, "req_1")
		abandon(t, w)
		o := open(t, w)
		_, attempts := o.await(t, outcome(webhookdelivery.OutcomeFAILED))
		require.Len(t, attempts, 7)
		require.Len(t, r.Got(), 6)
	})
}

// Every error of a job counts as an attempt unless it says that nothing was sent, no matter what wrote it: a node that died,
// River when it gave the job up, or a panic.
func TestUnknownErrorsAreInterruptions(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	require.Equal(t, 4, webhook.Lost(w.Store, "orphaned: the process died", "Stuck job rescued by JobRescuer", "panic: nil map", "record an attempt: busy"))
	require.Zero(t, webhook.Lost(w.Store, "not sent: load the delivery: busy"))
}

// A node that is stopped gives up calls that do not end, and the next node makes them again.
func TestStoppedInTheMiddle(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var once sync.Once
		r := receiver.New(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			hang := false
			once.Do(func() { hang = true })
			if hang {
				receiver.Hang().ServeHTTP(rw, req)
			}
		}))
		o := open(t, w, func(_ *webhook.Options, e *egress.Options) { e.Timeout = time.Minute })
		o.subscribe(t, r.URL)
		o.emit(t, events.RequestCreated, "req_1")
		r.Await(t, 1)
		o.stop()
		d, attempts := o.await(t, attempted(1))
		require.Equal(t, webhookdelivery.OutcomePENDING, d.Outcome)
		require.NotNil(t, d.NextAttemptAt)
		require.True(t, strings.HasPrefix(*attempts[0].Error, "interrupted: "), *attempts[0].Error)
		o = open(t, w)
		o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))
		got := r.Await(t, 2)
		require.Equal(t, got[0].Header.Get("webhook-id"), got[1].Header.Get("webhook-id"))
	})
}

// Events of transactions that are rolled back are never delivered, and those of committed ones are delivered once, in any mixture
// and with any number of nodes. The history agrees with what the receiver got.
func TestExactlyTheCommittedEvents(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		r := receiver.New(t, nil)
		o := open(t, w)
		second(t, w)
		o.subscribe(t, r.URL)
		const n, subjects = 400, 5 // one subject's go out one after the other
		undo := errors.New("undo")
		var wg sync.WaitGroup
		slots := make(chan struct{}, 16)
		for i := range n {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				_ = o.Store.Write(o.asOwner(), func(ctx context.Context, tx *store.Tx) error {
					err := o.Engine.Events.Emit(ctx, tx, events.Event{
						Name: events.RequestCreated, SubjectID: "req_" + strconv.Itoa(i%subjects), At: o.Clock.Now(), Data: events.Request{},
					})
					if err == nil && i%4 == 0 {
						return undo
					}
					return err
				})
			})
		}
		wg.Wait()
		committed, err := o.Store.Reader().Event.Query().Where(event.SubjectIDHasPrefix("req_")).IDs(o.asOwner())
		require.NoError(t, err)
		require.Len(t, committed, n*3/4)
		r.Await(t, len(committed))
		require.Eventually(t, func() bool { return o.pending(t) == 0 }, patience, 10*time.Millisecond)
		var ids []string
		for _, g := range r.Got() {
			ids = append(ids, g.Header.Get("webhook-id"))
		}
		require.ElementsMatch(t, committed, ids)
		for _, d := range o.deliveries(t) {
			require.Equal(t, webhookdelivery.OutcomeSUCCESS, d.Outcome)
			require.Zero(t, d.RetryCount)
		}
	})
}

// Moving the development clock makes retries due: when no job is due any more, they have been made.
func TestDevelopmentClock(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, receiver.Status(503, ""))
		o.subscribe(t, r.URL)
		o.emit(t, events.RequestCreated, "req_1")
		o.await(t, attempted(1))
		for i, by := range webhook.DefaultRetries {
			o.Later(t, by)
			require.Eventually(t, func() bool {
				due, err := o.queue.Due(context.Background())
				return err == nil && due == 0
			}, patience, 5*time.Millisecond)
			require.Len(t, r.Got(), i+2, "the retry after %s", by)
			d, attempts := o.await(t, attempted(i+2))
			require.WithinDuration(t, o.Clock.Now(), attempts[i+1].At, 30*time.Second, "times are the product's")
			require.Equal(t, i == 4, d.Outcome == webhookdelivery.OutcomeFAILED)
		}
	}, schedule(webhook.DefaultRetries...))
}

package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
)

// sink is a receiver that counts deliveries and records when each event arrived.
type sink struct {
	url     string
	arrived atomic.Int64
	first   sync.Map // webhook-id → time.Time
	change  chan struct{}
}

func newSink(b testing.TB) *sink {
	s := &sink{change: make(chan struct{}, 1)}
	r := receiver.NewBare(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.first.LoadOrStore(r.Header.Get("webhook-id"), time.Now())
		s.arrived.Add(1)
		select {
		case s.change <- struct{}{}:
		default:
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	s.url = r
	return s
}

func (s *sink) await(b testing.TB, n int64) {
	late := time.After(5 * time.Minute)
	for s.arrived.Load() < n {
		select {
		case <-s.change:
		case <-late:
			require.FailNow(b, "deliveries are missing", "%d of %d", s.arrived.Load(), n)
		}
	}
}

// happen emits n events of company A, each about a request of its own, atOnce of them concurrently.
func happen(b testing.TB, w *testkit.World, n, atOnce int) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			err := w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				return w.Engine.Events.Emit(ctx, tx, events.Event{
					Name: events.RequestCreated, SubjectID: fmt.Sprint("req_", i), At: w.Clock.Now(),
					Data: events.Request{ID: fmt.Sprint(i), Title: "A new laptop", Status: "PENDING", Priority: "MEDIUM"},
				})
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

// BenchmarkDeliveries measures deliveries a second, from events that happen 16 at a time, to a sink with TLS: of the first event of each
// resource, and then of a second one (later/s), which looks whether the first was attempted. For comparison it measures a plain loop
// that posts the same bodies, 10 at a time, to the same sink by the same client.
func BenchmarkDeliveries(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		s := newSink(b)
		o := open(b, w)
		o.subscribe(b, s.url)
		happen(b, w, 50, 16) // warm up
		s.await(b, 50)
		b.ResetTimer()
		began := time.Now()
		happen(b, w, b.N, 16)
		s.await(b, 50+int64(b.N))
		rate := float64(b.N) / time.Since(began).Seconds()
		b.StopTimer()
		began = time.Now()
		happen(b, w, b.N, 16)
		s.await(b, 50+2*int64(b.N))
		b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "later/s")
		b.ReportMetric(rate, "deliveries/s")
		if families, err := o.registry.Gather(); err == nil {
			for _, f := range families {
				if f.GetName() == "atrium_webhook_snoozed_total" {
					b.ReportMetric(f.GetMetric()[0].GetCounter().GetValue()/float64(b.N), "snoozed/op")
				}
			}
		}
		floor := floor(b, s.url, b.N)
		b.ReportMetric(floor, "floor/s")
		b.ReportMetric(floor/rate, "floor/rate")
	})
}

// floor posts bodies, and returns how many it posted a second.
func floor(b testing.TB, url string, n int) float64 {
	c := receiver.Client(b, 0)
	body, err := events.Payload(events.RequestCreated, time.Now(), events.Request{ID: "req_1", Title: "A new laptop"})
	require.NoError(b, err)
	var left atomic.Int64
	left.Store(int64(n))
	began := time.Now()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				req, _ := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
				if _, err := c.Do(context.Background(), req, egress.Limits{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// BenchmarkFirstAttempt measures from the commit of an event to the arrival of its delivery, at 100 events a second.
func BenchmarkFirstAttempt(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		s := newSink(b)
		o := open(b, w)
		o.subscribe(b, s.url)
		happen(b, w, 20, 4)
		s.await(b, 20)
		s.first.Clear()
		n := max(b.N, 300)
		commits := make([]time.Time, n)
		ids := make([]string, n)
		b.ResetTimer()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		var wg sync.WaitGroup
		for i := range n {
			<-tick.C
			wg.Go(func() {
				err := w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) (err error) {
					e := events.Event{Name: events.RequestCreated, SubjectID: fmt.Sprint("req_", i), At: w.Clock.Now(), Data: events.Request{}}
					tx.AfterCommit(func() { commits[i] = time.Now() })
					return w.Engine.Events.Emit(ctx, tx, e)
				})
				if err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		s.await(b, int64(20+n))
		b.StopTimer()
		rows, err := w.Store.Reader().Event.Query().All(w.As(w.A, principal.Owner))
		require.NoError(b, err)
		for _, e := range rows {
			var i int
			if _, err := fmt.Sscanf(e.SubjectID, "req_%d", &i); err == nil {
				ids[i] = e.ID
			}
		}
		var took []time.Duration
		for i, id := range ids {
			if at, ok := s.first.Load(id); ok {
				took = append(took, max(0, at.(time.Time).Sub(commits[i])))
			}
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	})
}

// BenchmarkEmit measures the cost of an event for a company without subscriptions, compared with writing only the event's row.
func BenchmarkEmit(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		for what, write := range map[string]func(context.Context, *store.Tx, events.Event) error{
			"emit": w.Engine.Events.Emit,
			"row alone": func(ctx context.Context, tx *store.Tx, e events.Event) error {
				_, err := events.Record(ctx, tx.Client, e)
				return err
			},
		} {
			b.Run(what, func(b *testing.B) {
				ctx := w.As(w.A, principal.Owner)
				e := events.Event{Name: events.RequestCreated, SubjectID: "req_1", At: w.Clock.Now(), Data: events.Request{ID: "req_1"}}
				b.ResetTimer()
				for range b.N {
					if err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return write(ctx, tx, e) }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

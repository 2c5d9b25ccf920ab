package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/company"
	"atrium/internal/egress"
	"atrium/internal/events"
	"atrium/internal/outbox"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
	"atrium/internal/testkit/receiver"
	"atrium/internal/webhook"
)

const (
	crowdCompanies = 20
	crowdEach      = 50  // subscriptions of a company
	crowdHanging   = 5   // of them
	crowdEvents    = 160 // in all: 8 a company, 400 deliveries a second in all
	crowdEvery     = 125 * time.Millisecond
)

// BenchmarkHangingReceivers has 1,000 subscriptions, of which 100 hang for as long as they are let, and measures how long
// the others' deliveries take from before the commit to their arrival, beside the same without any that hangs.
func BenchmarkHangingReceivers(b *testing.B) {
	eachBench(b, func(b *testing.B, w *testkit.World) {
		for range b.N {
			calm := crowd(b, w, 0)
			hung := crowd(b, w, crowdHanging)
			b.ReportMetric(ms(calm, 50), "calm-p50-ms")
			b.ReportMetric(ms(calm, 99), "calm-p99-ms")
			b.ReportMetric(ms(hung, 50), "hung-p50-ms")
			b.ReportMetric(ms(hung, 99), "hung-p99-ms")
			b.ReportMetric(ms(hung, 99)/ms(calm, 99), "ratio-p99")
		}
	})
}

func ms(sorted []time.Duration, percent int) float64 {
	return float64(sorted[(len(sorted)-1)*percent/100].Microseconds()) / 1000
}

// crowd delivers to the crowd, in which so many subscriptions of each company hang, and returns how long the others'
// deliveries took, sorted.
func crowd(b *testing.B, w *testkit.World, hanging int) []time.Duration {
	b.Helper()
	var mu sync.Mutex
	var took []time.Duration
	arrived := make(chan struct{}, 1)
	sink := receiver.NewBare(b, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		at := time.Now()
		var body struct{ Data events.Request }
		raw, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(raw, &body)
		if began, err := strconv.ParseInt(body.Data.Title, 10, 64); err == nil {
			mu.Lock()
			took = append(took, at.Sub(time.Unix(0, began)))
			mu.Unlock()
			select {
			case arrived <- struct{}{}:
			default:
			}
		}
		rw.WriteHeader(http.StatusNoContent)
	}))
	hang := receiver.NewBare(b, receiver.Hang())
	o := open(b, w, func(o *webhook.Options, e *egress.Options) { e.Timeout, o.Retries = 30*time.Second, nil })
	defer o.stop()
	companies := make([]context.Context, crowdCompanies)
	for i := range companies {
		companies[i] = o.settle(b, fmt.Sprintf("owner-%d-%d@crowd.test", hanging, i), func(n int) string {
			if n < hanging {
				return hang + "/" + fmt.Sprint(n)
			}
			return sink + "/" + fmt.Sprint(n)
		})
	}
	for i := range crowdEvents {
		began := time.Now()
		ctx := companies[i%crowdCompanies]
		p, _ := principal.From(ctx)
		err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return outbox.Emit(ctx, tx, outbox.Event{
				CompanyID: p.CompanyID, Name: events.RequestCreated, SubjectID: "req_1", At: w.Clock.Now(),
				Data: events.Request{Title: strconv.FormatInt(began.UnixNano(), 10)},
			})
		})
		require.NoError(b, err)
		time.Sleep(time.Until(began.Add(crowdEvery))) // the load's own rhythm
	}
	want := crowdEvents * (crowdEach - hanging)
	late := time.After(2 * time.Minute)
	for {
		mu.Lock()
		n := len(took)
		mu.Unlock()
		if n >= want {
			break
		}
		select {
		case <-arrived:
		case <-late:
			require.FailNow(b, "deliveries are missing", "%d of %d", n, want)
		}
	}
	slices.Sort(took)
	return took
}

// settle makes a company with its subscriptions, and returns a context in which its owner calls.
func (o *office) settle(b *testing.B, email string, url func(n int) string) context.Context {
	b.Helper()
	c, err := company.Create(context.Background(), o.Store, company.CreateInput{Name: "Crowd", Plan: "enterprise", OwnerEmail: email, RedirectURI: "http://127.0.0.1/callback"})
	require.NoError(b, err)
	ctx := o.AsUser(c.Owner)
	for n := range crowdEach {
		testkit.Run(b, o.World, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: url(n), Events: []string{events.RequestCreated}})
	}
	return ctx
}

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

	"atrium/ent"
	"atrium/internal/op/events"
	"atrium/internal/people/company"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

const (
	crowdCompanies = 20
	crowdEach      = 50  // subscriptions per company
	crowdHanging   = 5   // of them, how many hang
	crowdEvents    = 160 // in total: 8 per company, 400 deliveries a second in total
	crowdEvery     = 125 * time.Millisecond
	crowdRounds    = 3
)

// BenchmarkHangingReceivers has 1,000 subscriptions, of which 100 never answer. It measures how long the deliveries of the others
// take from before the commit to their arrival, and compares that with a run in which none hangs. It alternates the two several
// times, so that other load on the machine affects both, and reports the medians.
func BenchmarkHangingReceivers(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		var calm, hung, ratios []float64
		var calm50, hung50 []float64
		for range b.N {
			for round := range crowdRounds {
				quiet, loud := crowd(b, w, 2*round, 0), crowd(b, w, 2*round+1, crowdHanging)
				calm50, hung50 = append(calm50, ms(quiet, 50)), append(hung50, ms(loud, 50))
				calm, hung = append(calm, ms(quiet, 99)), append(hung, ms(loud, 99))
				ratios = append(ratios, ms(loud, 99)/ms(quiet, 99))
				b.Logf("p99 calm %.1f ms, hung %.1f ms", ms(quiet, 99), ms(loud, 99))
			}
		}
		b.ReportMetric(median(calm50), "calm-p50-ms")
		b.ReportMetric(median(calm), "calm-p99-ms")
		b.ReportMetric(median(hung50), "hung-p50-ms")
		b.ReportMetric(median(hung), "hung-p99-ms")
		b.ReportMetric(median(ratios), "ratio-p99")
	})
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

func ms(sorted []time.Duration, percent int) float64 {
	return float64(sorted[(len(sorted)-1)*percent/100].Microseconds()) / 1000
}

// crowd delivers to subscriptions of its own, of which hanging in each company never answer, and returns how long the deliveries
// of the others took, sorted. It deletes everything at the end.
func crowd(b *testing.B, w *testkit.World, round, hanging int) []time.Duration {
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
	defer func() {
		o.stop()
		require.NoError(b, w.Store.Write(principal.System(context.Background(), "benchmark"), func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.WebhookSubscription.Delete().Exec(ctx); err != nil { // with the deliveries that are still under way
				return err
			}
			return ent.DriverOf(tx.Client).Exec(ctx, "DELETE FROM river_job WHERE queue = 'webhooks'", []any{}, nil)
		}))
	}()
	companies := make([]context.Context, crowdCompanies)
	for i := range companies {
		companies[i] = o.settle(b, fmt.Sprintf("owner-%d-%d@crowd.test", round, i), func(n int) string {
			if n < hanging {
				return hang + "/" + fmt.Sprint(n)
			}
			return sink + "/" + fmt.Sprint(n)
		})
	}
	for i := range crowdEvents {
		began := time.Now()
		ctx := companies[i%crowdCompanies]
		err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return w.Engine.Events.Emit(ctx, tx, events.Event{
				Name: events.RequestCreated, SubjectID: fmt.Sprint("req_", i), At: w.Clock.Now(),
				Data: events.Request{Title: strconv.FormatInt(began.UnixNano(), 10)},
			})
		})
		require.NoError(b, err)
		time.Sleep(time.Until(began.Add(crowdEvery))) // keeps the rhythm of the load
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

package merkle_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// BenchmarkSealing measures how many requests four callers create a second while a sealer runs and while none does, in turns. It
// reports the median of the ratios. What was left unsealed is sealed between the turns.
func BenchmarkSealing(b *testing.B) {
	const turn = 2 * time.Second
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		s := testkit.Run(b, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(b, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		in := request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"}
		create := func() float64 {
			var n atomic.Int64
			var callers sync.WaitGroup
			end := time.Now().Add(turn)
			for range 4 {
				callers.Go(func() {
					for time.Now().Before(end) {
						testkit.Run(b, w, ctx, request.Create, in)
						n.Add(1)
					}
				})
			}
			callers.Wait()
			return float64(n.Load()) / turn.Seconds()
		}
		sealer := merkle.NewSealer(w.Store, slog.New(slog.DiscardHandler))
		create() // warm up
		var ratios, rates []float64
		sealed := func() float64 {
			running, stop := context.WithCancel(b.Context())
			var done sync.WaitGroup
			done.Go(func() { _ = sealer.Run(running) })
			n := create()
			stop()
			done.Wait()
			return n
		}
		for i := 0; b.Loop(); i++ {
			turns := []func() float64{create, sealed}
			var made [2]float64
			for k := range turns {
				turn := (i + k) % 2 // either is first every other time
				require.NoError(b, sealer.SealAll(b.Context()))
				made[turn] = turns[turn]()
			}
			rates, ratios = append(rates, made[1]), append(ratios, made[1]/made[0])
		}
		slices.Sort(rates)
		slices.Sort(ratios)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(rates[len(rates)/2], "creates/s")
		b.ReportMetric(ratios[len(ratios)/2], "ratio")
		b.ReportMetric(ratios[0], "least-ratio")
		b.ReportMetric(ratios[len(ratios)-1], "most-ratio")
	})
}

package graph_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/graph"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// BenchmarkThousandStreams sends one change to a thousand streams of one company, and measures how long the first and the last of
// them wait for it, from before it is made. Memory is that of the server and of its clients together.
func BenchmarkThousandStreams(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		b.Run(name, func(b *testing.B) {
			const streams = 1000
			s := serveStreams(b, world(b), func(o *graph.Options) {
				o.Streams = graph.StreamLimits{PerPrincipal: streams, PerCompany: streams, PerNode: streams}
			})
			h := opened(b, s.Server)
			before := inUse()
			var open []*opening
			for i := range streams {
				open = append(open, s.watch(b, []apitest.Caller{s.A.Owner, s.A.OwnerKey, s.A.Agent}[i%3], watchRequests, nil))
			}
			memory := float64(inUse()-before) / streams / 1024
			var first, last []time.Duration
			for b.Loop() {
				began := time.Now()
				r := h.filed(b, s.Server, principal.Owner, fmt.Sprint("one of ", b.N))
				waits := make([]time.Duration, streams)
				var all sync.WaitGroup
				for i, o := range open {
					all.Go(func() {
						e := <-o.events
						waits[i] = e.at.Sub(began)
						if e.get("data.requestChanged.request.id") != r.ID {
							b.Errorf("another event: %s", e.data)
						}
					})
				}
				all.Wait()
				first, last = append(first, slices.Min(waits)), append(last, slices.Max(waits))
				time.Sleep(150 * time.Millisecond) // the pause after events, which is not measured
			}
			slices.Sort(first)
			slices.Sort(last)
			require.NotEmpty(b, last)
			b.ReportMetric(memory, "KiB/stream")
			b.ReportMetric(float64(first[len(first)/2].Microseconds())/1000, "ms-first")
			b.ReportMetric(float64(last[len(last)/2].Microseconds())/1000, "ms-last")
		})
	}
}

// inUse returns the bytes of heap and stacks that are in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

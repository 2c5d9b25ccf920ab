package agent_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/agentaction"
	"atrium/internal/test/testkit"
)

// BenchmarkProposal measures the time from a request's creation to its proposal by the engine history, at 50 requests a second, in
// a company with 500 finished requests.
func BenchmarkProposal(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		d := open(b, w)
		for i := range 244 {
			d.finished(d.ctx, fmt.Sprintf("vpn tunnel drops at home %d", i), d.network)
			d.finished(d.ctx, fmt.Sprintf("laptop screen broken %d", i), d.hardware)
		}
		d.hire("SUGGEST")
		d.work()
		propose := func(n int) (took []time.Duration) {
			began := d.Clock.Now()
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() { d.file(d.staff(), fmt.Sprintf("the tunnel of my laptop drops %d", i)) })
				time.Sleep(20 * time.Millisecond)
			}
			wg.Wait()
			require.Eventually(b, func() bool {
				list, err := d.Store.Reader().AgentAction.Query().Where(agentaction.CreatedAtGTE(began)).WithRequest().All(d.ctx)
				require.NoError(b, err)
				took = took[:0]
				for _, a := range list {
					took = append(took, a.CreatedAt.Sub(a.Edges.Request.CreatedAt))
				}
				return len(took) == n
			}, patience, 100*time.Millisecond)
			return took
		}
		propose(50) // warm up
		took := propose(max(b.N, 500))
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
		b.ReportMetric(float64(took[len(took)*95/100].Milliseconds()), "p95-ms")
	})
}

package inbound_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/request"
	"atrium/internal/platform/egress"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/workflow/execution"
)

// Processes are killed between the receipt of calls and the work on them, at random moments: each call has one execution, which
// completes and files one request.
func TestProcessesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		h := open(t, w, withOffering(alert))
		var ids []string
		w.KillNodes(t, 4, "TestProcessThatWorks", receiver.CAFile(t), func(int) {
			for range 3 {
				ids = append(ids, h.take(h.signed(`{"name":"Disk","host":"db-1","load":1}`)).ExecutionID)
			}
		})
		h.work()
		for _, id := range ids {
			e := h.at(id, "COMPLETED")
			require.NotNil(t, e.RequestID)
			n, err := h.Store.Reader().Request.Query().Where(request.ExecutionID(id)).Count(h.ctx)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
		n, err := h.Store.Reader().Request.Query().Count(h.ctx)
		require.NoError(t, err)
		require.Len(t, ids, n, "none was filed twice, or for nothing")
		require.Len(t, ids, h.executions())
	})
}

// TestProcessThatWorks is the process that is killed. It does nothing in any other process.
func TestProcessThatWorks(t *testing.T) {
	if w, ca := testkit.OpenNode(t); w != nil {
		out, err := egress.New(egress.Options{Allow: receiver.Loopback, CAFile: ca})
		require.NoError(t, err)
		w.WorkUntilKilled(t, execution.New(execution.Options{Engine: w.Engine, Egress: out}).Work())
	}
}

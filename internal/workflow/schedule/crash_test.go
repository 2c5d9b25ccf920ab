package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
	"atrium/internal/workflow/schedule"
)

// Nodes are killed while schedules fall due: each planned time has one run, and one request.
func TestNodesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		o := open(t, w)
		in := o.filing()
		anHourAgo := time.Now().UTC().Add(-time.Hour)
		in.Cron, in.TimeZone = new(fmt.Sprintf("%d %d * * *", anHourAgo.Minute(), anHourAgo.Hour())), "UTC"
		made := 0
		w.KillNodes(t, 4, "TestNodeThatRunsSchedules", "", func(int) {
			o.Clock.SetOffset(-2 * time.Hour)
			for range 25 {
				o.create(o.owner, in)
				made++
			}
			o.Later(o.t, 2*time.Hour)
		})
		o.work()
		o.settled()
		all, err := o.Store.Reader().Schedule.Query().All(o.owner)
		require.NoError(t, err)
		require.Len(t, all, made)
		for _, s := range all {
			ran := o.runs(s.ID)
			require.Len(t, ran, 1)
			require.Equal(t, "STARTED", string(ran[0].Status))
		}
		require.Len(t, o.requests(), made)
	})
}

// TestNodeThatRunsSchedules is the process that is killed. It does nothing in any other process.
func TestNodeThatRunsSchedules(t *testing.T) {
	w, _ := testkit.OpenNode(t)
	if w == nil {
		return
	}
	w.WorkUntilKilled(t, schedule.Work(w.Engine))
}

package agent_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/internal/agent"
	"atrium/internal/agent/runs"
	"atrium/internal/op"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// idle waits until no job is due any more.
func (d *desk) idle() {
	d.t.Helper()
	require.Eventually(d.t, func() bool { return must(d.Queue.Due(d.ctx))(d.t) == 0 }, patience, tick)
}

// An AUTONOMOUS run whose agent is paused while its model answers changes nothing. It goes on when the agent is resumed.
func TestPauseHoldsARunUnderWay(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		asked, held := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		t.Cleanup(release)
		m := script(t, func(n int, s sent) (int, any) {
			if n == 2 {
				close(asked)
				<-held
			}
			if len(s.Messages) > 2 {
				return http.StatusOK, told(nil)
			}
			return http.StatusOK, told(calls{{"updateRequest", strings.Replace(route, "%s", d.network, 1)}})
		})
		a := d.hireModel(m, "SUGGEST")
		d.free(a)
		id := d.file(d.ctx, "my vpn tunnel")
		<-asked
		testkit.Run(t, d.World, d.ctx, agent.Pause, op.ByID{ID: a.ID})
		run := d.run(id, agentrun.StatusRUNNING)
		at := d.trace(run)
		release()
		d.idle()
		require.Equal(t, at, d.trace(run), "after the pause had answered")
		require.Nil(t, d.request(id).TeamID)
		testkit.Run(t, d.World, d.ctx, agent.Resume, op.ByID{ID: a.ID})
		d.run(id, agentrun.StatusCOMPLETED)
		require.Equal(t, d.network, *d.request(id).TeamID)
	})
}

// A request that changes between two turns of a model is looked at anew: what the model was told does not hold any more.
func TestModelIsToldOfChangesBetweenTurns(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		asked, held := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		t.Cleanup(release)
		m := script(t, func(n int, s sent) (int, any) {
			if n == 2 {
				close(asked)
				<-held
			}
			if len(s.Messages) > 2 {
				return http.StatusOK, told(nil)
			}
			return http.StatusOK, told(calls{{"updateRequest", strings.Replace(route, "%s", d.network, 1)}})
		})
		a := d.hireModel(m, "SUGGEST")
		id := d.file(d.ctx, "my vpn tunnel")
		<-asked
		testkit.Run(t, d.World, d.ctx, agent.Pause, op.ByID{ID: a.ID})
		release()
		d.idle()
		require.NoError(t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error { // as a workflow or a key may, which stop no run
			return tx.Request.UpdateOneID(id).SetPriority(request.PriorityURGENT).Exec(ctx)
		}))
		testkit.Run(t, d.World, d.ctx, agent.Resume, op.ByID{ID: a.ID})
		run := d.run(id, agentrun.StatusPROPOSED)
		require.Equal(t, 2, run.Plans)
	})
}

// Runs whose jobs ended while their agent was paused are queued when it goes on, by resumeAgent or by publishAgent, the first ones
// first. Publishing an agent at work queues nothing again.
func TestRunsAreQueuedAgainAfterAPause(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		a := d.hire("SUGGEST")
		d.standing(a, 120, func(c *ent.AgentRunCreate) *ent.AgentRunCreate { return c.SetStatus(agentrun.StatusQUEUED) })
		testkit.Run(t, d.World, d.ctx, agent.Publish, op.ByID{ID: a.ID})
		require.Empty(t, d.queued(), "each has its job")
		for i, goOn := range []*op.Operation[op.ByID, *ent.Agent]{agent.Resume, agent.Publish} {
			testkit.Run(t, d.World, d.ctx, agent.Pause, op.ByID{ID: a.ID})
			testkit.Run(t, d.World, d.ctx, goOn, op.ByID{ID: a.ID})
			require.Equal(t, map[int]int{1: 50 * (i + 1), 2: 50 * (i + 1), 3: 20 * (i + 1)}, d.queued())
		}
	})
}

// queued returns how many jobs of runs wait, by priority.
func (d *desk) queued() map[int]int {
	d.t.Helper()
	out := map[int]int{}
	for _, j := range d.Unfinished(d.t, d.A.Company.ID) {
		if j.Kind == (runs.RunArgs{}).Kind() {
			out[j.Priority]++
		}
	}
	return out
}

// Nothing is done after pauseAgent has answered to an approval that comes at the same time.
func TestPauseAgainstWrites(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		hired := d.hire("ACT_WITH_APPROVAL")
		runs := d.standing(hired, testkit.Rounds(t, batch), waiting)
		plans := make([]planned, len(runs))
		for i, run := range runs {
			plans[i] = d.plan(run)
		}
		approved := 0
		for i, a := range d.keep(runs, plans) {
			var at string
			var err error
			var wg sync.WaitGroup
			wg.Go(func() {
				testkit.Run(t, d.World, d.ctx, agent.Pause, op.ByID{ID: hired.ID})
				at = d.trace(runs[i])
			})
			wg.Go(func() { err = d.approve(a.ID, a.Digest) })
			wg.Wait()
			require.Equal(t, at, d.trace(runs[i]), "after the pause had answered")
			require.Equal(t, err == nil, d.row(runs[i].RequestID).TeamID != nil)
			if err == nil {
				approved++
			}
			testkit.Run(t, d.World, d.ctx, agent.Resume, op.ByID{ID: hired.ID})
		}
		t.Logf("%d of %d approvals came before the pause", approved, len(runs))
	})
}

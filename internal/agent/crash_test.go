package agent_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/auditentry"
	"atrium/ent/comment"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/model"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/test/testkit"
)

// lastTurn is the last turn of the runs in these tests: eight reads, a turn with two writes, and one that calls no tool.
const lastTurn = 9

// hireForTenTurns publishes an agent whose runs have ten turns. The model calls before with the number of a turn ahead of
// answering it, if before is set.
func (d *desk) hireForTenTurns(before func(turn int)) *scripted {
	d.t.Helper()
	m := script(d.t, func(_ int, s sent) (int, any) {
		turn := 0
		for _, one := range s.Messages {
			if one.Role == "assistant" {
				turn++
			}
		}
		if before != nil {
			before(turn)
		}
		switch {
		case turn < lastTurn-1:
			return http.StatusOK, told(calls{{"requests", fmt.Sprintf(`{"q":"vpn %d"}`, turn)}})
		case turn < lastTurn:
			return http.StatusOK, told(calls{
				{"updateRequest", `{"teamId":"` + d.network + `","rationale":"Like the others.","confidence":0.9}`},
				{"createComment", `{"body":"Which address do you see?","rationale":"To find the gateway.","confidence":0.4}`},
			})
		}
		return http.StatusOK, told(nil)
	})
	d.asks(m)
	hired := d.hireThinking("QUEUE_INTAKE", "ACT_WITH_APPROVAL", func(in *agent.UpdateInput) {
		in.Limits = op.SetTo(settings.Limits{Steps: 20, ModelCalls: 20, Tokens: 100_000})
	})
	d.free(hired, settings.Tool{Name: "updateRequest", Mode: "auto"}, settings.Tool{Name: "createComment", Mode: "approve"})
	return m
}

// Processes that work such runs are killed at any time, on PostgreSQL one of two. Every run ends as COMPLETED; what it does alone
// and what a person approves is done once.
func TestNodesOfAgentsAreKilled(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m := d.hireForTenTurns(nil)
		var filed []string
		d.KillNodes(t, 4, "TestProcessThatRunsAgents", m.URL, func(n int) {
			filed = append(filed, d.file(d.ctx, fmt.Sprintf("my vpn tunnel %d", n)))
			d.approveAll()
		})
		d.thinks(m)
		d.requireDoneOnce(t, filed)
	})
}

// The same holds for a process that is killed at each boundary of a run: after the call for each turn was made, and after it was
// answered, when the turn is stored or about to be.
func TestNodeIsKilledAtEachBoundary(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		const none = -1
		var next atomic.Int64 // twice the number of a turn, one more for its answer
		next.Store(none)
		reached, killed := make(chan struct{}, 1), make(chan struct{})
		m := d.hireForTenTurns(func(turn int) {
			if next.CompareAndSwap(int64(2*turn), none) {
				reached <- struct{}{}
				select { // it is not answered
				case <-killed:
				case <-t.Context().Done():
				}
			}
			if next.CompareAndSwap(int64(2*turn+1), none) {
				reached <- struct{}{}
			}
		})
		var filed []string
		node := d.StartNode(t, "TestProcessThatRunsAgents", m.URL)
		for n := range testkit.Kills(t, lastTurn+1) { // twice as many kills are at every boundary
			turn, answered := n%(lastTurn+1), (n+n/(lastTurn+1))%2
			next.Store(int64(2*turn + answered))
			filed = append(filed, d.file(d.ctx, fmt.Sprintf("my vpn tunnel %d", n)))
			select {
			case <-reached:
			case <-time.After(patience):
				t.Fatalf("no run has come to turn %d", turn)
			}
			if answered == 1 {
				time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Millisecond)))) // a turn is stored in that time
			}
			testkit.Kill(t, node)
			if answered == 0 {
				killed <- struct{}{}
			}
			d.approveAll()
			node = d.StartNode(t, "TestProcessThatRunsAgents", m.URL)
		}
		testkit.Kill(t, node)
		d.thinks(m)
		d.requireDoneOnce(t, filed)
	})
}

// requireDoneOnce waits for the end of the runs about these requests, and checks that each has done all of it once.
func (d *desk) requireDoneOnce(t *testing.T, filed []string) {
	t.Helper()
	require.Eventually(t, func() bool {
		d.approveAll()
		n, err := d.Store.Reader().AgentRun.Query().Where(agentrun.EndedAtNotNil()).Count(d.ctx)
		require.NoError(t, err)
		return n == len(filed)
	}, patience+time.Duration(len(filed))*250*time.Millisecond, 10*tick)
	for _, id := range filed {
		run, err := d.Store.Reader().AgentRun.Query().Where(agentrun.RequestID(id)).Only(d.ctx)
		require.NoError(t, err)
		require.Equal(t, agentrun.StatusCOMPLETED, run.Status, "%s", run.Reason)
		require.Equal(t, d.network, *d.request(id).TeamID)
		for action, want := range map[string]int{"request.updated": 1, "request.created": 1} {
			n, err := d.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id), auditentry.Action(action)).Count(d.ctx)
			require.NoError(t, err)
			require.Equal(t, want, n, action)
		}
		n, err := d.Store.Reader().Comment.Query().Where(comment.RequestID(id)).Count(d.ctx)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		actions, err := d.Store.Reader().AgentAction.Query().Where(agentaction.RunID(run.ID), agentaction.OperationEQ("createComment")).All(d.ctx)
		require.NoError(t, err)
		require.Len(t, actions, 1)
		require.Equal(t, agentaction.StatusAPPLIED, actions[0].Status)
	}
}

// approveAll approves what agents wait to do. An action may have been approved meanwhile.
func (d *desk) approveAll() {
	d.t.Helper()
	list, err := d.Store.Reader().AgentAction.Query().Where(agentaction.StatusEQ(agentaction.StatusPENDING)).All(d.ctx)
	require.NoError(d.t, err)
	for _, a := range list {
		_, _, err := op.Run(d.staff(), d.Engine, actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"}, nil)
		if err != nil {
			require.Equal(d.t, apperr.Conflict, code(err), "%v", err)
		}
	}
}

// TestProcessThatRunsAgents is the process that is killed; it does nothing in any other process.
func TestProcessThatRunsAgents(t *testing.T) {
	if w, url := testkit.OpenNode(t); w != nil {
		door := agent.NewDoor(w.Engine, worker.Models{Default: model.Endpoint{URL: url, Model: "m"}})
		w.Engine.Agents = door
		w.Engine.Events = append(w.Engine.Events, runs.Follow(w.Store, w.Queue))
		w.WorkUntilKilled(t, door.Work(nil))
	}
}

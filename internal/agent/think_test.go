package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/agentturn"
	"atrium/ent/request"
	"atrium/internal/agent/runner"
	"atrium/internal/agent/runs"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// If a node is killed between any two transactions of a run, at most one model call is repeated and no write. The job that was
// under way is worked again, by several nodes at once.
func TestModelRunsThatDie(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		const reads = 5
		m := script(t, func(_ int, s sent) (int, any) {
			n := 0
			for _, said := range s.Messages {
				if said.Role == "assistant" {
					n++
				}
			}
			switch {
			case n < reads:
				return http.StatusOK, told(calls{{"teams", fmt.Sprintf(`{"q":"%d"}`, n)}})
			case n == reads:
				return http.StatusOK, told(calls{{"updateRequest", strings.Replace(route, "%s", d.network, 1)}})
			}
			return http.StatusOK, told(nil)
		})
		d.hireModel(m, "ACT_WITH_APPROVAL")
		id := d.file(d.ctx, "my vpn tunnel")
		run := d.run(id, agentrun.StatusWAITING)
		whole := len(m.asked)
		require.Equal(t, reads+2, whole)
		for kept := range whole { // the state after a crash that followed this many calls, with the next job in the queue
			require.NoError(t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
				if _, err := tx.AgentAction.Delete().Where(agentaction.RunID(run.ID)).Exec(ctx); err != nil {
					return err
				}
				gone := agentturn.NGT(kept)
				if kept == 0 {
					gone = agentturn.NGTE(0)
				}
				if _, err := tx.AgentTurn.Delete().Where(agentturn.RunID(run.ID), gone).Exec(ctx); err != nil {
					return err
				}
				if err := tx.AgentRun.UpdateOneID(run.ID).SetStatus(agentrun.StatusRUNNING).Exec(ctx); err != nil {
					return err
				}
				job := jobs.Job{Args: runner.ThinkArgs{Company: run.CompanyID, Run: run.ID, Plan: run.Plans, Turn: kept + 1}}
				return d.Queue.InsertManyTx(ctx, tx, job, job, job)
			}))
			m.mu.Lock()
			before := len(m.asked)
			m.mu.Unlock()
			require.Equal(t, whole, d.run(id, agentrun.StatusWAITING).ModelCalls)
			n, err := d.Store.Reader().AgentAction.Query().Where(agentaction.RunID(run.ID)).Count(d.ctx)
			require.NoError(t, err)
			require.Equal(t, 1, n, "after %d calls", kept)
			turns, err := d.Store.Reader().AgentTurn.Query().Where(agentturn.RunID(run.ID)).Count(d.ctx)
			require.NoError(t, err)
			require.Equal(t, whole+1, turns)
			m.mu.Lock()
			require.LessOrEqual(t, len(m.asked)-before, whole-kept+2*(whole-kept), "three nodes made each call once at most")
			m.mu.Unlock()
		}
	})
}

// A model calls tools at random. With any calls and arguments its run ends, and its result is only proposals about the run's own
// request with ids that the run has read.
func TestModelThatObeysNobody(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		var condition policy.Condition
		require.NoError(t, json.Unmarshal([]byte(`{"resource.priority": "URGENT"}`), &condition))
		testkit.Run(t, d.World, d.ctx, policy.Create, policy.CreateInput{Name: "P", Effect: "RequireApproval", Action: "update", Resource: "Request", Condition: &condition})
		random := rand.New(rand.NewPCG(1, 2))
		pick := func(of ...string) string { return of[random.IntN(len(of))] }
		value := func() string {
			return pick(`"`+d.network+`"`, `"`+d.B.Company.ID+`"`, `"team_01k9zzzzzzzzzzzzzzzzzzzzzz"`, `"usr_`+"'"+` OR 1=1 --"`, `null`, `7`, `[]`, `{"a":{"b":[]}}`, `"URGENT"`, `"HIGH"`,
				`"`+strings.Repeat("x", 20_000)+`"`, `"\u0000\ud800"`, `true`, `0.5`, `"2"`)
		}
		var turn sync.Mutex // serializes concurrent calls
		m := script(t, func(int, sent) (int, any) {
			turn.Lock()
			defer turn.Unlock()
			switch random.IntN(20) {
			case 0:
				return http.StatusOK, "no answer at all"
			case 1, 2, 3:
				return http.StatusOK, told(nil)
			case 4, 5, 6, 7, 8, 9:
				return http.StatusOK, told(calls{{"teams", `{}`}, {"updateRequest", strings.Replace(route, "%s", d.network, 1)}})
			}
			var c calls
			for range random.IntN(5) {
				fields := []string{}
				for range random.IntN(6) {
					fields = append(fields, fmt.Sprintf("%q:%s", pick("id", "teamId", "assigneeId", "priority", "tags", "title", "status", "body", "visibility", "reason", "q", "rationale", "confidence", "companyId", "__proto__"), value()))
				}
				if random.IntN(2) == 0 {
					fields = append(fields, `"rationale":"because","confidence":0.7`)
				}
				c = append(c, [2]string{
					pick("updateRequest", "updateRequest", "acceptRequest", "declineRequest", "createComment", "requests", "request", "teams", "users", "handOver", "deleteUser", "", "secrets"),
					"{" + strings.Join(fields, ",") + pick("}", "}", "}", "}", "]"),
				})
			}
			return http.StatusOK, told(c)
		})
		d.hireModel(m, "SUGGEST")
		before := d.rows()
		var ids []string
		for i := range 40 {
			ids = append(ids, d.file(d.ctx, fmt.Sprintf("vpn tunnel %d", i)))
		}
		require.Eventually(t, func() bool {
			n, err := d.Store.Reader().AgentRun.Query().Where(agentrun.EndedAtNotNil()).Count(d.ctx)
			require.NoError(t, err)
			return n == len(ids)
		}, 2*patience, tick)
		after := d.rows()
		require.Equal(t, before[0]+len(ids), after[0])
		require.Equal(t, before[3], after[3], "nobody has commented")
		n, err := d.Store.Reader().Request.Query().Where(request.IDIn(ids...), request.StatusEQ(request.StatusPENDING), request.TeamIDIsNil(), request.AssigneeIDIsNil()).Count(d.ctx)
		require.NoError(t, err)
		require.Equal(t, len(ids), n, "no request has changed")
		actions, err := d.Store.Reader().AgentAction.Query().WithRun().All(d.ctx)
		require.NoError(t, err)
		require.NotEmpty(t, actions, "some of it was right")
		for _, a := range actions {
			require.Equal(t, agentaction.StatusPENDING, a.Status)
			require.Equal(t, a.Edges.Run.RequestID, a.RequestID)
			if a.Operation == "updateRequest" {
				require.NotContains(t, string(a.Arguments), "team_01k9zzzz")
			}
			require.NotContains(t, string(a.Arguments), "title")
			require.NotContains(t, string(a.Arguments), "companyId")
			if a.Operation != "createComment" { // a comment is free text
				require.NotContains(t, string(a.Arguments), d.B.Company.ID)
			}
		}
		for _, run := range must(d.Store.Reader().AgentRun.Query().All(d.ctx))(t) {
			require.Contains(t, []agentrun.Status{agentrun.StatusPROPOSED, agentrun.StatusHANDED_OVER}, run.Status, run.Reason)
		}
		_, _, err = op.Run(d.ctx, d.Engine, runs.StopAll, runs.StopAllInput{Reason: "enough"}, nil)
		require.NoError(t, err)
	})
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

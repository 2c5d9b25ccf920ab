package agent_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/auditentry"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/evaluation"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
)

// retitle changes a request with an API key, after which runs plan again.
func (d *desk) retitle(requestID, title string) {
	d.t.Helper()
	p, _ := principal.From(d.ctx)
	key := *p
	key.Method, key.KeyID = principal.MethodAPIKey, "key_1"
	testkit.Run(d.t, d.World, principal.With(d.ctx, &key), request.Update, request.UpdateInput{ByID: op.ByID{ID: requestID}, Title: op.SetTo(title)})
}

// A CUSTOM agent whose request changes while it works plans again, twice at most. Each plan is pushed with an id of its own, and may
// decide what the one before did.
func TestCustomAgentsPlanAgain(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		got := receiver.New(t, receiver.Status(204, ""))
		out := receiver.Client(t, 2*time.Second)
		d.Engine.Egress = out
		r := d.robot("ACT_WITH_APPROVAL", func(in *agent.CreateInput) { in.EndpointURL = new(got.URL) })
		d.WorkJobs(t, agent.NewDoor(d.Engine, worker.Models{}).Work(out))
		id := d.file(d.ctx, "my vpn tunnel")
		for plan := 1; plan <= 3; plan++ {
			pushed := got.Await(t, plan)[plan-1]
			run := d.run(id, agentrun.StatusQUEUED)
			require.Equal(t, run.ID+"-"+string(rune('0'+plan)), pushed.Header.Get("webhook-id"))
			testkit.Run(t, d.World, r.must(""), custom.Claim, op.ByID{ID: run.ID})
			require.Equal(t, plan, d.run(id, agentrun.StatusRUNNING).Plans)
			action, err := r.writes(r.must(run.ID), id, d.network)
			require.NoError(t, err, "in another plan it is not the same a second time")
			if plan == 2 { // the request may also change once the agent has finished
				testkit.Run(t, d.World, r.must(run.ID), custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
			}
			d.retitle(id, "my vpn tunnel "+strings.Repeat("!", plan))
			require.Equal(t, agentaction.StatusSTALE, testkit.Run(t, d.World, d.staff(), actions.Get, op.ByID{ID: action}).Status)
			_, err = r.writes(r.must(run.ID), id, d.network)
			require.Equal(t, apperr.Conflict, code(err), "the agent claims the run again")
		}
		require.Equal(t, "The request changed each time that the agent had planned.", d.run(id, agentrun.StatusHANDED_OVER).Reason)
		require.Nil(t, d.request(id).TeamID)
	})
}

// A CUSTOM agent sets the same fields as a model, has the steps of its version, and the minutes of its version from its claim on,
// however often it calls.
func TestLimitsOfCustomAgents(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.robot("ACT_WITH_APPROVAL")
		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: r.agent.ID}, Limits: op.SetTo(settings.Limits{Steps: 2, Minutes: 6})})
		testkit.Run(t, d.World, d.ctx, agent.Publish, op.ByID{ID: r.agent.ID})
		d.work()
		id, run := r.claimed(d.ctx)
		ctx := r.must(run.ID)
		_, _, err := op.Run(ctx, d.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Title: op.SetTo("PWNED")}, nil)
		require.Equal(t, "title", refusedFields(err))
		for range 3 {
			testkit.Run(t, d.World, ctx, custom.AddStep, custom.StepInput{ByID: op.ByID{ID: run.ID}, Kind: "read", Operation: "request", Result: "R"})
		}
		require.Equal(t, "The run has had its 2 steps.", d.run(id, agentrun.StatusHANDED_OVER).Reason)

		id, run = r.claimed(d.ctx)
		for _, by := range []time.Duration{4 * time.Minute, 3 * time.Minute} {
			r.must(run.ID) // renews the lease
			d.Later(t, by)
		}
		require.Equal(t, "The agent has had the minutes of the run.", d.run(id, agentrun.StatusHANDED_OVER).Reason)
	})
}

// A run's page tells what the agent did: a step of kind act with the arguments, and an action, in the transaction of the effect.
func TestRunsTellWhatTheyDid(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		hired := d.hire("ACT_WITH_APPROVAL")
		d.work()
		arguments := `{"teamId":"` + d.network + `"}`
		did := func(requestID, result string) {
			t.Helper()
			run := d.run(requestID, agentrun.StatusCOMPLETED)
			steps, err := runs.StepsOf(run)
			require.NoError(t, err)
			require.Len(t, steps, 3)
			for i, kind := range []string{"read", "decide", "act"} {
				require.Equal(t, []any{i + 1, kind}, []any{steps[i].N, steps[i].Kind})
			}
			require.JSONEq(t, arguments, string(steps[1].Arguments))
			require.JSONEq(t, arguments, string(steps[2].Arguments))
			require.Equal(t, []any{"updateRequest", []string{requestID}, result}, []any{steps[2].Operation, steps[2].Rows, steps[2].Result})
			a := d.action(run)
			require.Equal(t, agentaction.StatusAPPLIED, a.Status)
			require.Contains(t, d.audited(requestID), a.ID)
		}
		id := d.file(d.ctx, "my vpn tunnel")
		d.approved(id)
		did(id, "Done, as a person has approved.")

		d.free(hired)
		id = d.file(d.ctx, "my vpn tunnel")
		did(id, "Done.")
		now := d.Store.Clock().Now()
		stats := testkit.Run(t, d.World, d.staff(), runs.Stats, runs.StatsInput{Input: period.Input{From: now.Add(-time.Hour), To: now.Add(time.Hour)}, By: "agent"})
		require.Equal(t, 2, stats[0].Applied)
	})
}

// audited returns the changes of a request's update in the audit log.
func (d *desk) audited(requestID string) string {
	d.t.Helper()
	e, err := d.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(requestID), auditentry.Action("request.updated")).Only(d.ctx)
	require.NoError(d.t, err)
	return string(e.Changes)
}

// What a run did itself does not make its other actions stale: they wait for a decision about the request as it is now, with another
// digest.
func TestActionsOfARunGoTogether(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		because := `"rationale":"It is ours.","confidence":0.9}`
		both := calls{{"updateRequest", `{"priority":"HIGH",` + because}, {"acceptRequest", `{` + because}}
		m := script(t, nil)
		ask := func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.asked, m.answer = nil, says(both)
		}
		ask()
		intake := d.hireModel(m, "ACT_WITH_APPROVAL", func(in *agent.UpdateInput) { in.Filter = op.SetTo("request.title == 'approve'") })
		d.hireThinking("QUEUE_INTAKE", "SUGGEST", func(in *agent.UpdateInput) { in.Filter = op.SetTo("request.title == 'suggest'") })
		alone := d.hireThinking("QUEUE_INTAKE", "SUGGEST", func(in *agent.UpdateInput) { in.Filter = op.SetTo("request.title == 'alone'") })
		d.free(alone, settings.Tool{Name: "updateRequest", Mode: "auto"}, settings.Tool{Name: "acceptRequest", Mode: "approve"})
		of := func(run *ent.AgentRun) map[string]*ent.AgentAction {
			out := map[string]*ent.AgentAction{}
			for _, a := range must(d.Store.Reader().AgentAction.Query().Where(agentaction.RunID(run.ID)).All(d.ctx))(t) {
				out[a.Operation] = a
			}
			require.Len(t, out, 2)
			return out
		}

		id := d.file(d.ctx, "approve")
		run := d.run(id, agentrun.StatusWAITING)
		require.Equal(t, intake.ID, run.AgentID)
		before := of(run)
		require.NoError(t, d.approve(before["updateRequest"].ID, before["updateRequest"].Digest))
		after := of(d.run(id, agentrun.StatusWAITING))["acceptRequest"]
		require.Equal(t, agentaction.StatusPENDING, after.Status)
		require.Equal(t, apperr.Conflict, code(d.approve(after.ID, before["acceptRequest"].Digest)), "the request was another one")
		require.NoError(t, d.approve(after.ID, after.Digest))
		require.Equal(t, 1, d.run(id, agentrun.StatusCOMPLETED).Plans)
		require.EqualValues(t, "IN_PROGRESS", d.request(id).Status)
		require.Len(t, m.asked, 2)

		ask()
		id = d.file(d.ctx, "suggest")
		for _, a := range of(d.run(id, agentrun.StatusPROPOSED)) {
			testkit.Run(t, d.World, d.staff(), actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: a.ID}})
		}
		require.Equal(t, []any{"HIGH", "IN_PROGRESS"}, []any{string(d.request(id).Priority), string(d.request(id).Status)})

		ask()
		id = d.file(d.ctx, "alone")
		list := of(d.run(id, agentrun.StatusWAITING))
		require.EqualValues(t, "HIGH", d.request(id).Priority)
		require.Equal(t, agentaction.StatusAPPLIED, list["updateRequest"].Status)
		d.retitle(id, "else") // by somebody else
		require.Equal(t, agentaction.StatusSTALE, testkit.Run(t, d.World, d.staff(), actions.Get, op.ByID{ID: list["acceptRequest"].ID}).Status)
	})
}

// The limits are those of a run, over all of its plans. Its page and its figures tell what all of them read, decided and cost.
func TestBudgetsHoldForAllPlans(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		asked, held := make(chan struct{}), make(chan struct{})
		m := script(t, func(n int, _ sent) (int, any) {
			if n == 2 {
				close(asked)
				<-held
			}
			return http.StatusOK, told(calls{{"teams", `{"q":"` + strings.Repeat("a", n) + `"}`}})
		})
		d.hireModel(m, "SUGGEST", func(in *agent.UpdateInput) { in.Limits = op.SetTo(settings.Limits{ModelCalls: 3}) })
		id := d.file(d.ctx, "my vpn tunnel")
		<-asked
		d.retitle(id, "our vpn tunnel")
		close(held)
		run := d.run(id, agentrun.StatusHANDED_OVER)
		require.Equal(t, "The run has had its 3 calls of the model.", run.Reason)
		require.Equal(t, []int{2, 3, 300, 60}, []int{run.Plans, run.ModelCalls, run.InputTokens, run.OutputTokens})
		steps, err := runs.StepsOf(run)
		require.NoError(t, err)
		var of []string
		for i, s := range steps {
			require.Equal(t, i+1, s.N)
			of = append(of, s.Operation)
		}
		require.Equal(t, []string{"request", "teams", "teams", "request", "teams"}, of)
	})
}

// A replay of a run that a limit ended has no writes either.
func TestReplayOfARunOutOfBudget(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m := script(t, func(n int, _ sent) (int, any) {
			if n == 1 {
				return http.StatusOK, told(calls{{"updateRequest", strings.Replace(route, "%s", d.network, 1)}})
			}
			return http.StatusOK, told(calls{{"teams", `{"q":"` + strings.Repeat("a", n) + `"}`}})
		})
		d.hireModel(m, "SUGGEST")
		run := d.run(d.file(d.ctx, "my vpn tunnel"), agentrun.StatusHANDED_OVER)
		require.Contains(t, run.Reason, "steps")
		again := testkit.Run(t, d.World, d.ctx, evaluation.Replay, evaluation.ReplayInput{ByID: op.ByID{ID: run.ID}})
		require.True(t, *again.Same)
		require.Empty(t, again.Actions)
	})
}

// A person's edits of a proposal leave the digits of large numbers in what they do not edit.

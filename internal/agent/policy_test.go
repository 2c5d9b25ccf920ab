package agent_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/auditentry"
	"atrium/internal/agent"
	"atrium/internal/agent/custom"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// policy creates an access policy.
func (d *desk) policy(effect, action, resource, condition string) {
	d.t.Helper()
	c := policy.NewCondition([]byte(condition))
	testkit.Run(d.t, d.World, d.ctx, policy.Create, policy.CreateInput{Name: "P", Effect: effect, Action: action, Resource: resource, Condition: &c})
}

// approved lets a person of the staff approve the action of a run that waits for one.
func (d *desk) approved(requestID string) *ent.AgentAction {
	d.t.Helper()
	a := d.action(d.run(requestID, agentrun.StatusWAITING))
	require.Equal(d.t, agentaction.KindACTION, a.Kind)
	require.NoError(d.t, d.approve(a.ID, a.Digest))
	d.run(requestID, agentrun.StatusCOMPLETED)
	return a
}

func (d *desk) comments(requestID string) []*ent.Comment {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.staff(), request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: requestID}}).Rows
}

// A company that lets agents do nothing without an approval still lets them work on their runs. What they would change waits.
func TestWhereEverythingTakesAnApproval(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.policy("RequireApproval", "*", "*", `{}`)
		r := d.robot("ACT_WITH_APPROVAL", func(in *agent.CreateInput) { in.Filter = new("request.title.startsWith('my')") })
		m := script(t, says(calls{{"createComment", `{"body":"Which address do you see?","rationale":"To find the gateway.","confidence":0.4}`}}))
		d.free(d.hireModel(m, "SUGGEST"))

		id, run := r.claimed(d.ctx)
		ctx := r.must(run.ID)
		testkit.Run(t, d.World, ctx, custom.AddStep, custom.StepInput{ByID: op.ByID{ID: run.ID}, Kind: "decide", Operation: "updateRequest", Result: "A tunnel is the network's."})
		_, err := r.writes(ctx, id, d.network)
		require.NoError(t, err)
		testkit.Run(t, d.World, ctx, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
		d.approved(id)
		require.Equal(t, d.network, *d.request(id).TeamID)

		id = d.file(d.ctx, "your vpn tunnel")
		d.run(id, agentrun.StatusWAITING)
		require.Empty(t, d.comments(id))
		d.approved(id)
		require.Equal(t, "Which address do you see?", d.comments(id)[0].Body, "an AUTONOMOUS agent waits, too")
	})
}

// An opinion is attached at once unless a policy makes agents' comments wait. The request may change meanwhile, because an opinion
// is about the task.
func TestOpinionsThatTakeAnApproval(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.policy("RequireApproval", "create", "Comment", `{"resource.visibility": "internal"}`)
		r := d.robot("SUGGEST", onPhases)
		m := script(t, says(calls{{"createComment", `{"body":"Look below the battery.","rationale":"There it is.","confidence":1}`}}))
		door := d.asks(m)
		thinks := d.hireThinking("WORKFLOW_PHASE", "SUGGEST")
		d.process(door.Work(nil), body{"role": "responsible", "type": "user", "id": d.A.Owner.ID},
			body{"role": "consulted", "type": "agent", "id": r.agent.ID}, body{"role": "consulted", "type": "agent", "id": thinks.ID})
		id := d.file(d.ctx, "my vpn tunnel")
		of := func(a *ent.Agent, status agentrun.Status) (run *ent.AgentRun) {
			require.Eventually(t, func() bool {
				var err error
				run, err = d.Store.Reader().AgentRun.Query().Where(agentrun.AgentID(a.ID), agentrun.StatusEQ(status)).Only(d.ctx)
				return err == nil
			}, patience, tick)
			return run
		}
		run := of(r.agent, agentrun.StatusQUEUED)
		testkit.Run(t, d.World, r.must(""), custom.Claim, op.ByID{ID: run.ID})
		ctx := r.must(run.ID)
		testkit.Run(t, d.World, ctx, custom.AddStep, custom.StepInput{ByID: op.ByID{ID: run.ID}, Kind: "decide", Operation: "createComment", Result: "It is on the lid."})
		testkit.Run(t, d.World, ctx, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
		testkit.Run(t, d.World, d.staff(), request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Title: op.SetTo("my tunnel")})
		for _, a := range []*ent.Agent{r.agent, thinks} {
			run := of(a, agentrun.StatusWAITING)
			waits := d.action(run)
			require.NotContains(t, d.authors(id), a.ID)
			require.NoError(t, d.approve(waits.ID, waits.Digest))
			require.Contains(t, d.authors(id), a.ID)
			of(a, agentrun.StatusCOMPLETED)
		}
	})
}

// authors returns who has commented on a request.
func (d *desk) authors(requestID string) (ids []string) {
	d.t.Helper()
	for _, c := range d.comments(requestID) {
		ids = append(ids, c.AuthorID)
	}
	return ids
}

// A write whose result a policy denies is neither tried nor kept for an approval. A refusal when it is done hands the run over with
// the reason.
func TestWhatPoliciesDeny(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for range 6 {
			urgent := d.finished(d.ctx, "the heating is cold", d.hardware)
			require.NoError(t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.Request.UpdateOneID(urgent).SetPriority("URGENT").Exec(ctx)
			}))
		}
		d.policy("Deny", "update", "Request", `{"principal.type": "agent", "resource.priority": "URGENT"}`)
		decides := d.hire("ACT_WITH_APPROVAL", func(in *agent.CreateInput) { in.Filter = new("request.title.startsWith('the heating')") })
		m := script(t, says(calls{{"updateRequest", `{"priority":"URGENT","rationale":"x","confidence":1}`}}))
		thinks := d.hireModel(m, "SUGGEST")
		d.free(thinks)
		id := d.file(d.ctx, "the heating is cold")
		require.Equal(t, "The agent may not change the request.", d.run(id, agentrun.StatusHANDED_OVER).Reason)
		require.Equal(t, decides.ID, d.run(id, agentrun.StatusHANDED_OVER).AgentID)
		id = d.file(d.ctx, "my vpn tunnel")
		require.Contains(t, d.run(id, agentrun.StatusHANDED_OVER).Reason, "without proposing", "the model is told")
		require.Len(t, m.asked, 2)

		asked, held := make(chan struct{}), make(chan struct{})
		m.mu.Lock()
		m.asked, m.answer = nil, func(n int, s sent) (int, any) {
			if n == 2 {
				close(asked)
				<-held
				return http.StatusOK, told(nil)
			}
			return http.StatusOK, told(calls{{"updateRequest", `{"priority":"HIGH","rationale":"x","confidence":1}`}})
		}
		m.mu.Unlock()
		id = d.file(d.ctx, "my vpn tunnel")
		<-asked
		d.policy("Deny", "update", "Request", `{"principal.type": "agent"}`)
		close(held)
		run := d.run(id, agentrun.StatusHANDED_OVER)
		require.Equal(t, "The agent was refused: The access policies do not allow this.", run.Reason)
		refused, err := d.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id), auditentry.OutcomeEQ(auditentry.OutcomeDenied)).Only(d.ctx)
		require.NoError(t, err)
		require.Contains(t, string(refused.Changes), run.ID, "the log tells of which run it was")
		require.Len(t, m.asked, 2, "and nobody is asked again")
	})
}

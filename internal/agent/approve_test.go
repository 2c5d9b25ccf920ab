package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/agentversion"
	"atrium/ent/auditentry"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/settings"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// free makes an agent's published version AUTONOMOUS in the database. Publishing would require a passed evaluation.
func (d *desk) free(a *ent.Agent, tools ...settings.Tool) {
	d.t.Helper()
	require.NoError(d.t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
		v, err := tx.AgentVersion.Query().Where(agentversion.AgentID(a.ID)).Only(ctx)
		if err != nil {
			return err
		}
		s := map[string]any{}
		if err := json.Unmarshal(v.Settings, &s); err != nil {
			return err
		}
		s["autonomy"] = "AUTONOMOUS"
		if len(tools) > 0 {
			s["tools"] = tools
		}
		raw, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if err := tx.AgentVersion.DeleteOne(v).Exec(ctx); err != nil {
			return err
		}
		return tx.AgentVersion.Create().SetAgentID(a.ID).SetVersion(v.Version).SetSettings(raw).SetPublishedAt(v.PublishedAt).
			SetPublishedBy(v.PublishedBy).Exec(ctx)
	}))
}

// require creates a policy that makes agents wait for an approval.
func (d *desk) require(condition string) string {
	d.t.Helper()
	c := policy.NewCondition([]byte(condition))
	return testkit.Run(d.t, d.World, d.ctx, policy.Create, policy.CreateInput{
		Name: "Agents wait", Effect: "RequireApproval", Action: "update", Resource: "Request", Condition: &c,
	}).ID
}

// The mode of a call is the strictest of the autonomy level, the tool's own mode and the company's policies.
func TestTheStrictestMode(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		hired := d.hire("SUGGEST")
		d.free(hired)
		d.work()
		id := d.file(d.ctx, "my vpn tunnel")
		run := d.run(id, agentrun.StatusCOMPLETED)
		require.Equal(t, d.network, *d.request(id).TeamID, "nothing has it wait")
		entry, err := d.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id), auditentry.Action("request.updated")).Only(d.ctx)
		require.NoError(t, err)
		require.Equal(t, hired.ID, entry.ActorID)
		require.Contains(t, string(entry.Changes), run.ID)

		d.require(`{"resource.title": {"prefix": "my"}}`)
		id = d.file(d.ctx, "my vpn tunnel")
		a := d.action(d.run(id, agentrun.StatusWAITING))
		require.Equal(t, agentaction.KindACTION, a.Kind, "a policy has it wait")
		require.Nil(t, d.request(id).TeamID)
		testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"})
		require.Equal(t, d.network, *d.request(id).TeamID)
		d.run(d.file(d.ctx, "your vpn tunnel"), agentrun.StatusCOMPLETED)
		testkit.Run(t, d.World, d.staff(), request.Accept, op.ByID{ID: id}) // people do not wait

		d.free(hired, settings.Tool{Name: "updateRequest", Mode: "approve"})
		d.run(d.file(d.ctx, "your vpn tunnel"), agentrun.StatusWAITING)
		d.free(hired, settings.Tool{Name: "updateRequest", Mode: "off"})
		d.run(d.file(d.ctx, "your vpn tunnel"), agentrun.StatusHANDED_OVER)
	})
}

// explainAccess names the policy that makes an agent wait.
func TestWhatHasAnAgentWaitIsExplained(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		hired := d.hire("ACT_WITH_APPROVAL")
		id := d.file(d.ctx, "my vpn tunnel")
		pol := d.require(`{}`)
		ask := func(who string) policy.Explanation {
			return testkit.Run(t, d.World, d.ctx, policy.Explain, policy.ExplainInput{PrincipalID: who, Action: "update", ResourceType: "Request", ResourceID: &id})
		}
		why := ask(hired.ID)
		require.True(t, why.Allowed)
		require.Equal(t, policy.DecidedBy{Kind: "policy", ID: pol, Name: "Agents wait", Effect: "RequireApproval"}, why.DecidedBy)
		require.Equal(t, "Allow", ask(d.A.Users[principal.Agent].ID).DecidedBy.Effect)
		_, _, err := op.Run(d.As(d.B, principal.Owner), d.Engine, policy.Explain, policy.ExplainInput{PrincipalID: hired.ID, Action: "create", ResourceType: "Request"}, nil)
		require.Equal(t, "principalId", refusedFields(err))
	})
}

// When the operator disables agents, nothing that waits is done, and people can still reject it.
func TestNoAgents(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.hire("ACT_WITH_APPROVAL")
		stop := d.work()
		id := d.file(d.ctx, "my vpn tunnel")
		a := d.action(d.run(id, agentrun.StatusWAITING))
		stop()
		d.Engine.NoAgents = true
		_, _, err := op.Run(d.staff(), d.Engine, actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"}, nil)
		require.Equal(t, apperr.Conflict, code(err))
		require.Nil(t, d.request(id).TeamID)
		rejected := testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "REJECT"})
		require.Equal(t, agentaction.StatusREJECTED, rejected.Status)
	})
}

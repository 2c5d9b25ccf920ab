package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/agentrun"
	"atrium/ent/user"
	"atrium/internal/agent"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Runs beyond the daily budget of an agent, or of all agents of a company, are handed over to people with the reason.
func TestBudgetsOfADay(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		const ofAgent, ofCompany = "The agent has had its runs of the day.", "The company's agents have had their runs of the day."
		mine := d.hire("SUGGEST", func(in *agent.CreateInput) { in.Filter = new("request.title.startsWith('my vpn')") })
		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: mine.ID}, RunsPerDay: op.SetTo(1)})
		testkit.Run(t, d.World, d.ctx, agent.Publish, op.ByID{ID: mine.ID})
		d.hire("SUGGEST")
		testkit.Run(t, d.World, d.ctx, company.Update, company.UpdateInput{AgentRunsPerDay: op.SetTo(2)})
		d.work()
		d.run(d.file(d.ctx, "my vpn tunnel"), agentrun.StatusPROPOSED)
		for range 3 {
			require.Equal(t, ofAgent, d.run(d.file(d.ctx, "my vpn tunnel"), agentrun.StatusHANDED_OVER).Reason)
		}
		d.run(d.file(d.ctx, "your vpn tunnel"), agentrun.StatusPROPOSED) // a run beyond its agent's budget does not count for the company
		id := d.file(d.ctx, "your vpn tunnel")
		require.Equal(t, ofCompany, d.run(id, agentrun.StatusHANDED_OVER).Reason)
		require.Nil(t, d.request(id).TeamID)

		inside := d.sandbox()
		inside.hire("SUGGEST")
		for range 2 {
			inside.run(inside.file(inside.ctx, "my vpn tunnel"), agentrun.StatusPROPOSED)
		}
		require.Equal(t, ofCompany, inside.run(inside.file(inside.ctx, "my vpn tunnel"), agentrun.StatusHANDED_OVER).Reason, "its own runs, the same number")

		d.Store.Clock().SetOffset(24*time.Hour + time.Minute)
		d.run(d.file(d.ctx, "my vpn tunnel"), agentrun.StatusPROPOSED)
		testkit.Run(t, d.World, d.ctx, company.Update, company.UpdateInput{AgentRunsPerDay: op.Clear[int]()})
		for range 3 {
			d.run(d.file(d.ctx, "your vpn tunnel"), agentrun.StatusPROPOSED)
		}
	})
}

// When many runs begin at the same time on several nodes, exactly the company's budget of them goes on.
func TestBudgetsHoldForAllNodes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.hire("SUGGEST")
		testkit.Run(t, d.World, d.ctx, company.Update, company.UpdateInput{AgentRunsPerDay: op.SetTo(5)})
		for range 15 {
			d.file(d.ctx, "my vpn tunnel")
		}
		for range 3 {
			d.work()
		}
		runs := d.Store.Reader().AgentRun.Query()
		require.Eventually(t, func() bool {
			return must(runs.Clone().Where(agentrun.EndedAtNotNil()).Count(d.ctx))(t) == 15
		}, patience, tick)
		require.Equal(t, 5, must(runs.Clone().Where(agentrun.StatusEQ(agentrun.StatusPROPOSED)).Count(d.ctx))(t))
		require.Equal(t, 10, must(runs.Clone().Where(agentrun.StatusEQ(agentrun.StatusHANDED_OVER), agentrun.Plans(0)).Count(d.ctx))(t))
	})
}

// A company with very many runs lets those of others go first.
func TestManyRunsLetOthersGoFirst(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		other := fill(&desk{World: d.World, t: t, ctx: d.As(d.B, principal.Owner)})
		d.hire("SUGGEST")
		other.hire("SUGGEST")
		for range 120 {
			d.file(d.ctx, "my vpn tunnel")
		}
		id := other.file(other.ctx, "my vpn tunnel")
		d.work()
		runs := d.Store.Reader().AgentRun.Query()
		require.Eventually(t, func() bool { return must(runs.Clone().Where(agentrun.EndedAtNotNil()).Count(d.ctx))(t) == 120 }, patience, tick)
		ended := *other.run(id, agentrun.StatusPROPOSED).EndedAt
		require.Greater(t, must(runs.Clone().Where(agentrun.EndedAtGT(ended)).Count(d.ctx))(t), 50)
	})
}

// sandbox returns a desk in the sandbox of company A.
func (d *desk) sandbox() *desk {
	d.t.Helper()
	all := principal.System(d.t.Context(), "test")
	owner := must(d.Store.Reader().User.Query().Where(user.CompanyID(d.A.Sandbox.ID), user.RoleEQ(user.RoleOwner)).Only(all))(d.t)
	p, _ := principal.From(d.AsUser(owner))
	inside := *p
	inside.Sandbox = true
	return fill(&desk{World: d.World, t: d.t, ctx: principal.With(d.t.Context(), &inside)})
}

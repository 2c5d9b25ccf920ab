package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// The counts cover the runs that began in a period and the outcomes of their actions at any later time. Shadow runs count only
// for admins, and rows that policies hide count for nobody.
func TestStats(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		intake, shadow := d.hire("SUGGEST"), d.hire("SUGGEST")
		monday := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
		number := 0
		ran := func(of string, after time.Duration, status agentrun.Status, actions ...agentaction.Status) {
			number++
			require.NoError(t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
				request := tx.Request.Query().FirstIDX(ctx)
				run := tx.AgentRun.Create().SetAgentID(of).SetAgentVersion(1).SetRequestID(request).SetNumber(number).SetTrigger(agentrun.TriggerRerun).
					SetStatus(status).SetShadow(of == shadow.ID).SetModelCalls(2).SetInputTokens(2_000_000_000).SetOutputTokens(30).SetCreatedAt(monday.Add(after)).SaveX(ctx)
				for i, s := range actions {
					tx.AgentAction.Create().SetRunID(run.ID).SetRequestID(request).SetStep(i).SetKind(agentaction.KindPROPOSAL).SetOperation("updateRequest").
						SetRationale("x").SetConfidence(1).SetRows([]string{}).SetDigest("x").SetRowVersion("x").SetShadow(of == shadow.ID).SetStatus(s).SaveX(ctx)
				}
				return nil
			}))
		}
		const day = 24 * time.Hour
		ran(intake.ID, -time.Millisecond, agentrun.StatusPROPOSED, agentaction.StatusAPPLIED)
		ran(intake.ID, 0, agentrun.StatusPROPOSED, agentaction.StatusAPPLIED, agentaction.StatusREJECTED)
		ran(intake.ID, day, agentrun.StatusPROPOSED, agentaction.StatusAPPLIED, agentaction.StatusSTALE)
		ran(intake.ID, day, agentrun.StatusHANDED_OVER)
		ran(intake.ID, 6*day, agentrun.StatusCOMPLETED, agentaction.StatusEXPIRED)
		ran(intake.ID, 7*day, agentrun.StatusWAITING, agentaction.StatusPENDING)
		ran(shadow.ID, 0, agentrun.StatusSTOPPED, agentaction.StatusREJECTED)
		ran(shadow.ID, 0, agentrun.StatusFAILED)
		ran(intake.ID, 8*day, agentrun.StatusFAILED)

		in := runs.StatsInput{Input: period.Input{From: monday, To: monday.Add(8 * day)}}
		ask := func(role principal.Role, by string) []*runs.Stat {
			t.Helper()
			in.By = by
			return testkit.Run(t, d.World, d.As(d.A, role), runs.Stats, in)
		}
		cost := func(s runs.Stat) *runs.Stat {
			s.ModelCalls, s.InputTokens, s.OutputTokens = 2*s.Runs, 2e9*float64(s.Runs), 30*float64(s.Runs)
			return &s
		}
		require.Equal(t, []*runs.Stat{
			cost(runs.Stat{Key: "2026-11-16", Runs: 4, Proposed: 2, HandedOver: 1, Completed: 1, Applied: 2, Rejected: 1, Stale: 1, Expired: 1}),
			cost(runs.Stat{Key: "2026-11-23", Runs: 1, Open: 1, Waiting: 1}),
		}, ask(principal.Agent, "week"))
		require.Equal(t, []string{"2026-11-16", "2026-11-17", "2026-11-22", "2026-11-23"}, statKeys(ask(principal.Agent, "day")))
		require.Equal(t, []*runs.Stat{
			cost(runs.Stat{Key: intake.ID, Runs: 5, Open: 1, Proposed: 2, HandedOver: 1, Completed: 1, Waiting: 1, Applied: 2, Rejected: 1, Stale: 1, Expired: 1}),
			cost(runs.Stat{Key: shadow.ID, Runs: 2, Failed: 1, Stopped: 1, Rejected: 1}),
		}, ask(principal.Admin, "agent"))

		hidden := policy.NewCondition([]byte(`{"resource.status": "PROPOSED"}`))
		testkit.Run(t, d.World, d.ctx, policy.Create, policy.CreateInput{Name: "P", Effect: "Deny", Action: "read", Resource: "AgentRun", Condition: &hidden})
		require.Equal(t, []*runs.Stat{cost(runs.Stat{Key: intake.ID, Runs: 3, Open: 1, HandedOver: 1, Completed: 1, Waiting: 1, Expired: 1})}, ask(principal.Agent, "agent"))

		require.Empty(t, testkit.Run(t, d.World, d.As(d.B, principal.Owner), runs.Stats, in))
		testkit.Refused(t, d.World, d.As(d.A, principal.Member), runs.Stats, in, apperr.Forbidden)
		in.From = in.To
		testkit.Refused(t, d.World, d.ctx, runs.Stats, in, apperr.Validation)
	})
}

func statKeys(list []*runs.Stat) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.Key
	}
	return out
}

package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/agent"
	"atrium/internal/agent/settings"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// refusedFields returns the fields that a validation error names.
func refusedFields(err error) string {
	var fields []string
	for _, d := range apperr.From(err).Details {
		fields = append(fields, d.Field)
	}
	return strings.Join(fields, " ")
}

func TestAgents(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		in := agent.CreateInput{Name: "Triage", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "SUGGEST"}
		made := testkit.Run(t, w, ctx, agent.Create, in)
		read := testkit.Run(t, w, ctx, agent.Get, op.ByID{ID: made.ID})
		require.Equal(t, "Triage", read.Name)
		require.EqualValues(t, "DRAFT", read.Status)
		require.Equal(t, w.A.Users[principal.Admin].ID, *read.OwnerID)
		require.Equal(t, []string{"requests:read", "requests:write", "services:read", "teams:read", "users:read"}, read.Scopes)
		require.Equal(t, 1, testkit.Run(t, w, ctx, agent.List, agent.ListInput{}).Total)
		require.Zero(t, testkit.Run(t, w, w.As(w.B, principal.Owner), agent.List, agent.ListInput{}).Total)

		_, _, err := op.Run(ctx, w.Engine, agent.Create, agent.CreateInput{Name: " ", Type: "ROBOT", Source: "", Autonomy: "full"}, nil)
		require.Equal(t, "autonomy name source type", refusedFields(err))
		require.Empty(t, made.SigningSecret)
		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			testkit.Refused(t, w, w.As(w.A, role), agent.Create, in, apperr.Forbidden, role)
		}
		testkit.Refused(t, w, w.As(w.B, principal.Owner), agent.Get, op.ByID{ID: made.ID}, apperr.NotFound)
		testkit.Run(t, w, ctx, agent.Delete, op.ByID{ID: made.ID})
	})
}

func TestWhatNoAgentMayBe(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		member := w.A.Users[principal.Member].ID
		other := w.B.Owner.ID
		for field, in := range map[string]agent.CreateInput{
			"autonomy": {Source: "CUSTOM", Autonomy: "AUTONOMOUS"},
			"role":     {Source: "MANAGED", Autonomy: "SUGGEST", OwnerID: &member},
			"ownerId":  {Source: "MANAGED", Autonomy: "SUGGEST", OwnerID: &other},
			"scopes":   {Source: "MANAGED", Autonomy: "SUGGEST", Scopes: []string{"everything"}},
			"filter":   {Source: "MANAGED", Autonomy: "SUGGEST", Filter: new("webhook.body.x == 1")},
		} {
			in.Name, in.Type = "A", "QUEUE_INTAKE"
			_, _, err := op.Run(ctx, w.Engine, agent.Create, in, nil)
			require.Equal(t, field, refusedFields(err), "%v", err)
		}

		made := testkit.Run(t, w, ctx, agent.Create, agent.CreateInput{Name: "A", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "SUGGEST", Sees: new("agent")})
		_, _, err := op.Run(ctx, w.Engine, agent.Update, agent.UpdateInput{
			ByID: op.ByID{ID: made.ID}, Tools: op.SetTo([]settings.Tool{{Name: "createComment", Mode: "auto"}}),
		}, nil)
		require.Equal(t, "sees", refusedFields(err))
		require.ErrorContains(t, err, "")
		testkit.Run(t, w, ctx, agent.Update, agent.UpdateInput{
			ByID: op.ByID{ID: made.ID}, Tools: op.SetTo([]settings.Tool{{Name: "createComment", Mode: "approve"}}), Autonomy: op.SetTo("AUTONOMOUS"),
		})
		testkit.Refused(t, w, ctx, agent.Publish, op.ByID{ID: made.ID}, apperr.Conflict, "AUTONOMOUS takes an evaluation")
	})
}

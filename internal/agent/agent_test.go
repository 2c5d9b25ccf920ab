package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/agent"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAgents(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		in := agent.CreateInput{Name: "Triage", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "SUGGEST"}
		made := testkit.Run(t, w, ctx, agent.Create, in)
		read := testkit.Run(t, w, ctx, agent.Get, op.ByID{ID: made.ID})
		require.Equal(t, "Triage", read.Name)
		require.EqualValues(t, "QUEUE_INTAKE", read.Type)
		require.EqualValues(t, "MANAGED", read.Source)
		require.Equal(t, "SUGGEST", read.Autonomy)
		require.Equal(t, 1, testkit.Run(t, w, ctx, agent.List, agent.ListInput{}).Total)
		require.Zero(t, testkit.Run(t, w, w.As(w.B, principal.Owner), agent.List, agent.ListInput{}).Total)

		_, _, err := op.Run(ctx, w.Engine, agent.Create, agent.CreateInput{Name: " ", Type: "ROBOT", Source: "", Autonomy: ""}, nil)
		var fields []string
		for _, d := range apperr.From(err).Details {
			fields = append(fields, d.Field)
		}
		require.Equal(t, []string{"autonomy", "autonomy", "name", "source", "type"}, fields)
		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			_, _, err := op.Run(w.As(w.A, role), w.Engine, agent.Create, in, nil)
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), role)
		}
		_, _, err = op.Run(w.As(w.B, principal.Owner), w.Engine, agent.Get, op.ByID{ID: made.ID}, nil)
		require.Equal(t, apperr.NotFound, apperr.CodeOf(err))
	})
}

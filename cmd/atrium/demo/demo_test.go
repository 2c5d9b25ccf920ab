package demo_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/cmd/atrium/demo"
	"atrium/ent/offering"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Fill creates visible demo content in one company only. A second time it creates nothing.
func TestFill(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, db := w.As(w.A, principal.Owner), w.Store.Reader()
		count := func() (n [5]int) {
			n[0], n[1], n[2] = db.Service.Query().CountX(ctx), db.Offering.Query().CountX(ctx), db.Workflow.Query().CountX(ctx)
			n[3], n[4] = db.Request.Query().CountX(ctx), db.TeamMember.Query().CountX(ctx)
			return n
		}
		before := count()
		ids, err := demo.Fill(t.Context(), w.Engine, w.A.Company.ID)
		require.NoError(t, err)
		made := count()
		require.Equal(t, [5]int{2, 12, 8, 3 + 24, 9}, [5]int{made[0] - before[0], made[1] - before[1], made[2] - before[2], made[3] - before[3], made[4] - before[4]})
		again, err := demo.Fill(t.Context(), w.Engine, w.A.Company.ID)
		require.NoError(t, err)
		require.Equal(t, ids, again)
		require.Equal(t, made, count())

		off := db.Offering.GetX(ctx, ids.OfferingID)
		require.Equal(t, "New laptop", off.Name)
		require.Equal(t, ids.ServiceID, off.ServiceID)
		require.Equal(t, "IT Support", db.Service.GetX(ctx, ids.ServiceID).Name, "the pack keeps the name that it has")
		require.Equal(t, 10, db.Offering.Query().Where(offering.ServiceID(ids.ServiceID)).CountX(ctx), "those of the pack stand beside the demo's own")
		require.Zero(t, db.Service.Query().CountX(w.As(w.B, principal.Owner)))
	})
}

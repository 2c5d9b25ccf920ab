package demo_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/cmd/atrium/demo"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Fill creates visible demo content in one company only.
func TestFill(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ids, err := demo.Fill(t.Context(), w.Engine, w.A.Company.ID)
		require.NoError(t, err)
		ctx, db := w.As(w.A, principal.Owner), w.Store.Reader()
		off, err := db.Offering.Get(ctx, ids.OfferingID)
		require.NoError(t, err)
		require.Equal(t, ids.ServiceID, off.ServiceID)
		n, err := db.Request.Query().Count(ctx)
		require.NoError(t, err)
		require.Positive(t, n)
		other, err := db.Service.Query().Count(w.As(w.B, principal.Owner))
		require.NoError(t, err)
		require.Zero(t, other)
	})
}

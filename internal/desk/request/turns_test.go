package request_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	entrequest "atrium/ent/request"
	"atrium/ent/slaevent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Deriving clocks anew writes nothing where nothing has moved, so it waits for no writer and keeps none waiting.
func TestWhatHasNotMovedIsNotWritten(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		o := w.offer(catalog.SLA{ResponseMinutes: new(60), ResolutionMinutes: new(600), Escalations: []sla.Escalation{{AfterMinutes: 30, Of: "response", Do: sla.Notify}}})
		r := w.file(w.owner, o)
		change := timer.RederiveArgs{Company: r.CompanyID, Offering: o.ID}
		require.NoError(t, w.Store.Write(w.owner, func(ctx context.Context, _ *store.Tx) error { // on SQLite there is no other writer meanwhile
			ctx, stop := context.WithTimeout(ctx, patience)
			defer stop()
			return request.RederiveOnce(ctx, w.Engine, change)
		}))
		testkit.Run(t, world, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, SLA: op.SetTo(catalog.SLA{ResolutionMinutes: new(90)})})
		require.NoError(t, request.RederiveOnce(t.Context(), w.Engine, change))
		require.WithinDuration(t, r.CreatedAt.Add(90*time.Minute), *w.get(r.ID).ResolutionDueAt, 0)
	})
}

// What falls due together fires in many short transactions, between two firings of one request if need be, and each once.
func TestManyFiringsTakeTurns(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		levels := catalog.SLA{ResponseMinutes: new(60)}
		for i := range 20 {
			levels.Escalations = append(levels.Escalations, sla.Escalation{AfterMinutes: i + 1, Of: "response", Do: []string{sla.Notify, sla.Raise}[i%2]})
		}
		o := w.offer(levels)
		var ids []string
		for range 4 {
			r := w.file(w.owner, o)
			w.patch(w.owner, r.ID, request.UpdateInput{Priority: op.SetTo("LOW")})
			ids = append(ids, r.ID)
		}
		w.Clock.SetOffset(30 * time.Minute)
		transactions := 0
		for rest := ids; len(rest) > 0; transactions++ {
			require.Less(t, transactions, 100, "each fires something")
			require.NoError(t, w.Engine.Work(t.Context(), w.A.Company.ID, timer.Worker, func(ctx context.Context, tx *op.Tx) (err error) {
				rest, err = request.AdvanceOnce(ctx, tx, rest, w.Clock.Now())
				return err
			}))
		}
		require.Greater(t, transactions, 1, "80 firings take longer than a turn")
		for _, id := range ids {
			n, err := w.Store.Reader().SLAEvent.Query().Where(slaevent.SubjectID(id), slaevent.KindEQ(slaevent.KindESCALATED)).Count(w.owner)
			require.NoError(t, err)
			require.Equal(t, 20, n)
			require.Equal(t, entrequest.PriorityURGENT, w.get(id).Priority)
			require.True(t, w.get(id).SLANextAt.After(w.Clock.Now()))
		}
	})
}

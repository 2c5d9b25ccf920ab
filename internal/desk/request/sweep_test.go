package request_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

const (
	late     = 150 // requests
	kills    = 4
	restarts = time.Second // how long a process lives at most
)

// Processes that run clocks are killed at any time. What falls due while none runs is told once, and nothing is told twice.
func TestSweepsAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		w.Clock.SetOffset(-3 * time.Hour)
		o := w.offer(catalog.SLA{ResponseMinutes: new(60), ResolutionMinutes: new(90), WarnAtPercent: op.SetTo(50)})
		var filed []*ent.Request
		for range late {
			filed = append(filed, w.file(w.owner, o))
		}
		w.Clock.SetOffset(0)
		for range kills {
			w.killed(time.Duration(rand.Int64N(int64(restarts))))
		}
		w.work()
		w.settled()
		for _, r := range filed {
			require.Equal(t, map[string]int{"sla.breached": 2}, w.told(r.ID))
		}
	})
}

// killed runs clocks in a process of its own, for a while, and kills it.
func (w *watch) killed(after time.Duration) {
	w.t.Helper()
	node := w.StartNode(w.t, "TestProcessThatSweeps", "")
	time.Sleep(after)
	testkit.Kill(w.t, node)
}

// TestProcessThatSweeps is the process that killed starts; it does nothing in any other process.
func TestProcessThatSweeps(t *testing.T) {
	if w, _ := testkit.OpenNode(t); w != nil {
		require.NoError(t, timer.Start(t.Context(), w.Store, w.Queue))
		w.WorkUntilKilled(t, request.Clocks(w.Engine))
	}
}

// The cost of a sweep that finds nothing, at 100,000 open requests with clocks; one runs every five seconds.
func BenchmarkSweep(b *testing.B) {
	for name, w := range map[string]*testkit.World{"sqlite": testkit.SQLiteWorld(b), "postgres": testkit.PostgresWorld(b)} {
		b.Run(name, func(b *testing.B) {
			ctx := w.As(w.A, principal.Owner)
			s := testkit.Run(b, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprint("IT ", b.N)})
			o := testkit.Run(b, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
			due := w.Clock.Now().Add(time.Hour)
			for range 100 {
				require.NoError(b, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					batch := make([]*ent.RequestCreate, 1000)
					for i := range batch {
						batch[i] = tx.Request.Create().SetServiceID(s.ID).SetOfferingID(o.ID).SetTitle("R").SetCreatedBy(w.A.Owner.ID).
							SetSLAState("ON_TRACK").SetSLANextAt(due.Add(time.Duration(i) * time.Second)).SetResolutionDueAt(due)
					}
					return tx.Request.CreateBulk(batch...).Exec(ctx)
				}))
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := request.SweepOnce(context.Background(), w.Engine, w.Clock.Now())
				require.NoError(b, err)
			}
		})
	}
}

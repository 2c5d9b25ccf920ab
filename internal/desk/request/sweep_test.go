package request_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entrequest "atrium/ent/request"
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

// At one company very many requests have fallen due, before the only one of another company. That does not wait for all of them: the sweep
// takes a share of each company's at a time. Requests that fail are tried once, and do not hold up those after them.
func TestSweepTakesCompaniesInTurn(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const many, fail, share = 1_200, 250, 100
		now := w.Clock.Now()
		overdue(t, w, w.A, many, now.Add(-time.Hour))
		overdue(t, w, w.B, 1, now.Add(-time.Minute))
		kind, order, tried := request.Kind(), []string(nil), map[string]int{}
		kind.Batch = 1
		kind.Advance = func(ctx context.Context, tx *op.Tx, ids []string, _ time.Time) ([]string, error) {
			order = append(order, tx.Principal().CompanyID)
			tried[ids[0]]++
			if len(order) <= fail {
				return nil, errors.New("it fails")
			}
			return nil, tx.Request.UpdateOneID(ids[0]).ClearSLANextAt().Exec(ctx)
		}
		_, err := kind.Sweep(t.Context(), w.Engine, now)
		require.ErrorContains(t, err, "it fails")
		require.Contains(t, order[:share+1], w.B.Company.ID)
		require.Len(t, tried, many+1, "each was tried")
		for id, n := range tried {
			if n > 1 {
				r, err := w.Store.Reader().Request.Get(w.As(w.B, principal.Owner), id)
				require.NoError(t, err)
				require.Equal(t, w.B.Company.ID, r.CompanyID, "of companies that wait no row is tried twice")
			}
		}
	})
}

// overdue writes requests at which something is due.
func overdue(t testing.TB, w *testkit.World, of *testkit.Tenant, many int, due time.Time) {
	t.Helper()
	ctx := w.As(of, principal.Owner)
	s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprint("IT ", due.UnixNano())})
	o := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{
		ByID: op.ByID{ID: s.ID}, Name: "Laptop", SLA: &catalog.SLA{ResolutionMinutes: new(1)},
	})
	for made := 0; made < many; made += 1000 {
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			batch := make([]*ent.RequestCreate, min(1000, many-made))
			for i := range batch {
				batch[i] = tx.Request.Create().SetServiceID(s.ID).SetOfferingID(o.ID).SetTitle("R").SetCreatedBy(of.Owner.ID).SetCreatedAt(due.Add(-time.Minute)).
					SetSLAState("ON_TRACK").SetSLANextAt(due).SetResolutionDueAt(due)
			}
			return tx.Request.CreateBulk(batch...).Exec(ctx)
		}))
	}
}

// How long another company's request waits beside 100,000 of one company that have fallen due.
func BenchmarkBesideMuchThatIsDue(b *testing.B) {
	for name, w := range map[string]*testkit.World{"sqlite": testkit.SQLiteWorld(b), "postgres": testkit.PostgresWorld(b)} {
		b.Run(name, func(b *testing.B) {
			now := w.Clock.Now()
			overdue(b, w, w.A, 100_000, now.Add(-time.Hour))
			overdue(b, w, w.B, 1, now.Add(-time.Minute))
			for b.Loop() {
				ctx, stop := context.WithCancel(context.Background())
				began, done := time.Now(), make(chan struct{})
				go func() { defer close(done); _, _ = request.SweepOnce(ctx, w.Engine, now) }()
				for {
					n, err := w.Store.Reader().Request.Query().Where(entrequest.SLAStateEQ(entrequest.SLAStateBREACHED)).Count(w.As(w.B, principal.Owner))
					require.NoError(b, err)
					if n == 1 {
						break
					}
					time.Sleep(time.Millisecond)
				}
				b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-late")
				time.Sleep(10 * time.Second)
				left, err := w.Store.Reader().Request.Query().Where(entrequest.SLANextAtNotNil()).Count(w.As(w.A, principal.Owner))
				require.NoError(b, err)
				b.ReportMetric(float64(100_000-left)/time.Since(began).Seconds(), "rows/s")
				stop()
				<-done
			}
		})
	}
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

package paging_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	entgo "entgo.io/ent"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/desk/catalog"
	requests "atrium/internal/desk/request"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
	"atrium/internal/op/auditlog"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// offering makes a service with an offering in company A.
func offering(t *testing.T, w *testkit.World, of ...string) *ent.Offering {
	t.Helper()
	ctx := w.As(w.A, principal.Owner)
	s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: strings.Join(append([]string{"Mail"}, of...), " ")})
	in := catalog.CreateOfferingInput{Name: "Box"}
	in.ID = s.ID
	return testkit.Run(t, w, ctx, catalog.CreateOffering, in)
}

// Rows with the same sort key are on one page each, whatever the list is ordered by.
func TestEqualKeysDoNotOverlap(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const n = 25
		ctx := w.As(w.A, principal.Owner)
		err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			for i := range n {
				if err := tx.Service.Create().SetName([]string{"same", "Same", "SAME", "other"}[i%4]).SetSlug(fmt.Sprint("s", i)).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, err)
		for _, sort := range []string{"", "name", "-name", "createdAt", "-updatedAt"} {
			seen := map[string]bool{}
			for page := 1; page <= 4; page++ {
				l := testkit.Run(t, w, ctx, catalog.ListServices, catalog.ListServicesInput{Page: paging.Page{Number: page, Size: 7, Sort: sort}})
				require.Equal(t, n, l.Total)
				require.Equal(t, 4, l.Pages())
				for _, s := range l.Rows {
					require.False(t, seen[s.ID], "%s is on two pages by %q", s.ID, sort)
					seen[s.ID] = true
				}
			}
			require.Len(t, seen, n)
			l := testkit.Run(t, w, ctx, catalog.ListServices, catalog.ListServicesInput{Page: paging.Page{Number: 5, Size: 7, Sort: sort}})
			require.Empty(t, l.Rows)
			require.Equal(t, n, l.Total)
		}
	})
}

// A list asks the database as often for fifty rows as for five.
func TestStatementsDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		off := offering(t, w)
		ctx := w.As(w.A, principal.Owner)
		var statements atomic.Int64
		w.Store.Reader().Intercept(entgo.InterceptFunc(func(next entgo.Querier) entgo.Querier {
			return entgo.QuerierFunc(func(ctx context.Context, q entgo.Query) (entgo.Value, error) {
				if _, policies := q.(*ent.AccessPolicyQuery); !policies { // read once after a change of authority was heard
					statements.Add(1)
				}
				return next.Query(ctx, q)
			})
		}))
		grow := func(from, to int) {
			require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				for i := from; i < to; i++ {
					team, err := tx.Team.Create().SetName("T").SetSlug(fmt.Sprint("t", i)).Save(ctx)
					if err != nil {
						return err
					}
					for _, u := range w.A.Users {
						if err := tx.TeamMember.Create().SetTeam(team).SetUser(u).Exec(ctx); err != nil {
							return err
						}
					}
					if err := tx.Service.Create().SetName("S").SetSlug(fmt.Sprint("s", i)).SetOwnerTeam(team).Exec(ctx); err != nil {
						return err
					}
					err = tx.Request.Create().SetTitle("R").SetServiceID(off.ServiceID).SetOffering(off).SetCreatedBy(w.A.Owner.ID).SetTeam(team).Exec(ctx)
					if err != nil {
						return err
					}
				}
				return nil
			}))
		}
		page := paging.Page{Size: 100}
		count := func() map[string]int64 {
			out := map[string]int64{}
			for name, list := range map[string]func() error{
				"service": func() error {
					_, _, err := op.Run(ctx, w.Engine, catalog.ListServices, catalog.ListServicesInput{Page: page}, nil)
					return err
				},
				"request": func() error {
					_, _, err := op.Run(ctx, w.Engine, requests.List, requests.ListInput{Page: page}, nil)
					return err
				},
				"team": func() error {
					_, _, err := op.Run(ctx, w.Engine, people.ListTeams, people.ListTeamsInput{Page: page}, nil)
					return err
				},
				"user": func() error {
					_, _, err := op.Run(ctx, w.Engine, people.ListUsers, people.ListUsersInput{Page: page}, nil)
					return err
				},
				"audit": func() error {
					_, _, err := op.Run(ctx, w.Engine, auditlog.ListEntries, auditlog.ListEntriesInput{Page: page}, nil)
					return err
				},
				"apikey": func() error {
					_, _, err := op.Run(ctx, w.Engine, apikey.List, apikey.ListInput{Page: page}, nil)
					return err
				},
			} {
				statements.Store(0)
				require.NoError(t, list(), name)
				out[name] = statements.Load()
			}
			return out
		}
		grow(0, 5)
		few := count()
		grow(5, 50)
		require.Equal(t, few, count())
		require.Positive(t, few["team"])
	})
}

// The counters equal COUNT after any sequence of creates, updates and deletes, made by many at once.
func TestCountersAreExact(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		off, other := offering(t, w), offering(t, w, "of others")
		ctx := w.As(w.A, principal.Owner)
		counter := op.New("service.list", op.Spec{Resource: "Request", Action: op.Read, Scope: "requests:read"},
			func(ctx context.Context, tx *op.Tx, in counted) (int, error) {
				return paging.Counter{Kind: in.Kind, Facets: in.Facets}.Count(ctx, tx)
			})
		statuses := []request.Status{request.StatusPENDING, request.StatusIN_PROGRESS, request.StatusCOMPLETED, request.StatusCANCELLED}
		priorities := []request.Priority{request.PriorityLOW, request.PriorityMEDIUM, request.PriorityHIGH, request.PriorityURGENT}
		step := rapid.IntRange(0, 9)
		rounds := 0
		rapid.Check(t, func(rt *rapid.T) {
			if rounds++; rounds > 25 { // each is a few dozen transactions: more rounds find no more
				return
			}
			var wg sync.WaitGroup
			errs := make([]error, 6)
			for i := range errs {
				plan := rapid.SliceOfN(step, 1, 8).Draw(rt, "plan")
				wg.Go(func() {
					errs[i] = w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
						for _, what := range plan {
							if err := disturb(ctx, tx, off, other, what, statuses, priorities); err != nil {
								return err
							}
						}
						if plan[0] == 9 {
							return errBroken // what is rolled back does not count
						}
						return nil
					})
				})
			}
			wg.Wait()
			for _, err := range errs {
				if err != nil && err.Error() != errBroken.Error() {
					rt.Fatal(err)
				}
			}
			check := func(kind string, want int, facets ...string) {
				got, _, err := op.Run(ctx, w.Engine, counter, counted{Kind: kind, Facets: facets}, nil)
				if err != nil || got != want {
					rt.Fatalf("%s %v: counter %d, counted %d (%v)", kind, facets, got, want, err)
				}
			}
			db := w.Store.Reader()
			n, err := db.Request.Query().Count(ctx)
			if err != nil {
				rt.Fatal(err)
			}
			check("request", n)
			for _, s := range statuses {
				p := priorities[1]
				if n, err = db.Request.Query().Where(request.StatusEQ(s), request.PriorityEQ(p)).Count(ctx); err != nil {
					rt.Fatal(err)
				}
				check("request", n, string(s)+"|"+string(p))
				for _, service := range []string{off.ServiceID, other.ServiceID} {
					if n, err = db.Request.Query().Where(request.ServiceID(service), request.StatusEQ(s), request.PriorityEQ(p)).Count(ctx); err != nil {
						rt.Fatal(err)
					}
					check("request_service", n, service+"|"+string(s)+"|"+string(p))
				}
			}
			if n, err = db.AuditEntry.Query().Count(ctx); err != nil {
				rt.Fatal(err)
			}
			check("audit", n)
		})
	})
}

type counted struct {
	Kind   string   `json:"-"`
	Facets []string `json:"-"`
}

// disturb creates, changes or deletes a request.
func disturb(ctx context.Context, tx *store.Tx, off, other *ent.Offering, what int, statuses []request.Status, priorities []request.Priority) error {
	pick := func() (string, error) {
		ids, err := tx.Request.Query().Order(request.ByID()).Limit(20).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return "", err
		}
		return ids[what%len(ids)], nil
	}
	switch {
	case what < 5:
		return tx.Request.Create().SetTitle("R").SetServiceID(off.ServiceID).SetOffering(off).SetCreatedBy("usr_x").
			SetPriority(priorities[what%4]).Exec(ctx)
	case what == 5: // it moves, or comes back
		id, err := pick()
		if err != nil || id == "" {
			return err
		}
		at, err := tx.Request.Get(ctx, id)
		if err != nil {
			return err
		}
		if at.OfferingID == other.ID {
			other = off
		}
		return tx.Request.Update().Where(request.ID(id)).SetServiceID(other.ServiceID).SetOfferingID(other.ID).Exec(ctx)
	case what < 8:
		id, err := pick()
		if err != nil || id == "" {
			return err
		}
		return tx.Request.Update().Where(request.ID(id)).SetStatus(statuses[what%4]).SetPriority(priorities[(what+1)%4]).Exec(ctx)
	default:
		id, err := pick()
		if err != nil || id == "" {
			return err
		}
		_, err = tx.Request.Delete().Where(request.ID(id)).Exec(ctx)
		return err
	}
}

func TestIn(t *testing.T) {
	t.Parallel()
	require.Empty(t, paging.In(nil, nil, func(...string) int { return 1 }))
	require.Equal(t, []int{2}, paging.In(nil, []string{"a", "b"}, func(v ...string) int { return len(v) }))
	require.Equal(t, []request.Status{"PENDING"}, paging.In(nil, []string{"PENDING"}, func(v ...request.Status) request.Status { return v[0] }))
}

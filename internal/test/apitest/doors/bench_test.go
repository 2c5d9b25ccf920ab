package doors

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/run"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// twenty is a list of requests with edges.
const twenty = `{"query":"{ requests(first: 20) { totalCount pageInfo { hasNextPage endCursor } edges { node { id title status priority createdAt service { id name } offering { id name } creator { id name } } } } }"}`

// bare is the same list without its edges.
const bare = `{"query":"{ requests(first: 20) { totalCount pageInfo { hasNextPage endCursor } edges { node { id title status priority createdAt } } } }"}`

// BenchmarkListOf20 lists 20 of 1,000 requests: through REST, through GraphQL without edges, and through GraphQL with service,
// offering and creator. It calls the handlers directly, because TLS would hide the difference.
func BenchmarkListOf20(b *testing.B) {
	run.TuneGC() // as the server process does
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		w := world(b)
		var handler http.Handler
		s := apitest.Serve(b, w, func(p apitest.Parts) (http.Handler, error) {
			p.Log = slog.New(slog.DiscardHandler)
			h, err := both(p)
			handler = p.Gate.Front(h)
			return h, err
		})
		fill(b, w, 1_000)
		for _, c := range []struct{ name, method, path, body string }{
			{"REST", http.MethodGet, "/v1/requests?pageSize=20", ""},
			{"GraphQL-rows", http.MethodPost, "/graphql", bare},
			{"GraphQL-edges", http.MethodPost, "/graphql", twenty},
		} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						r := httptest.NewRequestWithContext(context.Background(), c.method, "https://atrium.test"+c.path, bytes.NewReader([]byte(c.body)))
						r.Header.Set("Content-Type", "application/json")
						r.Header.Set("X-Api-Key", s.A.OwnerKey.Value)
						rec := httptest.NewRecorder()
						handler.ServeHTTP(rec, r)
						if rec.Code != http.StatusOK || bytes.Contains(rec.Body.Bytes(), []byte(`"errors"`)) {
							b.Error(rec.Body.String())
							return
						}
						_, _ = io.Copy(io.Discard, rec.Body)
					}
				})
			})
		}
	}
}

// fill makes n requests for ten offerings of five services.
func fill(b *testing.B, w *testkit.World, n int) {
	b.Helper()
	ctx := w.As(w.A, principal.Owner)
	require.NoError(b, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		var offerings []*ent.Offering
		for i := range 5 {
			svc, err := tx.Service.Create().SetName(fmt.Sprint("Service ", i)).SetSlug(fmt.Sprint("s", i)).Save(ctx)
			if err != nil {
				return err
			}
			for j := range 2 {
				off, err := tx.Offering.Create().SetName(fmt.Sprint("Offering ", j)).SetSlug(fmt.Sprint("o", j)).SetService(svc).Save(ctx)
				if err != nil {
					return err
				}
				offerings = append(offerings, off)
			}
		}
		people := []string{w.A.Owner.ID, w.A.Users[principal.Agent].ID, w.A.Users[principal.Member].ID}
		for i := range n {
			off := offerings[i%len(offerings)]
			err := tx.Request.Create().SetTitle(fmt.Sprint("Request ", i)).SetServiceID(off.ServiceID).SetOffering(off).SetCreatedBy(people[i%len(people)]).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

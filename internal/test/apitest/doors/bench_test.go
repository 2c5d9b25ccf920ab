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
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// twenty is a list of requests with edges.
const twenty = `{"query":"{ requests(first: 20) { totalCount pageInfo { hasNextPage endCursor } edges { node { id title status priority createdAt service { id name } offering { id name } creator { id name } } } } }"}`

// bare is the same list without its edges.
const bare = `{"query":"{ requests(first: 20) { totalCount pageInfo { hasNextPage endCursor } edges { node { id title status priority createdAt } } } }"}`

// served is a world with 1,000 requests behind both doors. Its handler is called directly, because TLS would hide differences.
type served struct {
	*testkit.World
	handler http.Handler
	key     string
}

func serve(b *testing.B, w *testkit.World) served {
	b.Helper()
	out := served{World: w}
	s := apitest.Serve(b, w, func(p apitest.Parts) (http.Handler, error) {
		p.Log = slog.New(slog.DiscardHandler)
		h, err := both(p)
		out.handler = p.Gate.Front(h)
		return h, err
	})
	fill(b, w, 1_000)
	out.key = s.A.OwnerKey.Value
	return out
}

// reading is a path of REST, or a document of GraphQL.
type reading struct{ name, path, body string }

// run makes calls, as many at once as there are processors.
func (s served) run(b *testing.B, c reading) {
	method := http.MethodGet
	if c.body != "" {
		method = http.MethodPost
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := httptest.NewRequestWithContext(context.Background(), method, "https://atrium.test"+c.path, bytes.NewReader([]byte(c.body)))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-Api-Key", s.key)
			rec := httptest.NewRecorder()
			s.handler.ServeHTTP(rec, r)
			if rec.Code != http.StatusOK || bytes.Contains(rec.Body.Bytes(), []byte(`"errors"`)) {
				b.Error(rec.Body.String())
				return
			}
			_, _ = io.Copy(io.Discard, rec.Body)
		}
	})
}

// BenchmarkListOf20 lists 20 of 1,000 requests: through REST, through GraphQL without edges, and through GraphQL with service,
// offering and creator.
func BenchmarkListOf20(b *testing.B) {
	run.TuneGC() // as the server process does
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		s := serve(b, w)
		for _, c := range []reading{{"REST", "/v1/requests?pageSize=20", ""}, {"GraphQL-rows", "/graphql", bare}, {"GraphQL-edges", "/graphql", twenty}} {
			b.Run(c.name, func(b *testing.B) { s.run(b, c) })
		}
	})
}

// mine is a list of 50 requests with what the caller may do to each.
const mine = `{"query":"{ requests(first: 50) { edges { node { id title viewerMay } } } }"}`

// BenchmarkUnderPolicies reads in a company with 0, 3, 20 and 190 enabled policies, which all look at the row that is read and hide
// nothing.
func BenchmarkUnderPolicies(b *testing.B) {
	run.TuneGC()
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		s := serve(b, w)
		one, err := w.Store.Reader().Request.Query().FirstID(w.As(w.A, principal.Owner))
		require.NoError(b, err)
		calls := []reading{{"get", "/v1/requests/" + one, ""}, {"list", "/v1/requests?pageSize=20", ""}, {"viewerMay", "/graphql", mine}}
		made := 0
		for _, n := range []int{0, 3, 20, 190} {
			for ; made < n; made++ {
				condition := policy.NewCondition(fmt.Appendf(nil, `{"resource.tags.env": "prod-%d"}`, made))
				testkit.Run(b, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{
					Name: fmt.Sprint("Policy ", made), Effect: "Deny", Action: []string{"read", "*"}[made%2], Resource: "Request", Condition: &condition,
				})
			}
			for _, c := range calls {
				b.Run(fmt.Sprintf("%d policies/%s", n, c.name), func(b *testing.B) { s.run(b, c) })
			}
		}
	})
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

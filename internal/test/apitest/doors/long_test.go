package doors

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// Rows with answers of a mebibyte are read in pages that one call may take, at both doors: more is refused and says so, fewer are given. One
// row cannot be asked for so often that the answer grows beyond that.
func TestLongRowsAreReadAFewAtATime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.World.As(s.World.A, principal.Owner)
		service := testkit.Run(t, s.World, as, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"}).ID
		offering := testkit.Run(t, s.World, as, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service}, Name: "Laptop"}).ID
		var one string
		for i := range 70 {
			one = testkit.Run(t, s.World, as, request.Create, request.CreateInput{ServiceID: service, OfferingID: offering, Title: fmt.Sprint("Laptop ", i)}).ID
		}
		long, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 1<<20)})
		require.NoError(t, err)
		s.Write(t, func(ctx context.Context, tx *store.Tx) error { return tx.Request.Update().SetFields(long).Exec(ctx) })

		rest := func(size int) *apitest.Answer {
			return s.Send(t, apitest.Scenario{As: s.A.OwnerKey, Path: fmt.Sprint("/v1/requests?pageSize=", size)})
		}
		graph := func(query string) *apitest.Answer {
			return s.Send(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": query}})
		}
		const refused = "The rows are longer than 64 MiB together. Ask for fewer at once."
		require.Equal(t, []string{"validation_error", refused}, []string{rest(100).Text("error"), rest(100).Text("message")})
		require.Equal(t, http.StatusOK, rest(20).Status)
		g := graph(`{ requests(first: 100) { edges { node { fields } } } }`)
		require.Equal(t, []string{"validation_error", refused}, []string{g.Text("errors.0.extensions.code"), g.Text("errors.0.message")})
		require.False(t, graph(`{ requests(first: 20) { edges { node { fields } } } }`).Has("errors"))
		require.False(t, graph(`{ requests(first: 100) { edges { node { id title } } } }`).Has("errors"), "what is not asked for is not read")

		var aliases strings.Builder
		for i := range 100 {
			fmt.Fprintf(&aliases, "a%d: fields ", i)
		}
		g = graph(`{ request(id: "` + one + `") { ` + aliases.String() + `} }`)
		require.Equal(t, "query_too_complex", g.Text("errors.0.extensions.code"))
		require.Less(t, len(g.Body), 65<<20)
	})
}

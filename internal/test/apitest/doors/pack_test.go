package doors

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// REST and GraphQL list, plan and install the same packs with the same faults, and write the same template.
func TestPacks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.Owner
		ask := func(query string, in vars) *apitest.Answer {
			t.Helper()
			return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": query, "variables": in}})
		}
		const item = `{ kind key name action id }`
		plan := func(in vars) (r, g *apitest.Answer) {
			t.Helper()
			r = s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/packs/plan", Body: in})
			return r, ask(`query($pack: String, $source: String, $language: String) { planPack(pack: $pack, source: $source, language: $language) { name description items `+item+` } }`, in)
		}
		source := "kind: Pack\nkey: rooms\nspec: {name: Rooms}\n---\nkind: Service\nkey: rooms\nspec: {name: Rooms, ownerTeamId: Team/desk}\n---\nkind: Team\nkey: desk\nspec: {name: Desk}\n"
		for name, in := range map[string]vars{
			"nothing": {}, "both": {"pack": "it-service-desk", "source": source}, "unknown": {"pack": "none"}, "no YAML": {"source": "["}, "a fault": {"source": source + "---\nkind: Team\nkey: x\nspec: {color: red}\n"},
		} {
			r, g := plan(in)
			require.Equal(t, "validation_error", r.Text("error"), "%s: %s", name, r.Body)
			require.Equal(t, rowsOf(r, "details"), rowsOf(g, "errors.0.extensions.details"), "%s: %s", name, g.Body)
		}
		r, g := plan(vars{"source": source, "language": "en"})
		require.Equal(t, r.Get("data"), g.Get("data.planPack"), "%s\n%s", r.Body, g.Body)
		require.Equal(t, "make", r.Text("data.items.1.action"))

		made := ask(`mutation($in: InstallPackInput!) { installPack(input: $in) { plan { name items `+item+` } } }`, vars{"in": vars{"source": source}})
		id := made.Text("data.installPack.plan.items.1.id")
		require.NotEmpty(t, id, made.Body)
		again := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/packs/install", Body: vars{"source": source}, WantStatus: http.StatusOK})
		require.Equal(t, "keep", again.Text("data.items.1.action"))
		require.Equal(t, id, again.Text("data.items.1.id"))

		written := s.Do(t, apitest.Scenario{As: as, Path: "/v1/services/" + id + "/template"}).Text("data.source")
		require.Contains(t, written, "kind: Service\nkey: rooms\n")
		require.Equal(t, written, ask(`query($id: ID!) { serviceTemplate(id: $id) }`, vars{"id": id}).Text("data.serviceTemplate"))

		listed := s.Do(t, apitest.Scenario{As: as, Path: "/v1/packs?language=de&pageSize=100"})
		shown := ask(`{ packs(language: "de") { key name description makes `+item+` } }`, nil)
		require.NotEmpty(t, listed.Get("data"))
		require.Equal(t, listed.Get("data"), shown.Get("data.packs"), shown.Body)
	})
}

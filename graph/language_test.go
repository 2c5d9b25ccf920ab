package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

const (
	languages    = `{ viewer { locale timeZone company { locale timeZone } } }`
	changeViewer = `mutation($in: UpdateViewerInput!) { updateViewer(input: $in) { viewer { id locale timeZone } } }`
	changeZone   = `mutation($in: UpdateCompanyInput!) { updateCompany(input: $in) { company { locale timeZone } } }`
)

// Everybody reads the company's language and chooses their own, whatever their role; it holds in the sandbox, too.
func TestViewersLanguage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		a := ask(t, s, owner, changeZone, vars{"in": vars{"locale": "de", "timeZone": "Europe/Berlin"}})
		require.Equal(t, "de", a.Text("data.updateCompany.company.locale"))
		for _, who := range []apitest.Caller{owner, s.A.Admin, s.A.Agent, s.A.Member} {
			a := ask(t, s, who, languages, nil)
			require.Equal(t, vars{"viewer": vars{"locale": nil, "timeZone": nil, "company": vars{"locale": "de", "timeZone": "Europe/Berlin"}}}, a.Get("data"))
			a = ask(t, s, who, changeViewer, vars{"in": vars{"locale": "en", "timeZone": "Asia/Tokyo"}})
			require.Equal(t, "en", a.Text("data.updateViewer.viewer.locale"))
			require.Equal(t, "Asia/Tokyo", a.Text("data.updateViewer.viewer.timeZone"))
			a = ask(t, s, who, changeViewer, vars{"in": vars{"timeZone": nil}})
			require.Equal(t, "en", a.Text("data.updateViewer.viewer.locale"))
			require.Nil(t, a.Get("data.updateViewer.viewer.timeZone"))
			ask(t, s, who, changeViewer, vars{"in": vars{"locale": nil}})
		}
		for field, in := range map[string]vars{"timeZone": {"timeZone": "Local"}, "locale": {"locale": "fr"}} {
			for _, query := range []string{changeViewer, changeZone} {
				a := send(t, s, owner, query, vars{"in": in})
				require.True(t, a.Has("errors"), "%s", a.Body)
				require.Contains(t, string(a.Body), field)
			}
		}
	})
}

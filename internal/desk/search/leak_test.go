package search_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// planted is a word that stands in one row of a company.
type planted struct {
	word, request, comment string // comment is empty where the request itself has the word
}

// A search finds a request by a word if and only if the caller may read the request and where the word stands: in two companies with the
// same words, for every role, with internal comments, and with policies that hide requests, comments, services and people. A word that
// must not be there says as little.
func TestSearchSeesWhatReadsShow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var words []planted
		for _, of := range []*testkit.Tenant{w.A, w.B} {
			words = append(words, plant(newDesk(t, w, of))...)
		}
		a := newDesk(t, w, w.A)
		check := func(hidden string) {
			t.Helper()
			for _, role := range []principal.Role{principal.Owner, principal.Admin, principal.Agent, principal.Member} {
				for _, of := range []*testkit.Tenant{w.A, w.B} {
					as := w.As(of, role)
					for _, p := range words {
						readable := shows(as, a, p)
						require.Equal(t, readable, slices.Contains(a.find(as, p.word), p.request), "%s finds %s in %s: %s", role, p.word, p.request, hidden)
						all := a.find(as, "common")
						left := slices.Contains(a.find(as, "common -"+p.word), p.request)
						require.Equal(t, slices.Contains(all, p.request) && !readable, left, "%s leaves %s out by %s: %s", role, p.request, p.word, hidden)
					}
				}
			}
		}
		check("nothing is hidden")
		a.index()
		check("the same in the index")
		a.hide("Comment", `{"resource.visibility": "internal", "principal.role": "agent"}`)
		check("internal comments from agents")
		a.hide("Request", `{"resource.title": {"prefix": "Secret"}, "principal.role": {"in": ["agent", "admin", "member"]}}`)
		check("requests")
	})
}

// plant files requests, of the member and of the owner, with a word in each place.
func plant(d *desk) (out []planted) {
	o := d.offer("Desk", "Chair")
	member := d.As(d.of, principal.Member)
	for i, as := range []context.Context{member, d.owner} {
		for k, title := range []string{"Open ", "Secret "} {
			word := func(place string) string { return place + string(rune('a'+2*i+k)) + "word" }
			id := d.file(as, o, title+word("title"), "common "+word("text"))
			out = append(out, planted{word("title"), id, ""}, planted{word("text"), id, ""},
				planted{word("public"), id, d.say(d.owner, id, word("public"), "public")},
				planted{word("internal"), id, d.say(d.owner, id, word("internal"), "internal")})
		}
	}
	return out
}

// shows reports whether the list of requests, and that of comments, show the caller the row with the word.
func shows(as context.Context, d *desk, p planted) bool {
	if !slices.Contains(d.find(as, ""), p.request) || p.comment == "" {
		return slices.Contains(d.find(as, ""), p.request)
	}
	list := testkit.Run(d.t, d.World, as, request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: p.request}, Page: paging.Page{Size: 100}})
	for _, c := range list.Rows {
		if c.ID == p.comment {
			return true
		}
	}
	return false
}

// A service or a person whom policies hide names no request.
func TestHiddenNamesFindNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, w.A)
		id := d.file(w.As(w.A, principal.Member), d.offer("Merger", "Papers"), "Print them", "")
		agent := w.As(w.A, principal.Agent)
		require.Equal(t, []string{id}, d.find(agent, "merger"))
		require.Equal(t, []string{id}, d.find(agent, w.A.Users[principal.Member].Email))
		d.hide("Service", `{"resource.name": "Merger", "principal.role": "agent"}`)
		d.hide("User", `{"resource.id": "`+w.A.Users[principal.Member].ID+`", "principal.role": "agent"}`)
		for _, indexed := range []bool{false, true} {
			if indexed {
				d.index()
			}
			require.Empty(t, d.find(agent, "merger"))
			require.Empty(t, d.find(agent, w.A.Users[principal.Member].Email))
			require.Equal(t, []string{id}, d.find(agent, "print"), "but it can be read")
			require.Equal(t, []string{id}, d.find(d.owner, "merger"))
		}
	})
}

package graph_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/graph"
	"atrium/internal/op"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

const responseType = "application/graphql-response+json"

// A caller who prefers GraphQL's own type of answers, or takes it as well, gets it; everybody else gets JSON.
func TestTypeOfAnswers(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, testkit.SQLiteWorld(t), door)
	for accept, own := range map[string]bool{
		"": false, "*/*": false, "application/*": false, "text/html": false,
		"application/json":                        false,
		responseType:                              true,
		responseType + "; charset=utf-8":          true,
		responseType + ", application/json":       true,
		"application/json, " + responseType:       true,
		responseType + ",application/json;q=0.9":  true, // Apollo Client
		responseType + ";q=0.5, application/json": false,
		responseType + ";q=0, */*":                false,
		responseType + ", application/graphql+json, application/json, text/event-stream, multipart/mixed": true, // urql
	} {
		for _, body := range []string{whoAmI, "{"} {
			a := raw(t, s, s.A.Owner, http.MethodPost, body, http.Header{"Accept": {accept}})
			want := "application/json"
			if own {
				want = responseType + "; charset=utf-8"
			}
			require.Equal(t, want, a.Header.Get("Content-Type"), accept)
		}
	}
}

// In GraphQL's own type the status says whether there are data: 200 with them, whatever was refused among the fields, and the refusal's
// without. Clients read its errors, whichever layer refuses.
func TestRefusalsInTheTypeOfGraphQL(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := apitest.Serve(t, w, func(p apitest.Parts) (http.Handler, error) {
			e := &op.Engine{Store: w.Store, Authz: w.Engine.Authz, Sealer: away{}, Log: discard}
			return graph.New(graph.Options{Engine: e, Gate: p.Gate, Log: discard, BaseURL: p.BaseURL}), nil
		})
		secret := `createSecret(input: {allowedHosts: ["*"], name: "AWAY", value: "x"}) { secret { id } }`
		s.Limits(t, w.B, 1, 1000)
		for range 2 {
			raw(t, s, s.B.OwnerKey, http.MethodPost, whoAmI, nil)
		}
		for name, c := range map[string]struct {
			as     apitest.Caller
			method string
			body   string
			header http.Header
			status int
			code   string
		}{
			"served":                    {as: s.A.Owner, body: whoAmI, status: 200},
			"a field is refused":        {as: s.A.Owner, body: document(`{ viewer { id } service(id: "svc_1") { id } }`), status: 200, code: "not_found"},
			"each field is refused":     {as: s.A.Owner, body: document(`{ service(id: "svc_1") { id } }`), status: 200, code: "not_found"},
			"a mutation is refused":     {as: s.A.Owner, body: document(`mutation { createService(input: {name: " "}) { service { id } } }`), status: 200, code: "validation_error"},
			"one of two is unavailable": {as: s.A.Owner, body: document(`mutation { createTeam(input: {name: "T"}) { team { id } } ` + secret + ` }`), status: 200, code: "unavailable"},
			"unavailable":               {as: s.A.Owner, body: document(`mutation { ` + secret + ` }`), status: 503, code: "unavailable"},
			"nobody":                    {as: apitest.Nobody, body: whoAmI, status: 401, code: "unauthorized"},
			"another origin":            {as: s.Session(t, w.A.Owner), body: whoAmI, header: http.Header{"Origin": {"https://elsewhere.example"}}, status: 403, code: "forbidden"},
			"GET":                       {as: s.A.Owner, method: http.MethodGet, status: 405, code: "method_not_allowed"},
			"too large":                 {as: s.A.Owner, body: `{"query":"` + strings.Repeat(" ", 1<<20) + `"}`, status: 413, code: "payload_too_large"},
			"another type":              {as: s.A.Owner, body: whoAmI, header: http.Header{"Content-Type": {"text/plain"}}, status: 415, code: "unsupported_media_type"},
			"too often":                 {as: s.B.OwnerKey, body: whoAmI, status: 429, code: "rate_limit_exceeded"},
			"no JSON":                   {as: s.A.Owner, body: "{", status: 400, code: "validation_error"},
			"no document":               {as: s.A.Owner, body: document("{ viewer "), status: 400, code: "validation_error"},
			"an unknown field":          {as: s.A.Owner, body: document("{ viewer { shoeSize } }"), status: 400, code: "validation_error"},
			"a faulty variable":         {as: s.A.Owner, body: `{"query":"query($n: Int) { requests(first: $n) { totalCount } }","variables":{"n":"x"}}`, status: 400, code: "validation_error"},
		} {
			if c.method == "" {
				c.method = http.MethodPost
			}
			h := http.Header{"Accept": {responseType + ",application/json;q=0.9"}}
			for k, v := range c.header {
				h[k] = v
			}
			a := raw(t, s, c.as, c.method, c.body, h)
			require.Equal(t, c.status, a.Status, "%s: %s", name, a.Body)
			require.Equal(t, responseType+"; charset=utf-8", a.Header.Get("Content-Type"), name)
			require.Equal(t, c.code, a.Text("errors.0.extensions.code"), "%s: %s", name, a.Body)
			require.Equal(t, c.status == 200, a.Has("data"), "%s: %s", name, a.Body)
			require.Equal(t, c.code != "", a.Has("errors"), name)
		}
	})
}

// away is a Sealer of a database that cannot be reached.
type away struct{}

func (away) Seal([]byte, []byte) ([]byte, error)   { return nil, io.ErrUnexpectedEOF }
func (away) Unseal([]byte, []byte) ([]byte, error) { return nil, io.ErrUnexpectedEOF }

// Introspection tells null of what types of a kind do not have, and an empty list of what they have none of.
func TestIntrospectionTellsNull(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, testkit.SQLiteWorld(t), door)
	lists := []string{"fields", "interfaces", "possibleTypes", "enumValues", "inputFields", "isOneOf", "specifiedByURL", "ofType"}
	has := map[string][]string{
		"Request": {"fields", "interfaces"}, "Node": {"fields", "interfaces", "possibleTypes"}, "RequestStatus": {"enumValues"},
		"CreateServiceInput": {"inputFields", "isOneOf"}, "String": nil,
	}
	for name, there := range has {
		a := ask(t, s, s.A.Owner, `query($n: String!) { __type(name: $n) { fields { name } interfaces { name } possibleTypes { name } enumValues { name }
			inputFields { name } isOneOf specifiedByURL ofType { name } } }`, vars{"n": name})
		for _, list := range lists {
			v := a.Get("data.__type." + list)
			if len(there) > 0 && there[0] == list {
				require.NotEmpty(t, v, "%s.%s", name, list)
			}
			require.Equal(t, slices.Contains(there, list), v != nil, "%s.%s: %v", name, list, v)
		}
	}
	a := ask(t, s, s.A.Owner, `{ __type(name: "Query") { interfaces { name } fields { type { kind fields { name } interfaces { name } isOneOf ofType { name } } } } }`, nil)
	require.Equal(t, []any{}, a.Get("data.__type.interfaces"))
	require.Nil(t, a.Get("data.__type.fields.0.type.isOneOf"))
}

package graph_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/graph"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// raw sends a body as it is.
func raw(t testing.TB, s *apitest.Server, as apitest.Caller, method, body string, h http.Header) *apitest.Answer {
	t.Helper()
	var b any
	if body != "" {
		b = body
	}
	return s.Send(t, apitest.Scenario{As: as, Method: method, Path: "/graphql", Body: b, Header: h})
}

const whoAmI = `{"query":"{ viewer { id } }"}`

// The status says whether anything was run; every answer is JSON and not cached.
func TestStatuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for name, c := range map[string]struct {
			as     apitest.Caller
			method string
			body   string
			header http.Header
			status int
			code   string
		}{
			"served":                 {as: s.A.Owner, body: whoAmI, status: 200},
			"a refusal by a row":     {as: s.A.Owner, body: document(`{ service(id: "svc_1") { id } }`), status: 200, code: "not_found"},
			"a charset":              {as: s.A.Owner, body: whoAmI, header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, status: 200},
			"nobody":                 {as: apitest.Nobody, body: whoAmI, status: 401, code: "unauthorized"},
			"a key of nobody":        {as: apitest.Caller{Header: http.Header{"X-Api-Key": {"key_live_x"}}}, body: whoAmI, status: 401, code: "unauthorized"},
			"a token of nobody":      {as: apitest.Caller{Header: http.Header{"Authorization": {"Bearer x"}}}, body: whoAmI, status: 401, code: "unauthorized"},
			"GET":                    {as: s.A.Owner, method: http.MethodGet, status: 405, code: "method_not_allowed"},
			"PUT":                    {as: s.A.Owner, method: http.MethodPut, body: whoAmI, status: 405, code: "method_not_allowed"},
			"another type":           {as: s.A.Owner, body: whoAmI, header: http.Header{"Content-Type": {"text/plain"}}, status: 415, code: "unsupported_media_type"},
			"GraphQL's own type":     {as: s.A.Owner, body: "{ viewer { id } }", header: http.Header{"Content-Type": {"application/graphql"}}, status: 415, code: "unsupported_media_type"},
			"a form":                 {as: s.A.Owner, body: "query=%7Bviewer%7Bid%7D%7D", header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, status: 415, code: "unsupported_media_type"},
			"a content encoding":     {as: s.A.Owner, body: whoAmI, header: http.Header{"Content-Encoding": {"gzip"}}, status: 415, code: "unsupported_media_type"},
			"another charset":        {as: s.A.Owner, body: whoAmI, header: http.Header{"Content-Type": {"application/json; charset=latin1"}}, status: 415, code: "unsupported_media_type"},
			"no JSON":                {as: s.A.Owner, body: "{", status: 400, code: "validation_error"},
			"no body":                {as: s.A.Owner, body: " ", status: 400, code: "validation_error"},
			"a mark of byte order":   {as: s.A.Owner, body: "\ufeff" + whoAmI, status: 400, code: "validation_error"},
			"a list of calls":        {as: s.A.Owner, body: "[" + whoAmI + "]", status: 400, code: "validation_error"},
			"a query that is none":   {as: s.A.Owner, body: `{"query":7}`, status: 400, code: "validation_error"},
			"a field nobody has":     {as: s.A.Owner, body: document("{ viewer { shoeSize } }"), status: 400, code: "validation_error"},
			"an argument nobody has": {as: s.A.Owner, body: document(`{ service(id: "svc_1", colour: "red") { id } }`), status: 400, code: "validation_error"},
			"over a mebibyte":        {as: s.A.Owner, body: `{"query":"` + strings.Repeat(" ", 1<<20) + `"}`, status: 413, code: "payload_too_large"},
		} {
			if c.method == "" {
				c.method = http.MethodPost
			}
			a := raw(t, s, c.as, c.method, c.body, c.header)
			require.Equal(t, c.status, a.Status, "%s: %s", name, a.Body)
			require.Equal(t, c.code, a.Text("errors.0.extensions.code"), name)
			require.Equal(t, "no-store", a.Header.Get("Cache-Control"), name)
			require.Equal(t, "application/json", a.Header.Get("Content-Type"), name)
			require.Equal(t, c.status == 200, a.Has("data"), "%s: %s", name, a.Body)
			if c.code != "" {
				require.Equal(t, a.RequestID(), a.Text("errors.0.extensions.requestId"), name)
				require.NotEmpty(t, a.Text("errors.0.message"), name)
			}
			require.Equal(t, c.status == 401, a.Header.Get("WWW-Authenticate") != "", name)
			require.Equal(t, c.status == 405, a.Header.Get("Allow") == http.MethodPost, name)
		}
	})
}

// No refusal repeats what was sent, because it may be a secret.
func TestRefusalsRepeatNoValues(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const hidden = "hunter2"
		create := `mutation($in: CreateSecretInput!) { createSecret(input: $in) { secret { id } } }`
		for name, a := range map[string]*apitest.Answer{
			"a literal of another type":  send(t, s, s.A.Owner, `mutation { createSecret(input: {allowedHosts: ["*"], name: ["`+hidden+`"], value: {a: "`+hidden+`"}}) { secret { id } } }`, nil),
			"a literal without a field":  send(t, s, s.A.Owner, `mutation { createSecret(input: {allowedHosts: ["*"], value: "`+hidden+`"}) { secret { id } } }`, nil),
			"an enum":                    send(t, s, s.A.Owner, `mutation { createService(input: {name: "x", status: `+hidden+`}) { service { id } } }`, nil),
			"a variable of another type": send(t, s, s.A.Owner, create, vars{"in": vars{"name": "OK", "value": []string{hidden}, "allowedHosts": []string{"*"}}}),
			"an unknown enum value":      send(t, s, s.A.Owner, `mutation($s: ServiceStatus!) { createService(input: {name: "x", status: $s}) { service { id } } }`, vars{"s": hidden}),
			"a field that is missing":    send(t, s, s.A.Owner, create, vars{"in": vars{"value": hidden, "allowedHosts": []string{"*"}}}),
			"a name that is refused":     send(t, s, s.A.Owner, create, vars{"in": vars{"name": hidden, "value": hidden, "allowedHosts": []string{"*"}}}),
			"a value that is too long":   send(t, s, s.A.Owner, create, vars{"in": vars{"name": "OK", "value": strings.Repeat(hidden, 10_000), "allowedHosts": []string{"*"}}}),
			"a host that is none":        send(t, s, s.A.Owner, create, vars{"in": vars{"name": "OK", "value": "v", "allowedHosts": []string{"https://" + hidden}}}),
			"broken syntax":              send(t, s, s.A.Owner, `mutation { createSecret(input: {allowedHosts: ["*"], name: "OK" value: "`+hidden+`"}) { secret { id } } `, nil),
			"a broken text":              send(t, s, s.A.Owner, "mutation { createSecret(input: {allowedHosts: [\"*\"], name: \"OK\" value: \""+hidden+"\n\"}) { secret { id } } }", nil),
			"a moment that is none":      send(t, s, s.A.Owner, `{ requests(filter: {createdAfter: "`+hidden+`"}) { totalCount } }`, nil),
			"a cursor that is none":      send(t, s, s.A.Owner, `{ requests(after: "`+hidden+`") { totalCount } }`, nil),
			"an id that is none":         send(t, s, s.A.Owner, `{ node(id: "`+hidden+`") { id } }`, nil),
		} {
			require.True(t, a.Has("errors"), "%s: %s", name, a.Body)
			require.Contains(t, []string{"validation_error", "not_found"}, a.Text("errors.0.extensions.code"), name)
			require.NotContains(t, string(a.Body), hidden, name)
		}
	})
}

// Details name the fields as REST does, without the name of the argument.
func TestDetailsNameFields(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for query, fields := range map[string][]string{
			`{ requests(first: 0) { totalCount } }`:                                        {"first"},
			`{ requests(first: 101) { totalCount } }`:                                      {"first"},
			`query($q: String = 5) { requests(filter: {q: $q}) { totalCount } }`:           {"q"},
			`{ requests(first: -5) { totalCount } }`:                                       {"first"},
			`{ requests(first: "5") { totalCount } }`:                                      {"first"},
			`{ requests(after: "x") { totalCount } }`:                                      {"after"},
			`{ requests(after: 5) { totalCount } }`:                                        {"after"},
			`{ requests(filter: {colour: "red"}) { totalCount } }`:                         {"colour"},
			`{ requests(filter: {status: "PENDING"}) { totalCount } }`:                     {"status"},
			`{ requests(filter: {status: [DONE, PENDING]}) { totalCount } }`:               {"status[0]"},
			`{ requests(filter: {createdAfter: "yesterday"}) { totalCount } }`:             {"createdAfter"},
			`{ requests(filter: {createdAfter: 5}) { totalCount } }`:                       {"createdAfter"},
			`{ requests(filter: {tag: "a"}) { totalCount } }`:                              {"tag"},
			`{ requests(filter: {tag: {a: [{b: "c"}]}}) { totalCount } }`:                  {"tag"},
			`{ requests(filter: {tag: {_: "\u0000"}}) { totalCount } }`:                    {"tag._"},
			`{ requests(filter: {q: "\u0000"}) { totalCount } }`:                           {"q"},
			`{ requests(filter: {q: "` + strings.Repeat("x", 201) + `"}) { totalCount } }`: {"q"},
			`{ requests(orderBy: {field: colour}) { totalCount } }`:                        {"orderBy.field"},
			`{ requests(orderBy: {}) { totalCount } }`:                                     {"orderBy.field"},
			`{ requests(colour: "red") { totalCount } }`:                                   {"colour"},
			`{ service { id } }`:                                                          {"id"},
			`{ service(id: null) { id } }`:                                                {"id"},
			`mutation { createService { service { id } } }`:                               {"input"},
			`mutation { createService(input: "x") { service { id } } }`:                   {"input"},
			`mutation { createService(input: {name: 5, slug: true}) { service { id } } }`: {"name", "slug"},
			`mutation { createOffering(input: {serviceId: "svc_1", name: "x", sla: {days: 3}}) { offering { id } } }`:                                                                                                 {"sla.days"},
			`mutation { createCalendar(input: {name: "x", timeZone: "Mars/Olympus", workingHours: {mon: [{from: "9", to: "17:00"}]}}) { calendar { id } } }`:                                                          {"workingHours.mon[0].from"},
			`mutation { createCalendar(input: {name: "x", timeZone: "Mars/Olympus", workingHours: {mon: [{from: "19:00", to: "17:00"}]}, holidays: ["2026-02-30"], exceptions: [{date: "x"}]}) { calendar { id } } }`: {"exceptions[0].date", "holidays[0]", "timeZone", "workingHours.mon[0].to"},
			`mutation { createAgent(input: {name: "x", type: ROBOT, source: CUSTOM, autonomy: SUGGEST}) { agent { id } } }`:                                                                                           {"type"},
			`query($first: Int!) { services(first: $first) { totalCount } }`:                                                                                                                                          {"first"},
			`{ auditEntries(filter: {actorId: "a", colour: "b"}) { totalCount } }`:                                                                                                                                    {"colour"},
			`mutation { exportAudit(input: {format: pdf}) { export { count } } }`:                                                                                                                                     {"format"},
			`mutation { exportAudit(input: {format: csv, filter: {from: "x"}}) { export { count } } }`:                                                                                                                {"from"},
		} {
			a := send(t, s, s.A.Owner, query, nil)
			require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"), "%s: %s", query, a.Body)
			var got []string
			details, _ := a.Get("errors.0.extensions.details").([]any)
			for _, d := range details {
				field, _ := apitest.At(d, "field")
				got = append(got, field.(string))
			}
			require.ElementsMatch(t, fields, got, "%s: %s", query, a.Body)
		}
	})
}

// A caller with a cookie must prove that the product's own page makes the call.
func TestCookiesAloneAreNotEnough(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.Session(t, s.World.A.Owner)
		cookie := apitest.Caller{Name: "a page", Header: http.Header{"Cookie": as.Header["Cookie"]}}
		for name, c := range map[string]struct {
			header http.Header
			status int
			code   string
		}{
			"the header":                    {http.Header{"X-Requested-With": {"XMLHttpRequest"}}, 200, ""},
			"an empty header":               {http.Header{"X-Requested-With": {""}}, 200, ""},
			"the own origin":                {http.Header{"X-Requested-With": {"x"}, "Origin": {testkit.BaseURL}}, 200, ""},
			"no header":                     {nil, 403, "forbidden"},
			"the own origin without header": {http.Header{"Origin": {testkit.BaseURL}}, 403, "forbidden"},
			"another origin":                {http.Header{"X-Requested-With": {"x"}, "Origin": {"https://evil.test"}}, 403, "forbidden"},
			"an origin that begins like it": {http.Header{"X-Requested-With": {"x"}, "Origin": {testkit.BaseURL + ".evil.test"}}, 403, "forbidden"},
			"the own origin without TLS":    {http.Header{"X-Requested-With": {"x"}, "Origin": {"http://atrium.test"}}, 403, "forbidden"},
			"an origin that hides":          {http.Header{"X-Requested-With": {"x"}, "Origin": {"null"}}, 403, "forbidden"},
			"two origins":                   {http.Header{"X-Requested-With": {"x"}, "Origin": {testkit.BaseURL, "https://evil.test"}}, 403, "forbidden"},
			"a form's type":                 {http.Header{"X-Requested-With": {"x"}, "Content-Type": {"text/plain"}}, 415, "unsupported_media_type"},
		} {
			a := raw(t, s, cookie, http.MethodPost, whoAmI, c.header)
			require.Equal(t, c.status, a.Status, "%s: %s", name, a.Body)
			require.Equal(t, c.code, a.Text("errors.0.extensions.code"), name)
		}
		// A key or a token is proof enough, because no browser adds it by itself.
		for _, as := range []apitest.Caller{s.A.Owner, s.A.OwnerKey} {
			require.Equal(t, 200, raw(t, s, as, http.MethodPost, whoAmI, http.Header{"Origin": {"https://app.test"}}).Status)
		}
	})
}

// With trusted documents, a caller with a cookie may run only those; keys and tokens may run any.
func TestTrustedDocuments(t *testing.T) {
	t.Parallel()
	const known = `query Me { viewer { id } }`
	sum := sha256.Sum256([]byte(known))
	hash := hex.EncodeToString(sum[:])
	trusted, err := graph.ReadDocuments([]byte(`{"` + hash + `":"` + known + `"}`))
	require.NoError(t, err)
	withTrusted := func(p apitest.Parts) (http.Handler, error) {
		return graph.New(graph.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL, Trusted: trusted}), nil
	}
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := apitest.Serve(t, w, withTrusted)
		page := s.Session(t, w.A.Owner)
		byHash := `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}}`
		other := strings.Repeat("0", 64)
		for name, c := range map[string]struct {
			as     apitest.Caller
			body   string
			status int
		}{
			"its text":                   {page, document(known), 200},
			"its hash":                   {page, byHash, 200},
			"its id":                     {page, `{"documentId":"` + hash + `"}`, 200},
			"its hash and its text":      {page, document(known, `,"documentId":"`+hash+`"`), 200},
			"its hash and another text":  {page, document(`{ viewer { name } }`, `,"documentId":"`+hash+`"`), 400},
			"another text":               {page, document(`{ viewer { name } }`), 400},
			"its text with a blank more": {page, document(known + " "), 400},
			"another hash":               {page, `{"documentId":"` + other + `"}`, 400},
			"another hash and its text":  {page, document(known, `,"documentId":"`+other+`"`), 400},
			"nothing":                    {page, `{}`, 400},
			"a key with another text":    {s.A.OwnerKey, document(`{ viewer { name } }`), 200},
			"a key with the hash":        {s.A.OwnerKey, byHash, 200},
			"a key with another hash":    {s.A.OwnerKey, `{"documentId":"` + other + `"}`, 400},
			"a token with another text":  {s.A.Owner, document(`{ viewer { name } }`), 200},
		} {
			a := raw(t, s, c.as, http.MethodPost, c.body, nil)
			require.Equal(t, c.status, a.Status, "%s: %s", name, a.Body)
			if c.status == 200 {
				require.NotEmpty(t, a.Text("data.viewer.id")+a.Text("data.viewer.name"), name)
			} else {
				require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"), name)
			}
		}
	})
	for _, broken := range []string{`{"` + hash + `":"{ viewer { name } }"}`, `[]`, `{"a":1}`, ``} {
		_, err := graph.ReadDocuments([]byte(broken))
		require.Error(t, err, broken)
	}
	none, err := graph.ReadDocuments([]byte(`null`))
	require.NoError(t, err)
	require.NotNil(t, none, "a manifest of none trusts none")
}

// The script of a page may run only the documents of the product's pages; a caller with a cookie and without a browser may run
// any.
func TestDocumentsOfPages(t *testing.T) {
	t.Parallel()
	const known = `query Me { viewer { id } }`
	sum := sha256.Sum256([]byte(known))
	pages := graph.Documents{hex.EncodeToString(sum[:]): known}
	withPages := func(p apitest.Parts) (http.Handler, error) {
		return graph.New(graph.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL, Pages: pages}), nil
	}
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := apitest.Serve(t, w, withPages)
		session, other := s.Session(t, w.A.Owner), document(`{ viewer { name } }`)
		script := http.Header{"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"cors"}}
		require.Equal(t, 200, raw(t, s, session, http.MethodPost, document(known), script).Status)
		require.Equal(t, 200, raw(t, s, session, http.MethodPost, other, nil).Status)
		require.Equal(t, 200, raw(t, s, s.A.Owner, http.MethodPost, other, script).Status, "a token is proof enough")
		a := raw(t, s, session, http.MethodPost, other, script)
		require.Equal(t, 400, a.Status)
		require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"))
	})
}

// Only admins and owners may read the schema, with the query that tools send; nobody gets suggestions.
func TestIntrospection(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for _, as := range []apitest.Caller{s.A.Owner, s.A.Admin, s.A.OwnerKey, s.A.AdminKey} {
			a := ask(t, s, as, introspection, nil)
			types, _ := a.Get("data.__schema.types").([]any)
			require.Greater(t, len(types), 100)
			require.Equal(t, "Service", ask(t, s, as, `{ __type(name: "Service") { name fields { name } } }`, nil).Text("data.__type.name"))
		}
		for _, as := range []apitest.Caller{s.A.Agent, s.A.Member, s.A.AgentKey, s.A.MemberKey} {
			a := send(t, s, as, introspection, nil)
			require.Equal(t, 400, a.Status)
			require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"))
			require.Equal(t, "Viewer", ask(t, s, as, `{ viewer { __typename } }`, nil).Text("data.viewer.__typename"))
		}
		for _, query := range []string{
			`{ viewer { nam } }`, `{ servic(id: "x") { id } }`, `{ services(frist: 1) { totalCount } }`, `{ services(filter: {statu: active}) { totalCount } }`,
			`{ services(filter: {status: activ}) { totalCount } }`, `query($a: ServiceFiltr) { services(filter: $a) { totalCount } }`, `{ node(id: "x") { ... on Servic { id } } }`,
			`{ viewer }`, `{ viewer { id @inclde(if: true) } }`,
		} {
			a := send(t, s, s.A.Member, query, nil)
			require.Equal(t, 400, a.Status, query)
			require.NotContains(t, string(a.Body), "Did you mean", query)
			for _, hint := range []string{`\"name\"`, "services", "first", `\"status\"`, "ServiceFilter", "include"} {
				if !strings.Contains(query, strings.Trim(hint, `\"`)) && !strings.Contains(query, "$a") {
					require.NotContains(t, string(a.Body), hint, query)
				}
			}
		}
	})
}

// An internal error is answered with internal_error and the request id, without its cause.
func TestInternalErrorsAreMasked(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		broken := &op.Engine{Store: w.Store, Authz: w.Engine.Authz, Sealer: explosive{}, Log: discard}
		quiet := func(p apitest.Parts) (http.Handler, error) {
			return graph.New(graph.Options{Engine: broken, Gate: p.Gate, Log: discard, BaseURL: p.BaseURL}), nil
		}
		s := apitest.Serve(t, w, quiet)
		for _, name := range []string{"FAILS", "PANICS"} {
			a := send(t, s, s.A.Owner, `mutation($in: CreateSecretInput!) { createSecret(input: $in) { secret { id } } }`, vars{"in": vars{"name": name, "value": name, "allowedHosts": []string{"*"}}})
			require.Equal(t, 200, a.Status, "%s", a.Body)
			require.Equal(t, "internal_error", a.Text("errors.0.extensions.code"))
			require.Equal(t, a.RequestID(), a.Text("errors.0.extensions.requestId"))
			require.NotContains(t, string(a.Body), "kaboom")
			require.Equal(t, vars{"createSecret": nil}, a.Get("data"))
			var m map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(a.Body, &m))
		}
	})
}

// An expensive call counts more against the caller's limit than a cheap one, and so do several mutations in one call.
func TestCostCountsAgainstTheLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Limits(t, s.World.A, 40, 1000)
		left := func(query string) string {
			a := ask(t, s, s.A.OwnerKey, query, nil)
			return a.Header.Get("RateLimit")
		}
		require.Contains(t, left(`{ viewer { id } }`), `r=39`)
		require.Contains(t, left(`{ requests(first: 100) { edges { node { id } } } }`), `r=38`)
		require.Contains(t, left(`{ requests(first: 100) { edges { node { id title status priority createdAt updatedAt tags fields } } } }`), `r=36`)
		require.Contains(t, left(`mutation { a: createService(input: {name: "a"}) { service { id } } b: createService(input: {name: "b"}) { service { id } } c: createService(input: {name: "c"}) { service { id } } }`), `r=33`)
		deep := `{ services(first: 60) { edges { node { id offerings(first: 60) { edges { node { id name slug } } } } } } }`
		require.Contains(t, left(deep), `r=14`)
		a := send(t, s, s.A.OwnerKey, deep, nil)
		require.Equal(t, 429, a.Status, "%s", a.Body)
		require.Equal(t, "rate_limit_exceeded", a.Text("errors.0.extensions.code"))
		require.Positive(t, a.Int("errors.0.extensions.retryAfter"))
		require.NotEmpty(t, a.Header.Get("Retry-After"))
		require.False(t, a.Has("data"))
	})
}

// A row of another company, of another environment, an unknown id and a malformed id get the same answer.
func TestForeignNodesAreNone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		req := h.filed(t, s, principal.Member, "mine")
		own := map[string]string{
			"Service": h.service.ID, "Offering": h.offering.ID, "Team": h.team.ID, "Request": req.ID, "User": s.A.Member.UserID,
		}
		for typ, id := range own {
			a := ask(t, s, s.A.Owner, `query($id: ID!) { node(id: $id) { __typename id } }`, vars{"id": id})
			require.Equal(t, typ, a.Text("data.node.__typename"))
			require.Equal(t, id, a.Text("data.node.id"))
			unknown := id[:len(id)-4] + "0000"
			none := send(t, s, s.A.Owner, `query($id: ID!) { node(id: $id) { id } }`, vars{"id": unknown}).Plain()
			for name, as := range map[string]apitest.Caller{"another company": s.B.Owner, "its key": s.B.OwnerKey, "the sandbox": s.A.TestKey} {
				require.Equal(t, none, send(t, s, as, `query($id: ID!) { node(id: $id) { id } }`, vars{"id": id}).Plain(), "%s for %s", typ, name)
			}
		}
		for _, id := range []string{"", "svc", "svc_", "x_1", "node_1", "co_1", "crd_1", "svc_\u0000", strings.Repeat("svc_", 1000), s.World.A.Company.ID} {
			a := send(t, s, s.A.Owner, `query($id: ID!) { node(id: $id) { id } }`, vars{"id": id})
			require.Equal(t, "not_found", a.Text("errors.0.extensions.code"), "%q: %s", id, a.Body)
			require.Nil(t, a.Get("data.node"))
		}
	})
}

// A moment that would be in the year 10000 in UTC can be written nowhere.
func TestMomentsPastTheLastYear(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		id := opened(t, s).filed(t, s, principal.Owner, "mine").ID
		const late = "9999-12-31T23:59:59-01:00"
		for field, a := range map[string]*apitest.Answer{
			"snoozedUntil": send(t, s, s.A.Owner, `mutation($in: UpdateRequestInput!) { updateRequest(input: $in) { request { id } } }`, vars{"in": vars{"id": id, "snoozedUntil": late}}),
			"expiresAt":    send(t, s, s.A.Owner, `mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { value } }`, vars{"in": vars{"name": "CI", "scopes": []string{"services:read"}, "expiresAt": late}}),
		} {
			require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"), "%s", a.Body)
			require.Equal(t, field, a.Text("errors.0.extensions.details.0.field"), "%s", a.Body)
		}
	})
}

// An id that no database can store is the id of no row, also where an operation looks it up beforehand.
func TestIDsThatCannotBeStored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for _, query := range []string{
			`mutation($id: ID!) { updateRequest(input: {id: $id, fields: {}}) { request { id } } }`,
			`mutation($id: ID!) { moveRequest(input: {id: $id, offeringId: "off_1"}) { request { id } } }`,
			`mutation($id: ID!) { createComment(input: {requestId: $id, body: "@you"}) { comment { id } } }`,
			`mutation($id: ID!) { publishWorkflow(input: {id: $id}) { workflow { id } } }`,
			`mutation($id: ID!) { updateAccessPolicy(input: {id: $id, condition: {}}) { accessPolicy { id } } }`,
			`mutation($id: ID!) { completeTask(input: {id: $id}) { task { id } } }`,
			`mutation($id: ID!) { resolveIncident(input: {id: $id, action: RETRY}) { incident { id } } }`,
			`mutation($id: ID!) { replayInboundCall(input: {id: $id}) { inboundCall { id } } }`,
			`query($id: ID!) { inboundCalls(webhookId: $id) { totalCount } }`,
			`query($id: ID!) { webhookDeliveries(subscriptionId: $id) { totalCount } }`,
		} {
			a := send(t, s, s.A.Owner, query, vars{"id": "x_\u0000"})
			require.Equal(t, "not_found", a.Text("errors.0.extensions.code"), "%s: %s", query, a.Body)
		}
	})
}

// When a caller disconnects, its operation is cancelled.
func TestCallersWhoHangUp(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, testkit.SQLiteWorld(t), door)
	grow(t, s, 0, 30)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/graphql", strings.NewReader(document(`{ services(first: 30) { edges { node { offerings { edges { node { id } } } } } } }`)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for k, v := range s.A.Owner.Header {
		req.Header[k] = v
	}
	cancel()
	_, err = s.HTTP.Do(req)
	require.ErrorIs(t, err, context.Canceled)
	ask(t, s, s.A.Owner, `{ viewer { id } }`, nil)
}

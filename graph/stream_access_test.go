package graph_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/ent/auditentry"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/graph"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// Streams show each caller exactly what GET /requests/{id} shows, and leave out hidden rows without a trace.
func TestStreamsShowWhatReadsShow(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		h := opened(t, s.Server)
		owner, member, sandbox := s.watch(t, s.A.Owner, watchRequests, nil), s.watch(t, s.A.Member, watchRequests, nil), s.watch(t, s.A.TestKey, watchRequests, nil)
		otherCompany := s.watch(t, s.B.Owner, watchRequests, nil)
		trace := func() int {
			n, err := s.World.Store.Reader().AuditEntry.Query().Where(auditentry.OutcomeNEQ(auditentry.OutcomeAllowed)).Count(apitest.System())
			require.NoError(t, err)
			d, err := s.World.Store.Reader().AccessDecision.Query().Where(accessdecision.Allowed(false)).Count(apitest.System())
			require.NoError(t, err)
			return n + d
		}
		before := trace()
		theirs := h.filed(t, s.Server, principal.Owner, "the owner's")
		mine := h.filed(t, s.Server, principal.Member, "the member's")
		require.Equal(t, theirs.ID, owner.result(t).get("data.requestChanged.request.id"))
		require.Equal(t, mine.ID, owner.result(t).get("data.requestChanged.request.id"))
		require.Equal(t, mine.ID, member.result(t).get("data.requestChanged.request.id"), "not the owner's")
		require.Equal(t, before, trace())

		refused := s.subscribe(t, s.A.Member, watchRequests, vars{"id": theirs.ID})
		require.Equal(t, http.StatusForbidden, refused.status, "%s", refused.body)
		for name, o := range map[string]*opening{
			"another company's": s.subscribe(t, s.B.Owner, watchRequests, vars{"id": theirs.ID}),
			"nobody's":          s.subscribe(t, s.B.Owner, watchRequests, vars{"id": "req_00000000000000000000000000"}),
		} {
			require.Equal(t, http.StatusNotFound, o.status, name)
		}
		for _, o := range []*opening{sandbox, otherCompany} {
			o.close()
			require.Empty(t, o.events)
		}
	})
}

// A policy that comes into force while a stream is open silently hides rows from it, and what its fields lead to. When the policy
// is deleted they are back.
func TestPolicyHidesRowsMidStream(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		h, admin := opened(t, s.Server), s.Session(t, s.World.A.Owner)
		o := s.watch(t, s.A.Agent, `subscription { requestChanged { request { title service { name } } } }`, nil)
		shown := func(title string, service any) {
			t.Helper()
			require.Equal(t, vars{"title": title, "service": service}, o.result(t).get("data.requestChanged.request"))
		}
		name := vars{"name": "IT Support"}
		h.filed(t, s.Server, principal.Owner, "one")
		shown("one", name)
		hide := func(in vars) string {
			in["effect"], in["action"] = "Deny", "read"
			return ask(t, s.Server, admin, makePolicy, vars{"in": in}).Text("data.createAccessPolicy.accessPolicy.id")
		}
		edge := hide(vars{"name": "No services", "resource": "Service", "condition": vars{"principal.role": "agent"}})
		h.filed(t, s.Server, principal.Owner, "two")
		shown("two", nil)
		ask(t, s.Server, admin, deletePolicy, vars{"in": vars{"id": edge}})
		hide(vars{"name": "Quiet", "resource": "Request", "condition": vars{"resource.title": "secret", "principal.role": "agent"}})
		h.filed(t, s.Server, principal.Owner, "secret")
		h.filed(t, s.Server, principal.Owner, "three")
		shown("three", name)
	})
}

// A caller without the rights is refused before the stream is open.
func TestStreamsThatAreNotOpened(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		narrow := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{Scopes: []string{"services:read"}})
		for name, c := range map[string]struct {
			as     apitest.Caller
			query  string
			vars   vars
			status int
			code   string
		}{
			"nobody":                {as: apitest.Nobody, query: watchRequests, status: 401, code: "unauthorized"},
			"without the scope":     {as: narrow, query: watchRequests, status: 403, code: "forbidden"},
			"a filter":              {as: s.A.Owner, query: watchRequests, vars: vars{"filter": vars{"status": "GONE"}}, status: 400, code: "validation_error"},
			"a moment that is none": {as: s.A.Owner, query: `subscription { requestChanged(filter: {createdAfter: "x"}) { change } }`, status: 400, code: "validation_error"},
			"a long filter":         {as: s.A.Owner, query: watchRequests, vars: vars{"filter": vars{"q": string(make([]byte, 300))}}, status: 400, code: "validation_error"},
			"two fields":            {as: s.A.Owner, query: `subscription { a: requestChanged { change } b: requestChanged { change } }`, status: 400, code: "validation_error"},
			"two by fragments":      {as: s.A.Owner, query: `subscription { ...F requestChanged { change } } fragment F on Subscription { webhookDeliveryChanged { change } }`, status: 400, code: "validation_error"},
			"none in the end":       {as: s.A.Owner, query: `subscription { requestChanged @skip(if: true) { change } }`, status: 400, code: "validation_error"},
			"introspection":         {as: s.A.Owner, query: `subscription { __typename }`, status: 400, code: "validation_error"},
			"the schema":            {as: s.A.Owner, query: `subscription { __schema { queryType { name } } }`, status: 400, code: "validation_error"},
			"an unknown field":      {as: s.A.Owner, query: `subscription { taskAssigned { id } }`, status: 400, code: "validation_error"},
			"costly events":         {as: s.A.Owner, query: `subscription { requestChanged { request { service { offerings(first: 100) { edges { node { id name slug status createdAt service { id name slug status updatedAt } } } } } } } }`, status: 400, code: "query_too_complex"},
			"a thousand aliases":    {as: s.A.Owner, query: `subscription { requestChanged { request {` + aliases(1001) + `} } }`, status: 400, code: "query_too_complex"},
		} {
			o := s.subscribe(t, c.as, c.query, c.vars)
			require.Equal(t, c.status, o.status, "%s: %s", name, o.body)
			require.Contains(t, o.body, `"`+c.code+`"`, name)
			require.Equal(t, "application/json", o.header.Get("Content-Type"), name)
		}
		plain := send(t, s.Server, s.A.Owner, watchRequests, nil)
		require.Equal(t, http.StatusBadRequest, plain.Status)
		require.Contains(t, string(plain.Body), "text/event-stream")
		get := raw(t, s.Server, s.A.Owner, http.MethodGet, "", http.Header{"Accept": {"text/event-stream"}})
		require.Equal(t, http.StatusMethodNotAllowed, get.Status)
		page := s.Session(t, s.World.A.Owner)
		page.Header = http.Header{"Cookie": page.Header["Cookie"]}
		require.Equal(t, http.StatusForbidden, s.subscribe(t, page, watchRequests, nil).status, "a page of another site could send this")
	})
}

// aliases returns n aliases for a request's id.
func aliases(n int) string {
	var b []byte
	for i := range n {
		b = append(b, " a"...)
		b = append(b, []byte(string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676)))...)
		b = append(b, ": id"...)
	}
	return string(b)
}

// A stream ends within seconds after its caller loses the right to it, whether anything happens or not, and for any reason.
func TestStreamsEndWithTheCredential(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		s.door.Hasten(graph.Timing{Recheck: 200 * time.Millisecond})
		system := func(fn func(ctx context.Context, tx *store.Tx) error) func(*testing.T) {
			return func(t *testing.T) {
				t.Helper()
				s.Write(t, fn)
			}
		}
		owner := s.World.As(s.World.A, principal.Owner)
		person := func(email string) *ent.User { return s.World.AddUser(t, s.World.A, email, principal.Admin) }
		key := s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{})
		deactivated, moved, out, page := person("gone@a.test"), person("moved@a.test"), person("out@a.test"), s.Session(t, s.World.A.Owner)
		soon := s.World.Clock.Now().Add(3 * time.Second)
		cases := map[string]struct {
			as   apitest.Caller
			code string
			end  func(*testing.T)
		}{
			"the key is revoked": {key, "unauthorized", func(t *testing.T) {
				testkit.Run(t, s.World, owner, apikey.Revoke, op.ByID{ID: key.KeyID})
			}},
			"the key expires":   {s.Key(t, s.World.A, s.World.A.Owner, apitest.KeyOptions{ExpiresAt: &soon}), "unauthorized", func(*testing.T) {}},
			"the token expires": {s.Bearer(t, s.World.A, s.World.A.Owner, principal.ScopeNames, 3*time.Second), "unauthorized", func(*testing.T) {}},
			"the user is deactivated": {s.Session(t, deactivated), "unauthorized", func(t *testing.T) {
				testkit.Run(t, s.World, owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: deactivated.ID}})
			}},
			"the role changes": {s.Bearer(t, s.World.A, moved, principal.ScopeNames, time.Hour), "forbidden", system(func(ctx context.Context, tx *store.Tx) error {
				return tx.User.UpdateOneID(moved.ID).SetRole(user.RoleMember).Exec(ctx)
			})},
			"signed out everywhere": {s.Bearer(t, s.World.A, out, principal.ScopeNames, time.Hour), "unauthorized", system(func(ctx context.Context, tx *store.Tx) error {
				return tx.User.UpdateOneID(out.ID).SetSignedOutAt(s.World.Clock.Now()).Exec(ctx)
			})},
			"the session is switched": {page, "forbidden", system(func(ctx context.Context, tx *store.Tx) error {
				return tx.Session.Update().Where(session.UserID(s.World.A.Owner.ID)).SetSandbox(true).Exec(ctx)
			})},
		}
		streams := map[string]*opening{}
		for name, c := range cases {
			streams[name] = s.watch(t, c.as, watchRequests, nil)
		}
		steady := s.watch(t, s.A.AgentKey, watchRequests, nil)
		began := time.Now()
		for _, c := range cases {
			c.end(t)
		}
		for name, c := range cases {
			require.Equal(t, c.code, streams[name].ending(t), name)
		}
		t.Logf("all ended within %s, without an event", time.Since(began))
		opened(t, s.Server).filed(t, s.Server, principal.Owner, "still there")
		require.Equal(t, "still there", steady.result(t).get("data.requestChanged.request.title"))
	})
}

// When a row changes, a caller whose right has ended is shown nothing of it.
func TestNothingIsShownAfterTheEnd(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		h, page := opened(t, s.Server), s.Session(t, s.World.A.Owner)
		o := s.watch(t, page, watchRequests, nil)
		h.filed(t, s.Server, principal.Agent, "seen")
		o.result(t)
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.Session.Update().SetEndedAt(s.World.Clock.Now()).Exec(ctx)
		})
		s.World.Store.AuthorityChanged()
		h.filed(t, s.Server, principal.Agent, "not seen")
		require.Equal(t, "unauthorized", o.ending(t))
	})
}

// A stream does not extend its session, which ends when nothing else uses it.
func TestStreamsKeepNoSessionAlive(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		s.door.Hasten(hasty)
		h, page := opened(t, s.Server), s.Session(t, s.World.A.Owner)
		o := s.watch(t, page, watchRequests, nil)
		for i := range 5 { // a session lasts an hour after its last use
			s.World.Clock.SetOffset(time.Duration(i) * 14 * time.Minute)
			h.filed(t, s.Server, principal.Agent, "now and then")
			o.result(t)
		}
		s.World.Clock.SetOffset(61 * time.Minute)
		require.Equal(t, "unauthorized", o.ending(t))
	})
}

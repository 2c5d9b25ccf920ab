package graph_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// under sends an operation with an idempotency key.
func under(t *testing.T, s *apitest.Server, as apitest.Caller, key, query string, v vars) *apitest.Answer {
	t.Helper()
	return s.Send(t, apitest.Scenario{
		As: as, Method: http.MethodPost, Path: "/graphql", Header: http.Header{"Idempotency-Key": {key}}, Body: vars{"query": query, "variables": v},
	})
}

// A mutation that is repeated with its key has no second effect and gets the first answer, including values that are shown once
// and the fact that a row was deleted.
func TestMutationsUnderAKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		as := s.Session(t, s.World.A.Owner)
		deleted := testkit.Run(t, s.World, s.World.As(s.World.A, principal.Owner), people.CreateTeam, people.CreateTeamInput{Name: "Gone"})
		for key, c := range map[string]struct {
			query string
			vars  vars
		}{
			"request": {`mutation($s: ID!, $o: ID!) { createRequest(input: {serviceId: $s, offeringId: $o, title: "T", fields: {n: 12345678901234567890}, tags: {a: "b"}}) { request { id title fields tags createdAt etag service { name } } } }`,
				vars{"s": h.service.ID, "o": h.offering.ID}},
			"key":  {`mutation { createApiKey(input: {name: "K", scopes: ["requests:read"]}) { apiKey { id last4 createdAt } value } }`, nil},
			"hook": {`mutation { createWebhookSubscription(input: {url: "https://hooks.example.com/in", events: ["request.created"]}) { webhookSubscription { id events } signingSecret } }`, nil},
			"inbound": {`mutation($w: ID!) { createInboundWebhook(input: {name: "Alerts", workflowId: $w}) { inboundWebhook { id url } signingSecret } }`,
				vars{"w": someInbound(t, s)["w"]}},
			"agent":  {`mutation { createAgent(input: {name: "Robot", type: QUEUE_INTAKE, source: CUSTOM, autonomy: SUGGEST}) { agent { id } signingSecret } }`, nil},
			"policy": {`mutation { createAccessPolicy(input: {name: "P", effect: Deny, action: "read", resource: "Secret", condition: {resource__x: 1}}) { accessPolicy { id } } }`, nil},
			"gone":   {`mutation($id: ID!) { deleteTeam(input: {id: $id}) { id } }`, vars{"id": deleted.ID}},
			"client": {`mutation { __typename createOAuthClient(input: {name: "C", redirectUris: ["https://app.test/cb"], confidential: true}) { oauthClient { id redirectUris scopes } clientSecret } }`, nil},
			"person": {`mutation { inviteUser(input: {email: "new@a.test"}) { user { id email teamIds etag } } }`, nil},
		} {
			first := under(t, s, as, key, c.query, c.vars)
			before := s.Counts(t)
			again := under(t, s, as, key, c.query, c.vars)
			if key == "policy" { // a refused call has had no effect: it is refused again
				require.Equal(t, "validation_error", again.Text("errors.0.extensions.code"), "%s", again.Body)
				continue
			}
			require.False(t, first.Has("errors"), "%s: %s", key, first.Body)
			require.JSONEq(t, string(first.Body), string(again.Body), key)
			require.Empty(t, first.Header.Get("Idempotency-Replayed"), key)
			require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"), key)
			require.Equal(t, before, s.Counts(t), "%s: no second effect", key)
		}
		kept := under(t, s, as, "key", `mutation { createApiKey(input: {name: "Other", scopes: ["requests:read"]}) { value } }`, nil)
		require.Equal(t, "idempotency_mismatch", kept.Text("errors.0.extensions.code"), "%s", kept.Body)
		two := under(t, s, as, "two", `mutation { a: createTeam(input: {name: "A"}) { team { id } } b: createTeam(input: {name: "B"}) { team { id } } }`, nil)
		require.Equal(t, http.StatusBadRequest, two.Status)
		require.Equal(t, "Idempotency-Key", two.Text("errors.0.extensions.details.0.field"))
		require.Equal(t, http.StatusOK, under(t, s, as, "two", `{ viewer { id } }`, nil).Status, "a query takes any")
	})
}

// An export that is repeated with its key is recorded once, and holds the same entries although others were written meanwhile.
func TestExportsUnderAKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.Session(t, s.World.A.Owner)
		export := func(format string) *apitest.Answer {
			t.Helper()
			return under(t, s, as, "export", `mutation { exportAudit(input: {format: `+format+`}) { export { count content } } }`, nil)
		}
		first := export("csv")
		require.False(t, first.Has("errors"), "%s", first.Body)
		ask(t, s, as, `mutation { createTeam(input: {name: "Later"}) { team { id } } }`, nil)
		before := s.Counts(t)
		again := export("csv")
		require.JSONEq(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		require.Equal(t, before, s.Counts(t), "no second effect")
		require.Equal(t, "idempotency_mismatch", export("jsonl").Text("errors.0.extensions.code"))
	})
}

// __typename has no effect and does not count as a mutation, wherever it is and however often.
func TestTypenamesUnderAKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const create = `createTeam(input: {name: "NAME"}) { __typename }`
		payload := vars{"__typename": "CreateTeamPayload"}
		for query, want := range map[string]vars{
			`mutation { __typename }`:                  {"__typename": "Mutation"},
			`mutation { a: __typename b: __typename }`: {"a": "Mutation", "b": "Mutation"},
			`mutation { __typename ` + create + ` }`:   {"__typename": "Mutation", "createTeam": payload},
			`mutation { ` + create + ` __typename }`:   {"__typename": "Mutation", "createTeam": payload},
			`mutation { a: __typename ...F b: __typename } fragment F on Mutation { __typename ` + create + ` }`: {
				"a": "Mutation", "b": "Mutation", "__typename": "Mutation", "createTeam": payload,
			},
		} {
			key := fmt.Sprintf("%x", sha256.Sum256([]byte(query)))
			require.Equal(t, want, ask(t, s, s.A.Owner, strings.ReplaceAll(query, "NAME", "without "+key[:20]), nil).Get("data"), query)
			query = strings.ReplaceAll(query, "NAME", key[:20]) // names are unique
			for range 2 {
				a := under(t, s, s.A.Owner, key, query, nil)
				require.Equal(t, http.StatusOK, a.Status, "%s: %s", query, a.Body)
				require.Equal(t, want, a.Get("data"), query)
			}
		}
	})
}

// Of many concurrent calls with one key, one takes effect.
func TestMutationsUnderAKeyAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		ids := make([]string, 10)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				ids[i] = under(t, s, s.A.Owner, "k", `mutation { createTeam(input: {name: "One"}) { team { id } } }`, nil).Text("data.createTeam.team.id")
			})
		}
		wg.Wait()
		require.NotEmpty(t, ids[0])
		for _, id := range ids {
			require.Equal(t, ids[0], id)
		}
	})
}

// When two clients have read the same row, the second one to save is refused; after reading it again it succeeds.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		as := s.Session(t, s.World.A.Owner)
		r := h.filed(t, s, principal.Member, "R")
		said := ask(t, s, as, `mutation($id: ID!) { createComment(input: {requestId: $id, body: "zero"}) { comment { id etag } } }`, vars{"id": r.ID}).Text("data.createComment.comment.id")
		empty := testkit.Run(t, s.World, s.World.As(s.World.A, principal.Owner), people.CreateTeam, people.CreateTeamInput{Name: "Empty"})
		for _, c := range []struct{ list, row, id, change string }{
			{"services", "service", h.service.ID, `updateService(input: {id: $id, ifMatch: $tag, description: $text}) { service { etag } }`},
			{"", "offering", h.offering.ID, `updateOffering(input: {id: $id, ifMatch: $tag, description: $text}) { offering { etag } }`},
			{"requests", "request", r.ID, `updateRequest(input: {id: $id, ifMatch: $tag, description: $text}) { request { etag } }`},
			{"teams", "team", h.team.ID, `updateTeam(input: {id: $id, ifMatch: $tag, description: $text}) { team { etag } }`},
			{"teams", "team", empty.ID, `updateTeam(input: {id: $id, ifMatch: $tag, description: $text}) { team { etag } }`},
			{"users", "user", s.A.Owner.UserID, `updateUser(input: {id: $id, ifMatch: $tag, name: $text}) { user { etag } }`}, // in no team
			{"users", "user", s.A.Agent.UserID, `updateUser(input: {id: $id, ifMatch: $tag, name: $text}) { user { etag } }`},
			{"", "comment", said, `updateComment(input: {id: $id, ifMatch: $tag, body: $text}) { comment { etag } }`},
			{"", "company", "", `updateCompany(input: {ifMatch: $tag, name: $text}) { company { etag } }`},
		} {
			read := func() string {
				t.Helper()
				switch c.row {
				case "comment":
					return ask(t, s, as, `query($id: ID!) { node(id: $id) { ... on Comment { etag } } }`, vars{"id": c.id}).Text("data.node.etag")
				case "company":
					return ask(t, s, as, `{ viewer { company { etag } } }`, nil).Text("data.viewer.company.etag")
				}
				return ask(t, s, as, `query($id: ID!) { row: `+c.row+`(id: $id) { etag } }`, vars{"id": c.id}).Text("data.row.etag")
			}
			change := func(tag any, text string) *apitest.Answer {
				t.Helper()
				declared := `$id: ID!, `
				if c.id == "" {
					declared = ""
				}
				return send(t, s, as, `mutation(`+declared+`$tag: String, $text: String) { `+c.change+` }`, vars{"id": c.id, "tag": tag, "text": text})
			}
			tag := read()
			require.NotEmpty(t, tag)
			if c.list != "" {
				listed := ask(t, s, as, `{ `+c.list+` { edges { node { id etag } } } }`, nil)
				require.Contains(t, string(listed.Body), `"etag":"`+tag+`"`, c.row)
			}
			require.Equal(t, "precondition_failed", change("", "none").Text("errors.0.extensions.code"), "%s: an empty tag is none", c.row)
			first := change(tag, "one")
			require.False(t, first.Has("errors"), "%s: %s", c.row, first.Body)
			second := change(tag, "two")
			require.Equal(t, "precondition_failed", second.Text("errors.0.extensions.code"), "%s: %s", c.row, second.Body)
			next := read()
			require.NotEqual(t, tag, next)
			require.Equal(t, next, first.Text("data.update"+strings.ToUpper(c.row[:1])+c.row[1:]+"."+c.row+".etag"), c.row)
			require.False(t, change(next, "three").Has("errors"))
			require.False(t, change(nil, "four").Has("errors"), "whoever names no tag overwrites")
		}
		// A membership changes both its team and its user.
		tag := ask(t, s, as, `query($id: ID!) { user(id: $id) { etag } }`, vars{"id": s.A.Agent.UserID}).Text("data.user.etag")
		ask(t, s, as, `mutation($id: ID!) { updateTeam(input: {id: $id, memberIds: []}) { team { id } } }`, vars{"id": h.team.ID})
		a := send(t, s, as, `mutation($id: ID!, $tag: String) { updateUser(input: {id: $id, ifMatch: $tag, teamIds: []}) { user { id } } }`, vars{"id": s.A.Agent.UserID, "tag": tag})
		require.Equal(t, "precondition_failed", a.Text("errors.0.extensions.code"), "%s", a.Body)
	})
}

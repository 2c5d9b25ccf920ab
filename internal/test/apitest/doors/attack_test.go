package doors

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/routing"
	"atrium/internal/desk/savedview"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/webhook"
	"atrium/internal/workflow"
)

// These are attacks that have been tried, with variants. Each is made through REST and GraphQL.

const canary = "canary-7f3a"

// denied makes a Deny policy of company A.
func denied(d *side, action, resource, condition string) *ent.AccessPolicy {
	return by(d, policy.Create, policy.CreateInput{Name: "D", Effect: "Deny", Action: action, Resource: resource, Condition: when(condition)})
}

// ask calls the GraphQL API.
func ask(t *testing.T, s *apitest.Server, as apitest.Caller, header http.Header, query string, input vars) *apitest.Answer {
	t.Helper()
	return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Header: header, Body: vars{"query": query, "variables": vars{"input": input}}})
}

// A stored answer is not returned any more once the right to it is lost: by a policy that hides the row or denies the call, or
// through the other API.
func TestStoredAnswersRevealNothingHidden(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		d := newSide(t, s)
		row := d.request()
		key := http.Header{"Idempotency-Key": {"attack"}}
		as := s.A.Agent
		calls := map[string]func() *apitest.Answer{
			"POST": func() *apitest.Answer {
				return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Header: key, Body: vars{
					"serviceId": d.known["<service>"], "offeringId": d.known["<offering>"], "title": canary, "priority": "LOW",
				}})
			},
			"PATCH": func() *apitest.Answer {
				return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/requests/" + row, Header: http.Header{"Idempotency-Key": {"patch"}}, Body: vars{"title": canary}})
			},
			"createRequest": func() *apitest.Answer {
				return ask(t, s, as, http.Header{"Idempotency-Key": {"gql"}}, "mutation($input: CreateRequestInput!) { createRequest(input: $input) { request { title } } }", vars{
					"serviceId": d.known["<service>"], "offeringId": d.known["<offering>"], "title": canary,
				})
			},
			"updateRequest": func() *apitest.Answer {
				return ask(t, s, as, http.Header{"Idempotency-Key": {"gql-patch"}}, "mutation($input: UpdateRequestInput!) { updateRequest(input: $input) { request { title } } }",
					vars{"id": row, "title": canary + " again"})
			},
		}
		for name, call := range calls {
			require.Contains(t, string(call().Body), canary, name)
			require.Contains(t, string(call().Body), canary, name)
		}
		for _, hidden := range []*policy.CreateInput{
			{Action: "read", Condition: when(`{"resource.title": {"prefix": "` + canary + `"}}`)},
			{Action: "*", Condition: when(`{"principal.role": "agent"}`)},
		} {
			p := by(d, policy.Create, policy.CreateInput{Name: "D", Effect: "Deny", Action: hidden.Action, Resource: "Request", Condition: hidden.Condition})
			for name, call := range calls {
				a := call()
				require.NotContains(t, string(a.Body), canary, name)
				require.Contains(t, string(a.Body), "forbidden", name)
			}
			by(d, policy.Delete, op.ByID{ID: p.ID})
		}
		for name, call := range calls {
			require.Contains(t, string(call().Body), canary, name)
		}
	})
}

// A stored answer with a secret is not returned to a session that could not make the call any more.
func TestStoredSecretsRequireARecentProof(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.Session(t, s.World.A.Users[principal.Admin])
		call := func() *apitest.Answer {
			return ask(t, s, as, http.Header{"Idempotency-Key": {"k"}}, "mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { value } }",
				vars{"name": "K", "scopes": []string{"requests:read"}})
		}
		require.Contains(t, string(call().Body), "key_live_")
		s.World.Clock.SetOffset(20 * time.Minute)
		a := call()
		require.NotContains(t, string(a.Body), "key_live_")
		require.Contains(t, string(a.Body), "forbidden")
	})
}

// The text of a hidden row is not disclosed by any means: reads, lists, searches, children, explanations, replays of policies,
// the audit log, decisions, deliveries or errors.
func TestHiddenTextComesOutNowhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		d := newSide(t, s)
		row := d.request()
		by(d, request.Update, request.UpdateInput{ByID: op.ByID{ID: row}, Title: op.SetTo(canary), Description: op.SetTo(canary)})
		in := request.CreateCommentInput{Body: canary}
		in.ID = row
		comment := by(d, request.CreateComment, in).ID
		denied(d, "read", "Request", `{"resource.title": {"glob": "canary*"}, "principal.role": ["admin", "agent", "member"]}`)

		who := []apitest.Caller{s.A.Admin, s.A.AdminKey, s.A.Agent, s.A.Member, s.B.Owner}
		for _, as := range who {
			for _, path := range []string{
				"/requests/" + row, "/requests?q=canary", "/requests?pageSize=100", "/requests?sort=title", "/requests/" + row + "/comments", "/audit?resourceId=" + row, "/audit?pageSize=100",
				"/executions?requestId=" + row, "/tasks?requestId=" + row, "/services/" + d.known["<service>"], "/offerings/" + d.known["<offering>"],
			} {
				a := s.Send(t, apitest.Scenario{As: as, Path: "/v1" + path})
				require.NotContains(t, string(a.Body), canary, "%s as %s", path, as.Name)
			}
			for _, change := range []apitest.Scenario{
				{Method: http.MethodPatch, Path: "/v1/requests/" + row, Body: vars{"title": "X"}},
				{Method: http.MethodPatch, Path: "/v1/requests/" + row, Body: vars{}},
				{Method: http.MethodPatch, Path: "/v1/comments/" + comment, Body: vars{"body": "X"}},
				{Method: http.MethodDelete, Path: "/v1/comments/" + comment},
				{Method: http.MethodPost, Path: "/v1/requests/" + row + "/comments", Body: vars{"body": "X"}},
			} {
				change.As = as
				a := s.Send(t, change)
				require.NotContains(t, string(a.Body), canary, "%s %s as %s", change.Method, change.Path, as.Name)
				require.GreaterOrEqual(t, a.Status, 400, "%s %s as %s", change.Method, change.Path, as.Name)
			}
			for _, query := range []string{
				`{ node(id: %q) { id ... on Request { title } } }`, `{ request(id: %q) { title description comments(first: 9) { edges { node { body } } } } }`,
				`{ auditEntries(first: 100, filter: {resourceId: %q}) { edges { node { action changes } } } }`,
				`{ explainAccess(principalId: "` + s.A.Owner.UserID + `", action: "read", resourceType: "Request", resourceId: %q) { allowed unmet { have want } } }`,
				`{ explainAccess(principalId: "` + as.UserID + `", action: "update", resourceType: "Request", resourceId: %q) { allowed unmet { have want } } }`,
				`{ service(id: "` + d.known["<service>"] + `") { offerings(first: 9) { edges { node { id } } } } requests(first: 50) { totalCount edges { node { title } } } # %q` + "\n}",
				`{ accessDecisions(first: 100) { edges { node { id } } } webhookDeliveries(first: 10) { edges { node { id } } } # %q` + "\n}",
			} {
				a := s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": fmt.Sprintf(query, row)}})
				require.NotContains(t, string(a.Body), canary, "%s as %s", query, as.Name)
			}
			for _, mutation := range []string{"acceptRequest", "updateRequest", "createComment"} {
				input := vars{"id": row}
				if mutation == "createComment" {
					input["body"] = "X"
				}
				a := ask(t, s, as, nil, fmt.Sprintf("mutation($input: %sInput!) { %s(input: $input) { __typename } }", strings.ToUpper(mutation[:1])+mutation[1:], mutation), input)
				require.NotContains(t, string(a.Body), canary, "%s as %s", mutation, as.Name)
				require.True(t, a.Has("errors"), "%s as %s: %s", mutation, as.Name, a.Body)
			}
		}
		require.Equal(t, canary, s.Send(t, apitest.Scenario{As: s.A.Owner, Path: "/v1/requests/" + row}).Text("data.title"), "owners read it")
	})
}

// No mutation accepts an id of another company, at any place in its input: nothing of that company changes, and nothing of it is
// in the answer. The mutations are taken from the schema, so that none is forgotten.
func TestNoMutationTakesForeignIDs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		d := newSide(t, s)
		for _, row := range []func() string{d.comment, d.workflow, d.team, d.organization, d.secret, d.user} {
			row()
		}
		by(d, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: d.known["<service>"]}, Name: op.SetTo(canary)})
		by(d, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: canary, TimeZone: new("UTC")})
		by(d, savedview.Create, savedview.CreateInput{Name: canary, Scope: "company"})
		by(d, routing.Create, routing.CreateInput{Name: canary, When: "true", Priority: new("LOW")})
		by(d, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: canary, Role: new("agent")})
		by(d, webhook.CreateSubscription, webhook.CreateSubscriptionInput{Description: new(canary), URL: "https://example.com/hook", Events: []string{"request.created"}})
		ids, before := s.Of(t, s.World.A.Company.ID)
		require.GreaterOrEqual(t, len(ids), 20, ids)

		as := s.Session(t, s.World.B.Users[principal.Owner])
		tried := 0
		for _, mutation := range schema.Mutation.Fields {
			if len(mutation.Arguments) != 1 {
				continue
			}
			in := schema.Types[mutation.Arguments[0].Type.Name()]
			for _, field := range in.Fields {
				if field.Type.Name() != "ID" {
					continue
				}
				for entity, id := range ids {
					input := least(in, 0)
					input[field.Name] = id
					if field.Type.Elem != nil {
						input[field.Name] = []string{id}
					}
					tried++
					a := ask(t, s, as, nil, fmt.Sprintf("mutation($input: %s!) { %s(input: $input) { __typename } }", in.Name, mutation.Name), input)
					require.NotContains(t, string(a.Body), canary, "%s with %s of a %s", mutation.Name, field.Name, entity)
					require.True(t, a.Has("errors") || mutation.Name == "markNotificationsRead", "%s with %s of a %s: %s", mutation.Name, field.Name, entity, a.Body)
				}
			}
		}
		require.Greater(t, tried, 1_000)
		_, after := s.Of(t, s.World.A.Company.ID)
		require.Equal(t, before, after)
	})
}

// least returns an input with only the required fields.
func least(def *ast.Definition, depth int) vars {
	out := vars{}
	for _, f := range def.Fields {
		if !f.Type.NonNull || f.DefaultValue != nil || depth > 3 {
			continue
		}
		var v any = "x"
		switch of := schema.Types[f.Type.Name()]; {
		case of.Kind == ast.Enum:
			v = of.EnumValues[0].Name
		case of.Kind == ast.InputObject:
			v = least(of, depth+1)
		case of.Name == "Int":
			v = 1
		case of.Name == "Boolean":
			v = true
		}
		if f.Type.Elem != nil {
			v = []any{v}
		}
		out[f.Name] = v
	}
	return out
}

package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/rest"
)

// matrix says which roles may call each route: o(wner), a(dmin), (a)g(ent), m(ember). The others get 403.
var matrix = map[string]string{
	"GET /services": "oagm", "POST /services": "oa", "GET /services/{id}": "oagm", "PATCH /services/{id}": "oa", "DELETE /services/{id}": "oa",
	"GET /services/{id}/offerings": "oagm", "POST /services/{id}/offerings": "oa",
	"GET /offerings/{id}": "oagm", "PATCH /offerings/{id}": "oa", "DELETE /offerings/{id}": "oa",
	"GET /requests": "oagm", "POST /requests": "oagm", "GET /requests/{id}": "oag", "PATCH /requests/{id}": "oag", "POST /requests/{id}/move": "oag", "POST /requests/bulk": "oag",
	"POST /requests/import": "oa", "GET /request-imports": "oa", "GET /request-imports/{id}": "oa", "POST /request-imports/{id}/start": "oa", "POST /request-imports/{id}/stop": "oa",
	"GET /requests/{id}/people": "oag", "GET /reports/requests": "oagm", "GET /search": "oagm",
	"POST /requests/{id}/merge": "oag", "GET /requests/{id}/links": "oag", "POST /requests/{id}/links": "oag", "DELETE /request-links/{id}": "oag",
	"GET /requests/{id}/watchers": "oag", "PUT /requests/{id}/watch": "oag", "DELETE /requests/{id}/watch": "oag",
	"GET /requests/{id}/comments": "oag", "POST /requests/{id}/comments": "oag", // a request of the owner's
	"GET /requests/{id}/attachments": "oag", "POST /attachments": "oagm", "GET /attachments/{id}": "oag", "DELETE /attachments/{id}": "oag",
	"PATCH /comments/{id}": "o", "DELETE /comments/{id}": "o", // the owner's own comment
	"GET /workflows": "oag", "POST /workflows": "oa", "GET /workflows/{id}": "oag", "PATCH /workflows/{id}": "oa", "DELETE /workflows/{id}": "oa",
	"POST /workflows/{id}/publish": "oa", "GET /workflows/{id}/versions": "oag", "GET /workflows/{id}/versions/{version}": "oag",
	"GET /workflows/{id}/executions": "oag", "GET /executions": "oag", "GET /executions/{id}": "oag", "POST /executions/{id}/cancel": "oag",
	"GET /incidents": "oag", "GET /incidents/{id}": "oag", "POST /incidents/{id}/resolve": "oag",
	"GET /incidents/{id}/preview": "oag",
	"GET /tasks":                  "oagm", "GET /tasks/{id}": "oag", "POST /tasks/{id}/complete": "oag", "POST /tasks/{id}/claim": "oag", "POST /tasks/{id}/assign": "oag",
	"GET /approvals": "oagm", "GET /approvals/{id}": "oagm", "POST /approvals/{id}/decide": "oagm", "POST /approvals/{id}/delegate": "oagm",
	"GET /workflows/{id}/versions/{version}/diff": "oag",
	"POST /workflows/try":                         "oa",
	"GET /services/{id}/template":                 "oa", "GET /packs": "oa", "POST /packs/plan": "oa", "POST /packs/install": "oa",
	"GET /schedules": "oag", "POST /schedules": "oa", "GET /schedules/{id}": "oag", "PATCH /schedules/{id}": "oa", "DELETE /schedules/{id}": "oa",
	"GET /schedules/{id}/runs": "oag", "POST /schedules/{id}/run": "oa", "POST /schedules/times": "oag",
	"GET /report-subscriptions": "oagm", "POST /report-subscriptions": "oag",
	"GET /report-subscriptions/{id}": "o", "PATCH /report-subscriptions/{id}": "o", "DELETE /report-subscriptions/{id}": "o", // the owner's own
	"GET /users": "oag", "GET /users/{id}": "oag", "PATCH /users/{id}": "oa",
	"GET /teams": "oag", "POST /teams": "oa", "GET /teams/{id}": "oag", "PATCH /teams/{id}": "oa", "DELETE /teams/{id}": "oa",
	"GET /organizations": "oag", "POST /organizations": "oa", "GET /organizations/{id}": "oag", "PATCH /organizations/{id}": "oa", "DELETE /organizations/{id}": "oa",
	"GET /secrets": "oa", "GET /secrets/{id}": "oa", "POST /secrets": "oa", "PATCH /secrets/{id}": "oa", "DELETE /secrets/{id}": "oa",
	"GET /agent-runs": "oag", "GET /agent-runs/{id}": "oag", "POST /agent-runs/{id}/claim": "", "POST /agent-runs/{id}/steps": "", // only agents may
	"POST /agent-runs/{id}/complete": "", "POST /agent-runs/{id}/handover": "",
	"GET /billing/credits": "oa", "GET /audit": "oa",
}

// scopes says which scope each path requires, by its first segment; methods other than GET require ":write".
var scopes = map[string]string{
	"services": "services", "offerings": "services", "requests": "requests", "reports": "requests", "report-subscriptions": "requests", "search": "requests", "comments": "requests", "request-links": "requests", "request-imports": "requests", "attachments": "requests", "workflows": "workflows", "users": "users",
	"tasks": "requests", "approvals": "requests", "executions": "workflows", "incidents": "workflows", "schedules": "workflows", "packs": "workflows",
	"agent-runs": "requests", "teams": "teams", "organizations": "organizations", "secrets": "secrets", "billing": "billing", "audit": "audit",
}

var letters = map[principal.Role]string{principal.Owner: "o", principal.Admin: "a", principal.Agent: "g", principal.Member: "m"}

// goodBody returns a body that the route accepts; n makes it unique.
func goodBody(row rest.Row, f filing, n int) any {
	name := body{"name": fmt.Sprint("Good ", n, " ", unique())}
	switch row.Method + " " + row.Path {
	case "POST /requests":
		return body{"serviceId": f.service, "offeringId": f.offering, "title": "t"}
	case "POST /requests/bulk":
		return body{"ids": []string{f.request}, "change": body{"title": unique()}}
	case "POST /requests/import":
		return body{"csv": "title\nA\n", "serviceId": f.service, "offeringId": f.offering}
	case "POST /request-imports/{id}/start", "POST /request-imports/{id}/stop":
		return nil
	case "POST /requests/{id}/move":
		return body{"offeringId": f.offering}
	case "POST /requests/{id}/links":
		return body{"type": "relates", "requestId": f.request}
	case "POST /attachments":
		return body{"draft": true, "name": unique(), "size": 1}
	case "POST /requests/{id}/merge":
		return body{"into": f.request}
	case "PATCH /requests/{id}":
		return body{"title": unique()}
	case "POST /requests/{id}/comments", "PATCH /comments/{id}":
		return body{"body": unique()}
	case "POST /workflows":
		name["definition"] = definition
	case "POST /schedules":
		return body{"name": "Daily " + unique(), "workflowId": f.workflow, "cron": "0 9 * * *", "timeZone": "UTC"}
	case "POST /schedules/times":
		return body{"cron": "0 9 * * *", "timeZone": "UTC"}
	case "POST /schedules/{id}/run":
		return nil
	case "POST /packs/plan", "POST /packs/install":
		return body{"source": fmt.Sprintf("kind: Pack\nkey: p\nspec: {name: P}\n---\nkind: Workflow\nkey: w%d%s\nspec: {name: W, definition: {phases: [{id: s, type: START}, {id: e, type: END}], transitions: [{from: s, name: next, to: e}]}}\n", n, strings.ToLower(unique()))}
	case "POST /workflows/try":
		return body{"definition": definition}
	case "POST /secrets":
		return body{"name": "S" + strings.ToUpper(unique()), "value": "v", "allowedHosts": []string{"*"}}
	case "PATCH /secrets/{id}":
		return body{"description": unique()}
	case "POST /workflows/{id}/publish", "POST /executions/{id}/cancel", "POST /tasks/{id}/claim":
		return nil
	case "POST /agent-runs/{id}/steps":
		return body{"kind": "read", "operation": "requests", "result": "Looked."}
	case "POST /agent-runs/{id}/handover":
		return body{"reason": "r"}
	case "POST /agent-runs/{id}/claim":
		return nil
	case "POST /agent-runs/{id}/complete":
		return body{}
	case "POST /tasks/{id}/complete":
		return body{}
	case "POST /tasks/{id}/assign":
		return body{"assigneeId": f.user}
	case "POST /approvals/{id}/decide":
		return body{"decision": "APPROVE"}
	case "POST /approvals/{id}/delegate":
		return body{"userId": f.user}
	case "POST /incidents/{id}/resolve":
		return body{"action": "RETRY"}
	case "PATCH /users/{id}":
		return body{"attributes": body{"a": unique()}}
	}
	if row.Method == http.MethodPost || row.Method == http.MethodPatch {
		return name
	}
	return nil
}

// TestRoleMatrix calls every route as every role: by token, by a key with only the route's scope, and by a key with every other
// scope.
func TestRoleMatrix(t *testing.T) {
	t.Parallel()
	table := rest.Table()
	require.Len(t, matrix, len(table), "a new route takes a line in the matrix")
	each(t, func(t *testing.T, s *apitest.Server) {
		f := filed(t, s, s.A.OwnerKey)
		only, without := map[string]apitest.Caller{}, map[string]apitest.Caller{}
		keyOf := func(cache map[string]apitest.Caller, role principal.Role, scopes []string) apitest.Caller {
			name := string(role) + strings.Join(scopes, ",")
			if _, ok := cache[name]; !ok {
				cache[name] = s.Key(t, s.A.Tenant, s.A.Tenant.Users[role], apitest.KeyOptions{Scopes: scopes})
			}
			return cache[name]
		}
		at, used := singles(t, s, s.A.OwnerKey), false
		for n, row := range table {
			first := strings.Split(row.Path, "/")[1]
			scope := scopes[first] + ":read"
			if row.Method != http.MethodGet && row.Path != "/schedules/times" { // it reads
				scope = scopes[first] + ":write"
			}
			require.Equal(t, scope, row.Op.Scope, row.Path)
			who, ok := matrix[row.Method+" "+row.Path]
			require.True(t, ok, "%s %s", row.Method, row.Path)
			for _, role := range apitest.Roles {
				want, code := row.Status, ""
				if !strings.Contains(who, letters[role]) {
					want, code = 403, "forbidden"
					if first == "attachments" || first == "report-subscriptions" && row.Path != "/report-subscriptions" {
						want, code = 404, "not_found" // nobody is told of what is others'
					}
				}
				for _, as := range []apitest.Caller{s.A.Role(role), keyOf(only, role, []string{scope})} {
					if used { // the row is gone, or has another state
						at = singles(t, s, s.A.OwnerKey)
					}
					used = want < 400 && (row.Method == http.MethodDelete || row.Method == http.MethodPost && strings.Contains(row.Path, "{id}"))
					a := s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: at.of(row), Body: goodBody(row, f, n), WantStatus: want, WantCode: code, WantNoChange: want < 400 && row.Op.Action == op.Read})
					if want == 403 {
						reason := string(role)
						if first == "comments" {
							reason = "author"
						}
						require.Equal(t, reason, a.Text("reason"), "%s %s", row.Method, row.Path)
						require.Regexp(t, `^dec_`, a.Text("decisionId"))
					}
				}
				s.Do(t, apitest.Scenario{
					As: keyOf(without, role, apitest.Without(scope)), Method: row.Method, Path: at.of(row), Body: goodBody(row, f, n),
					WantStatus: 403, WantCode: "forbidden", WantContains: []string{`"reason":"` + scope + `"`}, WantEvents: nil,
				})
			}
		}
	})
}

// TestScopesOfTokens checks that a token without API scopes has no scope that it was not given.
func TestScopesOfTokens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		narrow := s.Bearer(t, s.A.Tenant, s.A.Tenant.Owner, []string{"openid", "services:read", "root"}, 3600e9)
		s.Do(t, apitest.Scenario{As: narrow, Path: "/v1/services"})
		s.Do(t, apitest.Scenario{As: narrow, Path: "/v1/requests", WantStatus: 403, WantContains: []string{"requests:read"}})
		s.Do(t, apitest.Scenario{As: narrow, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "x"}, WantStatus: 403})
	})
}

package doors

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/secret"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

const straight = `{"phases":[{"id":"start","type":"START"},{"id":"end","type":"END"}],"transitions":[{"from":"start","name":"next","to":"end"}]}`

var definition = vars{
	"phases":      []any{vars{"id": "start", "type": "START"}, vars{"id": "end", "type": "END"}},
	"transitions": []any{vars{"from": "start", "name": "next", "to": "end"}},
}

// The rows that calls are about. Company A's owner makes them.

func by[In, Out any](d *side, o *op.Operation[In, Out], in In) Out {
	d.t.Helper()
	return testkit.Run(d.t, d.s.World, d.s.World.As(d.s.World.A, principal.Owner), o, in)
}

func (d *side) service() string {
	return d.is("<service>", by(d, catalog.CreateService, catalog.CreateServiceInput{Name: "Service " + d.tag}).ID)
}

func (d *side) offering() string {
	in := catalog.CreateOfferingInput{Name: "Offering " + d.tag}
	in.ID = d.service()
	return d.is("<offering>", by(d, catalog.CreateOffering, in).ID)
}

func (d *side) request() string {
	off := d.offering()
	return by(d, request.Create, request.CreateInput{ServiceID: d.known["<service>"], OfferingID: off, Title: "Request " + d.tag}).ID
}

func (d *side) completed() string {
	id := op.ByID{ID: d.request()}
	for _, to := range []string{"IN_PROGRESS", "COMPLETED"} {
		by(d, request.Update, request.UpdateInput{ByID: id, Status: op.SetTo(to)})
	}
	return id.ID
}

func (d *side) comment() string {
	in := request.CreateCommentInput{Body: "Where is it?"}
	in.ID = d.is("<request>", d.request())
	return d.is("<comment>", by(d, request.CreateComment, in).ID)
}

func (d *side) workflow() string {
	return by(d, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Workflow " + d.tag, Definition: workflow.NewDefinition([]byte(straight))}).ID
}

func (d *side) team() string {
	return by(d, people.CreateTeam, people.CreateTeamInput{Name: "Team " + d.tag, MemberIDs: []string{d.s.A.Agent.UserID}}).ID
}

func (d *side) organization() string {
	return by(d, people.CreateOrganization, people.CreateOrganizationInput{Name: "Organization " + d.tag}).ID
}

func (d *side) secret() string {
	return by(d, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "S" + upper(d.tag), Value: "hunter2"}).ID
}

func (d *side) user() string {
	return d.s.World.AddUser(d.t, d.s.World.A, d.tag+"@a.test", principal.Member).ID
}

func upper(s string) string { return "X" + s[1:] }

func named(noun string) func(*side) vars {
	return func(d *side) vars { return vars{"name": noun + " " + d.tag} }
}

func said(body vars) func(*side) vars {
	return func(*side) vars {
		out := vars{}
		for k, v := range body {
			out[k] = v
		}
		return out
	}
}

// calls are the operations that both APIs have.
var calls = []call{
	{name: "read a service", method: http.MethodGet, path: "/services/{id}", root: "service", typ: "Service", scope: "services:read", row: (*side).service},
	{name: "create a service", method: http.MethodPost, path: "/services", root: "createService", typ: "Service", scope: "services:write", body: named("Service")},
	{name: "update a service", method: http.MethodPatch, path: "/services/{id}", root: "updateService", typ: "Service", scope: "services:write", row: (*side).service,
		body: said(vars{"description": "d", "status": "archived", "tags": vars{"a": "b"}, "ownerTeamId": nil})},
	{name: "delete a service", method: http.MethodDelete, path: "/services/{id}", root: "deleteService", typ: "Service", scope: "services:write", row: (*side).service},
	{name: "delete a service with requests", method: http.MethodDelete, path: "/services/{id}", root: "deleteService", typ: "Service", scope: "services:write",
		row: func(d *side) string { d.request(); return d.known["<service>"] }},

	{name: "list offerings", method: http.MethodGet, path: "/services/{id}/offerings", root: "service.offerings", args: "first: 100", query: "?pageSize=100", typ: "Offering", scope: "services:read",
		row: func(d *side) string { d.offering(); return d.known["<service>"] }},
	{name: "read an offering", method: http.MethodGet, path: "/offerings/{id}", root: "offering", typ: "Offering", scope: "services:read", row: (*side).offering},
	{name: "create an offering", method: http.MethodPost, path: "/services/{id}/offerings", root: "createOffering", about: "serviceId", typ: "Offering", scope: "services:write", row: (*side).service,
		body: func(d *side) vars {
			return vars{"name": "Offering " + d.tag, "sla": vars{"responseMinutes": 5}, "form": vars{"fields": []any{vars{"key": "model", "label": "Model", "type": "text", "required": true}}}}
		}},
	{name: "update an offering", method: http.MethodPatch, path: "/offerings/{id}", root: "updateOffering", typ: "Offering", scope: "services:write", row: (*side).offering,
		body: said(vars{"status": "inactive", "sla": vars{"warnAtPercent": 80}, "tags": nil})},
	{name: "delete an offering", method: http.MethodDelete, path: "/offerings/{id}", root: "deleteOffering", typ: "Offering", scope: "services:write", row: (*side).offering},

	{name: "read a request", method: http.MethodGet, path: "/requests/{id}", root: "request", typ: "Request", scope: "requests:read", row: (*side).request},
	{name: "file a request", method: http.MethodPost, path: "/requests", root: "createRequest", typ: "Request", scope: "requests:write", body: func(d *side) vars {
		off := d.offering()
		return vars{"serviceId": d.known["<service>"], "offeringId": off, "title": "Request " + d.tag, "priority": "HIGH", "fields": vars{"n": 1.5, "nested": vars{"a": []any{true, nil, "é<>&"}}}}
	}},
	{name: "file a request for somebody", method: http.MethodPost, path: "/requests", root: "createRequest", typ: "Request", scope: "requests:write", body: func(d *side) vars {
		off := d.offering()
		return vars{"serviceId": d.known["<service>"], "offeringId": off, "title": "Request " + d.tag, "assigneeId": d.s.A.Agent.UserID}
	}},
	{name: "update a request", method: http.MethodPatch, path: "/requests/{id}", root: "updateRequest", typ: "Request", scope: "requests:write", row: (*side).request, body: said(vars{"priority": "LOW", "tags": vars{"k": "v"}})},
	{name: "move a request", method: http.MethodPost, path: "/requests/{id}/move", root: "moveRequest", typ: "Request", scope: "requests:write", row: (*side).request, body: func(d *side) vars {
		in := catalog.CreateOfferingInput{Name: "Other " + d.tag}
		in.ID = d.known["<service>"]
		return vars{"offeringId": d.is("<other>", by(d, catalog.CreateOffering, in).ID), "fields": vars{"site": "Bern"}}
	}},
	{name: "accept a request", method: http.MethodPatch, path: "/requests/{id}", root: "updateRequest", typ: "Request", scope: "requests:write", row: (*side).request, body: said(vars{"status": "IN_PROGRESS"})},
	{name: "reopen a request", method: http.MethodPatch, path: "/requests/{id}", root: "updateRequest", typ: "Request", scope: "requests:write", row: (*side).completed, body: said(vars{"status": "IN_PROGRESS"})},
	{name: "comment on a completed request", method: http.MethodPost, path: "/requests/{id}/comments", root: "createComment", about: "requestId", typ: "Comment", scope: "requests:write", row: (*side).completed,
		body: said(vars{"body": "It broke again."})},
	{name: "cancel a request", method: http.MethodPatch, path: "/requests/{id}", root: "updateRequest", typ: "Request", scope: "requests:write", row: (*side).request, body: said(vars{"status": "CANCELLED"})},
	{name: "complete a pending request", method: http.MethodPatch, path: "/requests/{id}", root: "updateRequest", typ: "Request", scope: "requests:write", row: (*side).request, body: said(vars{"status": "COMPLETED"})},

	{name: "list comments", method: http.MethodGet, path: "/requests/{id}/comments", root: "request.comments", args: "first: 100", query: "?pageSize=100", typ: "Comment", scope: "requests:read",
		row: func(d *side) string { d.comment(); return d.known["<request>"] }},
	{name: "comment on a request", method: http.MethodPost, path: "/requests/{id}/comments", root: "createComment", about: "requestId", typ: "Comment", scope: "requests:write", row: (*side).request,
		body: said(vars{"body": "It has arrived."})},
	{name: "comment on a request for staff", method: http.MethodPost, path: "/requests/{id}/comments", root: "createComment", about: "requestId", typ: "Comment", scope: "requests:write", row: (*side).request,
		body: said(vars{"body": "It is on its way.", "visibility": "internal"})},
	{name: "change a comment", method: http.MethodPatch, path: "/comments/{id}", root: "updateComment", typ: "Comment", scope: "requests:write", row: (*side).comment, body: said(vars{"body": "No, it has not.", "visibility": "internal"})},
	{name: "delete a comment", method: http.MethodDelete, path: "/comments/{id}", root: "deleteComment", typ: "Comment", scope: "requests:write", row: (*side).comment},

	{name: "read a workflow", method: http.MethodGet, path: "/workflows/{id}", root: "workflow", typ: "Workflow", scope: "workflows:read", row: (*side).workflow},
	{name: "create a workflow", method: http.MethodPost, path: "/workflows", root: "createWorkflow", typ: "Workflow", scope: "workflows:write",
		body: func(d *side) vars { return vars{"name": "Workflow " + d.tag, "definition": definition} }},
	{name: "update a workflow", method: http.MethodPatch, path: "/workflows/{id}", root: "updateWorkflow", typ: "Workflow", scope: "workflows:write", row: (*side).workflow, body: said(vars{"description": "d", "definition": definition})},
	{name: "activate an unpublished workflow", method: http.MethodPatch, path: "/workflows/{id}", root: "updateWorkflow", typ: "Workflow", scope: "workflows:write", row: (*side).workflow, body: said(vars{"status": "active"})},
	{name: "delete a workflow", method: http.MethodDelete, path: "/workflows/{id}", root: "deleteWorkflow", typ: "Workflow", scope: "workflows:write", row: (*side).workflow},

	{name: "read a user", method: http.MethodGet, path: "/users/{id}", root: "user", typ: "User", scope: "users:read", row: (*side).user},
	{name: "update a user", method: http.MethodPatch, path: "/users/{id}", root: "updateUser", typ: "User", scope: "users:write", row: (*side).user, body: said(vars{"attributes": vars{"floor": "3"}, "role": "agent"})},
	{name: "make an owner", method: http.MethodPatch, path: "/users/{id}", root: "updateUser", typ: "User", scope: "users:write", row: (*side).user, body: said(vars{"role": "owner"})},

	{name: "read a team", method: http.MethodGet, path: "/teams/{id}", root: "team", typ: "Team", scope: "teams:read", row: (*side).team},
	{name: "create a team", method: http.MethodPost, path: "/teams", root: "createTeam", typ: "Team", scope: "teams:write",
		body: func(d *side) vars { return vars{"name": "Team " + d.tag, "memberIds": []string{d.s.A.Member.UserID}} }},
	{name: "update a team", method: http.MethodPatch, path: "/teams/{id}", root: "updateTeam", typ: "Team", scope: "teams:write", row: (*side).team, body: said(vars{"memberIds": []string{}, "description": "d"})},
	{name: "delete a team", method: http.MethodDelete, path: "/teams/{id}", root: "deleteTeam", typ: "Team", scope: "teams:write", row: (*side).team},

	{name: "read an organization", method: http.MethodGet, path: "/organizations/{id}", root: "organization", typ: "Organization", scope: "organizations:read", row: (*side).organization},
	{name: "create an organization", method: http.MethodPost, path: "/organizations", root: "createOrganization", typ: "Organization", scope: "organizations:write", body: named("Organization")},
	{name: "update an organization", method: http.MethodPatch, path: "/organizations/{id}", root: "updateOrganization", typ: "Organization", scope: "organizations:write", row: (*side).organization, body: said(vars{"tags": vars{"a": "b"}})},
	{name: "delete an organization", method: http.MethodDelete, path: "/organizations/{id}", root: "deleteOrganization", typ: "Organization", scope: "organizations:write", row: (*side).organization},

	{name: "create a secret", method: http.MethodPost, path: "/secrets", root: "createSecret", typ: "Secret", scope: "secrets:write",
		body: func(d *side) vars {
			return vars{"name": "S" + upper(d.tag), "value": "hunter2", "allowedHosts": []string{"*.example.com"}}
		}},
	{name: "update a secret", method: http.MethodPatch, path: "/secrets/{id}", root: "updateSecret", typ: "Secret", scope: "secrets:write", row: (*side).secret, body: said(vars{"description": "d"})},
	{name: "replace a secret's value", method: http.MethodPatch, path: "/secrets/{id}", root: "updateSecret", typ: "Secret", scope: "secrets:write", row: (*side).secret, body: said(vars{"value": "correct horse"})},
	{name: "send a secret elsewhere", method: http.MethodPatch, path: "/secrets/{id}", root: "updateSecret", typ: "Secret", scope: "secrets:write", row: (*side).secret, body: said(vars{"allowedHosts": []string{"api.example.com"}})},
	{name: "delete a secret", method: http.MethodDelete, path: "/secrets/{id}", root: "deleteSecret", typ: "Secret", scope: "secrets:write", row: (*side).secret},
}

// lists are the lists that both APIs have, with filters of the same meaning.
var lists = []call{
	{name: "services", path: "/services", root: "services", typ: "Service", scope: "services:read"},
	{name: "services by name", path: "/services", query: "?sort=-name&pageSize=100", root: "services", args: "first: 100, orderBy: {field: name, direction: DESC}", typ: "Service", scope: "services:read"},
	{name: "archived services", path: "/services", query: "?status=archived,draft", root: "services", args: "filter: {status: [archived, draft]}", typ: "Service", scope: "services:read"},
	{name: "services by tag and name", path: "/services", query: "?tag.env=prod,dev&q=SERV", root: "services", args: `filter: {tag: {env: ["prod", "dev"]}, q: "SERV"}`, typ: "Service", scope: "services:read"},
	{name: "requests", path: "/requests", root: "requests", typ: "Request", scope: "requests:read"},
	{name: "pending requests by priority", path: "/requests", query: "?status=PENDING&sort=-priority", root: "requests", args: "filter: {status: PENDING}, orderBy: {field: priority, direction: DESC}", typ: "Request", scope: "requests:read"},
	{name: "urgent requests", path: "/requests", query: "?priority=URGENT,HIGH&createdAfter=2020-01-01T00:00:00Z", root: "requests", args: `filter: {priority: [URGENT, HIGH], createdAfter: "2020-01-01T00:00:00Z"}`, typ: "Request", scope: "requests:read"},
	{name: "requests from the future", path: "/requests", query: "?createdAfter=2120-01-01T00:00:00Z", root: "requests", args: `filter: {createdAfter: "2120-01-01T00:00:00Z"}`, typ: "Request", scope: "requests:read"},
	{name: "workflows", path: "/workflows", query: "?status=draft", root: "workflows", args: "filter: {status: [draft]}", typ: "Workflow", scope: "workflows:read"},
	{name: "users", path: "/users", query: "?sort=name", root: "users", args: "orderBy: {field: name}", typ: "User", scope: "users:read"},
	{name: "owners", path: "/users", query: "?role=owner&status=active", root: "users", args: "filter: {role: owner, status: active}", typ: "User", scope: "users:read"},
	{name: "teams", path: "/teams", root: "teams", typ: "Team", scope: "teams:read"},
	{name: "organizations", path: "/organizations", root: "organizations", typ: "Organization", scope: "organizations:read"},
	{name: "secrets", path: "/secrets", root: "secrets", typ: "Secret", scope: "secrets:read"},
	{name: "audit entries", path: "/audit", query: "?action=service.created&sort=at", root: "auditEntries", args: `filter: {action: "service.created"}, orderBy: {field: at}`, typ: "AuditEntry", scope: "audit:read"},
}

// everybody returns callers of every kind.
func everybody(t *testing.T, s *apitest.Server, scope string) []apitest.Caller {
	t.Helper()
	without := s.Key(t, s.A.Tenant, s.World.A.Owner, apitest.KeyOptions{Scopes: apitest.Without(scope)})
	without.Name = "owner's key without " + scope
	only := s.Key(t, s.A.Tenant, s.World.A.Owner, apitest.KeyOptions{Scopes: []string{scope}})
	only.Name = "owner's key with " + scope + " alone"
	narrow := s.Bearer(t, s.A.Tenant, s.World.A.Owner, []string{scope}, 3600e9)
	narrow.Name = "owner's token with " + scope + " alone"
	test := s.Key(t, s.A.Tenant, s.World.A.Owner, apitest.KeyOptions{Test: true}) // a new one for each call, because a test key may make 60 calls a minute
	test.Name = "test key"
	return []apitest.Caller{
		s.A.Owner, s.A.Admin, s.A.Agent, s.A.Member, s.A.OwnerKey, s.A.AdminKey, s.A.AgentKey, s.A.MemberKey,
		without, only, narrow, test, s.B.Owner, s.B.MemberKey, apitest.Nobody,
	}
}

func TestBothDoorsDoTheSame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for _, c := range calls {
			seen := map[string]bool{}
			for _, as := range everybody(t, s, c.scope) {
				seen[compare(t, s, c, as).Code] = true
			}
			require.True(t, seen["unauthorized"] && seen["forbidden"], "%s: %v", c.name, seen)
			if c.row != nil {
				require.True(t, seen["not_found"], "%s: another company's row is none: %v", c.name, seen)
			}
		}
	})
}

func TestBothDoorsListTheSame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		d := newSide(t, s)
		d.request()
		by(d, request.Create, request.CreateInput{ServiceID: d.known["<service>"], OfferingID: d.known["<offering>"], Title: "Now", Priority: new("HIGH")})
		d.workflow()
		d.team()
		d.organization()
		d.secret()
		id := newSide(t, s).service()
		by(d, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: id}, Status: op.SetTo("archived"), Tags: op.SetTo(map[string]string{"env": "dev"})})
		for _, c := range lists {
			c.method = http.MethodGet
			if c.args == "" {
				c.args = "first: 20"
			}
			rows := 0
			for _, as := range everybody(t, s, c.scope) {
				list, _ := compare(t, s, c, as).Data.([]any)
				rows += len(list)
			}
			if c.name != "requests from the future" {
				require.Positive(t, rows, c.name)
			}
		}
	})
}

// faults are inputs that are refused, with the fields that the errors must name.
var faults = []struct {
	call   call
	body   func(*side) vars
	code   string
	fields []string
}{
	{find("create a service"), said(vars{}), "validation_error", []string{"name"}},
	{find("create a service"), said(vars{"name": "x", "description": 5, "slug": true, "status": []any{}}), "validation_error", []string{"description", "slug", "status"}},
	{find("create a service"), said(vars{"name": " ", "slug": "Not A Slug", "tags": vars{"a": 1, "ä": "b"}}), "validation_error", []string{"name", "slug", "tags.a", "tags.ä"}},
	{find("create a service"), said(vars{"name": "x", "color": "red"}), "validation_error", []string{"color"}},
	{find("create a service"), said(vars{"name": nil}), "validation_error", []string{"name"}},
	{find("create a service"), said(vars{"name": "x", "status": "gone"}), "validation_error", []string{"status"}},
	{find("create a service"), said(vars{"name": "x", "ownerTeamId": "team_1", "organizationId": "org_1"}), "validation_error", []string{"organizationId", "ownerTeamId"}},
	{find("create a service"), func(d *side) vars { d.service(); return vars{"name": "Service " + d.tag} }, "conflict", nil},
	{find("update a service"), said(vars{"name": nil, "slug": nil, "status": nil}), "validation_error", []string{"name", "slug", "status"}},
	{find("create an offering"), said(vars{"name": "x", "sla": vars{"responseMinutes": 0, "warnAtPercent": 100}}), "validation_error", []string{"sla.responseMinutes", "sla.warnAtPercent"}},
	{find("create an offering"), said(vars{"name": "x", "form": vars{"fields": []any{vars{"key": "a b", "label": "A", "type": "colour"}, vars{"key": "c", "label": "C", "type": "text", "weight": 3}}}}), "validation_error", nil},
	{find("create an offering"), said(vars{"name": "x", "form": vars{"fields": "none"}}), "validation_error", nil},
	{find("file a request"), said(vars{"serviceId": "svc_1", "offeringId": "off_1", "title": "x"}), "validation_error", []string{"offeringId", "serviceId"}},
	{find("file a request"), said(vars{"priority": "LOW"}), "validation_error", []string{"offeringId", "serviceId", "title"}},
	{find("file a request"), func(d *side) vars {
		in := catalog.CreateOfferingInput{Name: "Form " + d.tag}
		in.ID = d.service()
		off := by(d, catalog.CreateOffering, in)
		by(d, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: off.ID}, Form: op.SetTo(oneField)})
		return vars{"serviceId": in.ID, "offeringId": off.ID, "title": "x", "fields": vars{"size": "L", "colour": "red"}}
	}, "validation_error", []string{"fields.colour", "fields.size"}},
	{find("update a request"), said(vars{"assigneeId": "usr_1", "teamId": "team_1", "title": "ok"}), "validation_error", []string{"assigneeId", "teamId"}},
	{find("create a workflow"), said(vars{"name": "x", "definition": vars{"phases": []any{}}}), "validation_error", nil},
	{find("create a workflow"), said(vars{"name": "x"}), "validation_error", []string{"definition"}},
	{find("update a user"), said(vars{"role": "boss"}), "validation_error", []string{"role"}},
	{find("update a user"), said(vars{"teamIds": []string{"team_1", "team_1"}}), "validation_error", nil},
	{find("create a team"), said(vars{"name": "x", "memberIds": []any{"usr_1"}}), "validation_error", []string{"memberIds[0]"}},
	{find("create an organization"), said(vars{"name": "x", "parentId": "org_1"}), "validation_error", []string{"parentId"}},
	{find("create a secret"), said(vars{"name": "lower", "value": "", "allowedHosts": []string{}}), "validation_error", []string{"allowedHosts", "name", "value"}},
	{find("create a secret"), said(vars{"name": "OK", "value": "a\x00b", "allowedHosts": []string{"https://a.test"}}), "validation_error", []string{"allowedHosts", "value"}},
	{find("create a secret"), said(vars{"name": "OK", "value": strings.Repeat("ü", 40_000), "allowedHosts": []string{"https://a.test"}}), "validation_error", []string{"allowedHosts", "value"}},
	{find("create a secret"), said(vars{"name": "OK", "value": "v"}), "validation_error", []string{"allowedHosts"}},
	{find("send a secret elsewhere"), said(vars{"value": strings.Repeat("ü", 40_000), "allowedHosts": []string{"a.test:443"}}), "validation_error", []string{"allowedHosts", "value"}},
}

func find(name string) call {
	for _, c := range calls {
		if c.name == name {
			return c
		}
	}
	panic(name)
}

func TestBothDoorsRefuseTheSameInputs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for _, f := range faults {
			f.call.body = f.body
			for _, as := range []apitest.Caller{s.A.Owner, s.A.OwnerKey} {
				out := compare(t, s, f.call, as)
				require.Equal(t, f.code, out.Code, f.call.name)
				if f.fields != nil {
					require.Equal(t, f.fields, out.Details, f.call.name)
				}
			}
		}
	})
}

package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
	"atrium/rest"
)

// estate holds the rows that live makes for a company.
type estate struct {
	service, offering, request, workflow, team, organization, secret, user, comment, link, table, file, run, schedule, report string
	processing                                                                                                                processing
}

// path returns the path of a row of the route table, with the id of the company's own row.
func (e estate) path(row string) string {
	return "/v1" + strings.Replace(strings.Replace(row, "{version}", "1", 1), "{id}", map[string]string{
		"services": e.service, "offerings": e.offering, "requests": e.request, "workflows": e.workflow,
		"teams": e.team, "organizations": e.organization, "secrets": e.secret, "users": e.user, "comments": e.comment, "request-links": e.link, "request-imports": e.table, "schedules": e.schedule, "report-subscriptions": e.report, "attachments": e.file, "agent-runs": e.run,
		"executions": e.processing.execution, "tasks": e.processing.task, "approvals": e.processing.approval, "incidents": e.processing.incident,
	}[strings.Split(row, "/")[1]], 1)
}

// live makes rows for a company, under names that every company uses.
func live(t *testing.T, s *apitest.Server, as apitest.Caller, user string) estate {
	t.Helper()
	var e estate
	e.user = user
	e.organization = create(t, s, as, "/v1/organizations", body{"name": "Berlin"})
	e.team = create(t, s, as, "/v1/teams", body{"name": "Ops", "organizationId": e.organization, "memberIds": []string{user}})
	e.workflow = create(t, s, as, "/v1/workflows", body{"name": "Flow", "definition": definition})
	s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/workflows/" + e.workflow + "/publish", WantStatus: http.StatusOK})
	e.service = create(t, s, as, "/v1/services", body{"name": "IT", "ownerTeamId": e.team, "organizationId": e.organization})
	e.offering = create(t, s, as, "/v1/services/"+e.service+"/offerings", body{"name": "Laptop", "workflowId": e.workflow})
	e.request = create(t, s, as, "/v1/requests", body{"serviceId": e.service, "offeringId": e.offering, "title": "Mine", "assigneeId": user, "teamId": e.team})
	e.link = create(t, s, as, "/v1/requests/"+e.request+"/links", body{"type": "relates", "requestId": create(t, s, as, "/v1/requests", body{"serviceId": e.service, "offeringId": e.offering, "title": "Other"})})
	e.comment = create(t, s, as, "/v1/requests/"+e.request+"/comments", body{"body": "Hello"})
	e.table = tableOf(t, s, as, filing{service: e.service, offering: e.offering})
	e.schedule = scheduleOf(t, s, as, e.workflow)
	e.report = create(t, s, as, "/v1/report-subscriptions", body{"name": "Weekly"})
	e.file = create(t, s, as, "/v1/attachments", body{"requestId": e.request, "name": "plan.pdf", "size": 1})
	e.run = workedBy(t, s, as, e.request)
	e.processing = processed(t, s, as, user)
	movable(t, s, as, e.processing)
	e.secret = create(t, s, as, "/v1/secrets", body{"allowedHosts": []string{"*"}, "name": "TOKEN", "value": "v"})
	return e
}

// scheduleOf makes a schedule that starts a workflow.
func scheduleOf(t *testing.T, s *apitest.Server, as apitest.Caller, workflow string) string {
	t.Helper()
	return create(t, s, as, "/v1/schedules", body{"name": "Daily", "workflowId": workflow, "cron": "0 9 * * *", "timeZone": "UTC"})
}

// tableOf makes an import that waits to be started.
func tableOf(t *testing.T, s *apitest.Server, as apitest.Caller, f filing) string {
	t.Helper()
	return s.Do(t, apitest.Scenario{
		As: as, Method: http.MethodPost, Path: "/v1/requests/import", WantStatus: http.StatusAccepted,
		Body: body{"csv": "title\nA\n", "serviceId": f.service, "offeringId": f.offering, "dryRun": true},
	}).Text("data.id")
}

// never returns an id of the same form that no row has.
func never(id string) string {
	prefix, _, _ := strings.Cut(id, "_")
	return prefix + "_" + strings.Repeat("0", 26)
}

// alike checks that two answers cannot be told apart.
func alike(t *testing.T, what string, a, b *apitest.Answer, ids ...string) {
	t.Helper()
	plain := func(x *apitest.Answer) string {
		text := x.Plain()
		for _, id := range ids {
			text = strings.ReplaceAll(text, id, "ID")
		}
		return text
	}
	require.Equal(t, plain(a), plain(b), what)
	header := func(x *apitest.Answer) http.Header {
		h := x.Header.Clone()
		for _, k := range []string{"X-Request-Id", "Ratelimit", "Date", "Content-Length"} {
			h.Del(k)
		}
		return h
	}
	require.Equal(t, header(a), header(b), what)
}

// TestCompaniesCannotTellEachOther uses two companies with the same names and slugs, and a sandbox, and checks that nothing of
// one can be seen, counted, named or noticed from another.
func TestCompaniesCannotTellEachOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		a := live(t, s, s.A.OwnerKey, s.A.Member.UserID)
		seen := snapshot(t, s, s.A.OwnerKey, a)
		b := live(t, s, s.B.OwnerKey, s.B.Member.UserID)
		box := s.Do(t, apitest.Scenario{As: s.A.TestKey, Path: "/v1/users"}).Text("data.0.id")
		sandbox := live(t, s, s.A.TestKey, box)
		for range 3 { // more rows, changes and refusals
			filed(t, s, s.B.OwnerKey)
			filed(t, s, s.A.TestKey)
		}
		s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Method: http.MethodPatch, Path: "/v1/requests/" + b.request, Body: body{"status": "IN_PROGRESS"}})
		require.Equal(t, seen, snapshot(t, s, s.A.OwnerKey, a), "what others do changes no byte of this company's answers")

		for _, of := range []struct {
			name   string
			as     func() apitest.Caller
			theirs estate
		}{
			{"another company", func() apitest.Caller { return s.A.OwnerKey }, b},
			{"another company, by token", func() apitest.Caller { return s.A.Owner }, b},
			{"its own sandbox", func() apitest.Caller { return s.A.OwnerKey }, sandbox},
			{"the live company, from the sandbox", func() apitest.Caller { // a new test key for each call, because it may make 60 calls a minute
				return s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{Test: true})
			}, a},
		} {
			otherCompany(t, s, of.as, of.name, of.theirs)
		}
		references(t, s, s.A.OwnerKey, a, b)
		references(t, s, s.A.OwnerKey, a, sandbox)

		// The text of a conflict is the same for every company.
		first := s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "IT"}, WantStatus: 409, WantNot: []string{a.service, b.service}})
		second := s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "IT"}, WantStatus: 409})
		require.Equal(t, first.Plain(), second.Plain())
		// None of the above changed anything in the other company.
		s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Path: "/v1/requests/" + b.request, WantData: map[string]any{"title": "Mine", "status": "IN_PROGRESS"}})
	})
}

// snapshot returns the body and ETag of everything that the company can read, by path, without the audit log.
func snapshot(t *testing.T, s *apitest.Server, as apitest.Caller, e estate) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, row := range rest.Table() {
		if row.Method != http.MethodGet {
			continue
		}
		path := "/v1" + row.Path
		if strings.Contains(path, "{id}") {
			path = e.path(row.Path)
		} else if row.Path == "/search" {
			path += "?q=laptop"
		}
		a := s.Do(t, apitest.Scenario{As: as, Path: path})
		out[path] = string(a.Body) + a.ETag()
	}
	return out
}

// otherCompany calls every route on rows of another company: the answers are those to ids that never existed.
func otherCompany(t *testing.T, s *apitest.Server, caller func() apitest.Caller, who string, theirs estate) {
	t.Helper()
	for n, row := range rest.Table() {
		if !strings.Contains(row.Path, "{id}") {
			continue
		}
		path := theirs.path(row.Path)
		id := strings.Split(path, "/")[3]
		nothing := strings.Replace(path, id, never(id), 1)
		b := goodBody(row, filing{user: never("usr_0"), offering: never("off_0"), request: never("req_0")}, n)
		what := who + ": " + row.Method + " " + row.Path
		as := caller()
		for _, header := range []http.Header{nil, {"If-Match": {`"x"`}}} {
			got := s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: path, Header: header, Body: b, WantStatus: 404, WantCode: "not_found"})
			missing := s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: nothing, Header: header, Body: b, WantStatus: 404})
			alike(t, what, got, missing)
		}
	}
}

// references names rows of another company in bodies and filters: they are treated as ids that never existed, and nothing is
// found.
func references(t *testing.T, s *apitest.Server, as apitest.Caller, own, theirs estate) {
	t.Helper()
	request := func(b body) body {
		full := body{"serviceId": own.service, "offeringId": own.offering, "title": "x"}
		for k, v := range b {
			full[k] = v
		}
		return full
	}
	for _, ref := range []struct {
		method, path, field, id string
		body                    func(id string) body
	}{
		{"POST", "/v1/services", "ownerTeamId", theirs.team, func(id string) body { return body{"name": "x", "ownerTeamId": id} }},
		{"POST", "/v1/services", "organizationId", theirs.organization, func(id string) body { return body{"name": "x", "organizationId": id} }},
		{"PATCH", "/v1/services/" + own.service, "ownerTeamId", theirs.team, func(id string) body { return body{"ownerTeamId": id} }},
		{"PATCH", "/v1/services/" + own.service, "organizationId", theirs.organization, func(id string) body { return body{"organizationId": id} }},
		{"POST", "/v1/services/" + own.service + "/offerings", "workflowId", theirs.workflow, func(id string) body { return body{"name": "x", "workflowId": id} }},
		{"PATCH", "/v1/offerings/" + own.offering, "workflowId", theirs.workflow, func(id string) body { return body{"workflowId": id} }},
		{"PATCH", "/v1/schedules/" + own.schedule, "workflowId", theirs.workflow, func(id string) body { return body{"workflowId": id} }},
		{"PATCH", "/v1/schedules/" + own.schedule, "offeringId", theirs.offering, func(id string) body { return body{"offeringId": id, "request": body{"title": "x"}} }},
		{"POST", "/v1/services/" + own.service + "/offerings", "reopenWorkflowId", theirs.workflow, func(id string) body { return body{"name": "x", "reopenWorkflowId": id} }},
		{"PATCH", "/v1/offerings/" + own.offering, "reopenWorkflowId", theirs.workflow, func(id string) body { return body{"reopenWorkflowId": id} }},
		{"POST", "/v1/requests", "offeringId", theirs.offering, func(id string) body { return request(body{"offeringId": id}) }},
		{"POST", "/v1/requests", "assigneeId", theirs.user, func(id string) body { return request(body{"assigneeId": id}) }},
		{"POST", "/v1/requests", "teamId", theirs.team, func(id string) body { return request(body{"teamId": id}) }},
		{"PATCH", "/v1/requests/" + own.request, "assigneeId", theirs.user, func(id string) body { return body{"assigneeId": id} }},
		{"PATCH", "/v1/requests/" + own.request, "teamId", theirs.team, func(id string) body { return body{"teamId": id} }},
		{"POST", "/v1/teams", "organizationId", theirs.organization, func(id string) body { return body{"name": "x", "organizationId": id} }},
		{"POST", "/v1/teams", "memberIds[0]", theirs.user, func(id string) body { return body{"name": "x", "memberIds": []string{id}} }},
		{"PATCH", "/v1/teams/" + own.team, "memberIds[0]", theirs.user, func(id string) body { return body{"memberIds": []string{id}} }},
		{"PATCH", "/v1/users/" + own.user, "teamIds[0]", theirs.team, func(id string) body { return body{"teamIds": []string{id}} }},
		{"POST", "/v1/organizations", "parentId", theirs.organization, func(id string) body { return body{"name": "x", "parentId": id} }},
		{"PATCH", "/v1/organizations/" + own.organization, "parentId", theirs.organization, func(id string) body { return body{"parentId": id} }},
	} {
		got := s.Do(t, apitest.Scenario{As: as, Method: ref.method, Path: ref.path, Body: ref.body(ref.id), WantStatus: 400, WantCode: "validation_error", WantFields: []string{ref.field}})
		missing := s.Do(t, apitest.Scenario{As: as, Method: ref.method, Path: ref.path, Body: ref.body(never(ref.id)), WantStatus: 400})
		alike(t, ref.method+" "+ref.path+" "+ref.field, got, missing, ref.id, never(ref.id))
	}
	for query, id := range map[string]string{
		"requests?serviceId=": theirs.service, "requests?offeringId=": theirs.offering, "requests?assigneeId=": theirs.user, "requests?teamId=": theirs.team,
		"requests?createdBy=": theirs.user, "audit?resourceId=": theirs.request, "audit?actorId=": theirs.user,
	} {
		got := s.Do(t, apitest.Scenario{As: as, Path: "/v1/" + query + id})
		missing := s.Do(t, apitest.Scenario{As: as, Path: "/v1/" + query + never(id)})
		require.Equal(t, 0, got.Int("pagination.totalCount"), query)
		alike(t, query, got, missing)
	}
}

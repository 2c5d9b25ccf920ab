package rest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/rest"
)

// paths are the paths of rows by the paths in the table of routes.
type paths map[string]func() string

// of returns the path at which a route is called, with the id of a row that exists.
func (p paths) of(row rest.Row) string {
	if path, ok := p[row.Path]; ok {
		return path()
	}
	return "/v1" + row.Path
}

// made makes all rows now.
func (p paths) made() paths {
	for _, path := range p {
		path()
	}
	return p
}

// singles returns the paths of one row of every kind that has a path of its own. A row is made when its path is first asked for.
func singles(t *testing.T, s *apitest.Server, as apitest.Caller) paths {
	t.Helper()
	n := unique()
	f := sync.OnceValue(func() filing { return filed(t, s, as) })
	published := sync.OnceValue(func() string {
		path := "/v1/workflows/" + create(t, s, as, "/v1/workflows", body{"name": "Published " + n, "definition": definition})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: path + "/publish", WantStatus: http.StatusOK})
		return path
	})
	p := sync.OnceValue(func() processing {
		p := processed(t, s, as, s.A.Owner.UserID, s.A.Admin.UserID, s.A.Agent.UserID, s.A.Member.UserID)
		movable(t, s, as, p)
		return p
	})
	worked := sync.OnceValue(func() string { return "/v1/agent-runs/" + workedBy(t, s, as, f().request) })
	made := func(path string, b body) func() string {
		return sync.OnceValue(func() string { return path + "/" + create(t, s, as, path, b) })
	}
	out := paths{
		"/workflows/{id}/executions": func() string { return "/v1/workflows/" + p().workflow + "/executions" },
		"/services/{id}/template":    func() string { return "/v1/services/" + f().service + "/template" },
		"/requests/{id}":             func() string { return "/v1/requests/" + f().request },
		"/search":                    func() string { return "/v1/search?q=laptop" },
		"/users/{id}":                func() string { return "/v1/users/" + s.A.Member.UserID },

		"/services/{id}":      made("/v1/services", body{"name": "Single " + n}),
		"/workflows/{id}":     made("/v1/workflows", body{"name": "Single " + n, "definition": definition}),
		"/teams/{id}":         made("/v1/teams", body{"name": "Single " + n}),
		"/organizations/{id}": made("/v1/organizations", body{"name": "Single " + n}),
		"/secrets/{id}":       made("/v1/secrets", body{"allowedHosts": []string{"*"}, "name": "S" + strings.ToUpper(n), "value": "v"}),
		"/offerings/{id}": sync.OnceValue(func() string {
			return "/v1/offerings/" + create(t, s, as, "/v1/services/"+f().service+"/offerings", body{"name": "Single " + n})
		}),
		"/comments/{id}": sync.OnceValue(func() string {
			return "/v1/comments/" + create(t, s, as, "/v1/requests/"+f().request+"/comments", body{"body": "Single " + n})
		}),
		"/request-links/{id}": sync.OnceValue(func() string {
			return "/v1/request-links/" + create(t, s, as, "/v1/requests/"+f().request+"/links", body{"type": "blocks", "requestId": filed(t, s, as).request})
		}),
		"/attachments/{id}": sync.OnceValue(func() string {
			return "/v1/attachments/" + create(t, s, as, "/v1/attachments", body{"requestId": f().request, "name": "single.txt", "size": 1})
		}),
		"/report-subscriptions/{id}": sync.OnceValue(func() string {
			return "/v1/report-subscriptions/" + create(t, s, as, "/v1/report-subscriptions", body{"name": "Single " + n})
		}),
		"/services/{id}/offerings":           func() string { return "/v1/services/" + f().service + "/offerings" },
		"/workflows/{id}/versions/{version}": func() string { return published() + "/versions/1" },

		"/workflows/{id}/versions/{version}/diff": func() string { return published() + "/versions/1/diff" },
	}
	planned := sync.OnceValue(func() string { return "/v1/schedules/" + scheduleOf(t, s, as, f().workflow) })
	table := sync.OnceValue(func() string { return "/v1/request-imports/" + tableOf(t, s, as, f()) })
	for kind, row := range map[string]struct {
		path  func() string
		parts []string
	}{
		"/schedules/{id}":       {planned, []string{"", "/run", "/runs"}},
		"/request-imports/{id}": {table, []string{"", "/start", "/stop"}},
		"/agent-runs/{id}":      {worked, []string{"", "/claim", "/steps", "/complete", "/handover"}},
		"/executions/{id}":      {func() string { return "/v1/executions/" + p().execution }, []string{"", "/cancel"}},
		"/incidents/{id}":       {func() string { return "/v1/incidents/" + p().incident }, []string{"", "/resolve", "/preview"}},
		"/tasks/{id}":           {func() string { return "/v1/tasks/" + p().task }, []string{"", "/complete", "/claim", "/assign"}},
		"/approvals/{id}":       {func() string { return "/v1/approvals/" + p().approval }, []string{"", "/decide", "/delegate"}},
		"/requests/{id}":        {out["/requests/{id}"], []string{"/attachments", "/comments", "/links", "/merge", "/move", "/people", "/watch", "/watchers"}},
		"/workflows/{id}":       {published, []string{"/publish", "/versions"}},
	} {
		for _, part := range row.parts {
			out[kind+part] = func() string { return row.path() + part }
		}
	}
	return out
}

// workedBy makes a run on a request, by an agent of the caller's company.
func workedBy(t *testing.T, s *apitest.Server, as apitest.Caller, request string) (id string) {
	t.Helper()
	s.Write(t, func(ctx context.Context, tx *store.Tx) error {
		a, err := tx.Agent.Create().SetCompanyID(as.Company).SetName("Robot").SetType("QUEUE_INTAKE").SetSource("CUSTOM").SetAutonomy("SUGGEST").Save(ctx)
		if err != nil {
			return err
		}
		run, err := tx.AgentRun.Create().SetCompanyID(as.Company).SetAgentID(a.ID).SetAgentVersion(1).SetRequestID(request).SetNumber(1).
			SetTrigger("created").Save(ctx)
		if err == nil {
			id = run.ID
		}
		return err
	})
	return id
}

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		patched := map[string]bool{}
		for _, row := range rest.Table() {
			patched[row.Path] = patched[row.Path] || row.Method == http.MethodPatch
		}
		for row, at := range singles(t, s, as) {
			if !patched[row] {
				continue // a list below a row, or a row that cannot be updated
			}
			path := at()
			change, further := body{"description": "one"}, body{"description": "two"}
			if row == "/organizations/{id}" {
				change, further = body{"tags": body{"a": "one"}}, body{"tags": body{"a": "two"}}
			}
			if row == "/comments/{id}" {
				change, further = body{"body": "one"}, body{"body": "two"}
			}
			if row == "/schedules/{id}" || row == "/report-subscriptions/{id}" {
				change, further = body{"name": "one"}, body{"name": "two"}
			}
			if row == "/users/{id}" {
				change = body{"attributes": body{"a": "one"}}
			}
			changed := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: change})
			tag := changed.ETag()
			require.Regexp(t, `^"[^"]+"$`, tag, "%s: a strong tag", row)
			if row != "/comments/{id}" { // no path reads a single comment
				got := s.Do(t, apitest.Scenario{As: as, Path: path})
				require.Equal(t, tag, got.ETag(), row)
				for _, none := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
					same := s.Do(t, apitest.Scenario{As: as, Path: path, Header: http.Header{"If-None-Match": {none}}, WantStatus: 304})
					require.Equal(t, tag, same.ETag())
					require.Empty(t, same.Body)
				}
				s.Do(t, apitest.Scenario{As: as, Path: path, Header: http.Header{"If-None-Match": {`"other"`}}})
				s.Do(t, apitest.Scenario{As: as, Path: path, Header: http.Header{"If-Match": {`"other"`}}}) // reads ignore If-Match
			}
			stale := http.Header{"If-Match": {`"stale"`}}
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: stale, Body: change, WantStatus: 412, WantCode: "precondition_failed"})
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: http.Header{"If-Match": {"W/" + tag}}, Body: change, WantStatus: 412})
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: http.Header{"If-Match": {"*"}}, Body: change, WantNoChange: true})
			if row == "/requests/{id}" || row == "/users/{id}" {
				continue
			}
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, Header: stale, WantStatus: 412})
			next := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: http.Header{"If-Match": {`"x"`, tag}}, Body: further}).ETag()
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, Header: http.Header{"If-Match": {next}}})
		}
		// A POST ignores If-Match.
		f := offered(t, s, as, nil)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services/" + f.service + "/offerings", Header: http.Header{"If-Match": {`"x"`}}, Body: body{"name": "Posted"}})
	})
}

// TestUseIsNoChange reads a user and a secret, has them used, and updates them with the tag that was read: being used is no change.
func TestUseIsNoChange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		path := map[string]string{
			"lastSeenAt": "/v1/users/" + s.A.Member.UserID,
			"lastUsedAt": "/v1/secrets/" + create(t, s, as, "/v1/secrets", body{"allowedHosts": []string{"*"}, "name": "TOKEN", "value": "v"}),
		}
		change := map[string]body{"lastSeenAt": {"name": "New"}, "lastUsedAt": {"description": "New"}}
		seen := map[string]*apitest.Answer{}
		for field, p := range path {
			seen[field] = s.Do(t, apitest.Scenario{As: as, Path: p})
		}
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			now := s.World.Clock.Now()
			if err := tx.User.UpdateOneID(s.A.Member.UserID).SetLastSeenAt(now).Exec(ctx); err != nil {
				return err
			}
			return tx.Secret.Update().SetLastUsedAt(now).Exec(ctx)
		})
		for field, p := range path {
			used := s.Do(t, apitest.Scenario{As: as, Path: p})
			require.NotEqual(t, seen[field].Text("data."+field), used.Text("data."+field))
			require.Equal(t, seen[field].ETag(), used.ETag(), field)
			changed := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: p, Header: http.Header{"If-Match": {seen[field].ETag()}}, Body: change[field]})
			require.NotEqual(t, used.ETag(), changed.ETag(), field)
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: p, Header: http.Header{"If-Match": {seen[field].ETag()}}, Body: change[field], WantStatus: 412})
		}
	})
}

// TestLostUpdates lets twenty callers change a row that all of them have read: one succeeds.
func TestLostUpdates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		made := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "IT"}})
		got := parallel(20, func(int) int {
			return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/services/" + made.ID(), Header: http.Header{"If-Match": {made.ETag()}}, Body: body{"description": unique()}}).Status
		})
		statuses := map[int]int{}
		for _, status := range got {
			statuses[status]++
		}
		require.Equal(t, map[int]int{200: 1, 412: 19}, statuses)
	})
}

// Saving an unchanged form changes nothing: neither the row's updatedAt nor its ETag, and it causes no event.
func TestPatchThatChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		e := live(t, s, as, s.A.Member.UserID)
		for path, full := range map[string]body{
			e.path("/users/{id}"):    {"attributes": body{"region": "eu"}},
			e.path("/secrets/{id}"):  {"description": "d"},
			e.path("/services/{id}"): {"description": "d", "tags": body{"a": "b"}},
			e.path("/workflows/{id}"): {"description": "d", "definition": body{ // its condition holds what encoding/json escapes
				"phases": []body{
					{"id": "start", "type": "START"}, {"id": "done", "type": "END"},
					{"id": "urgent", "type": "DECISION", "config": body{"rules": []body{{"when": `request.priority == "HIGH" && size(request.title) < 5`, "transition": "yes"}}, "default": "no"}},
				},
				"transitions": []body{{"from": "start", "name": "next", "to": "urgent"}, {"from": "urgent", "name": "yes", "to": "done"}, {"from": "urgent", "name": "no", "to": "done"}},
			}},
			e.path("/requests/{id}"): {"fields": body{"n": 12345678901234567, "model": "14"}, "tags": body{"a": "b"}, "description": "d"},
			e.path("/offerings/{id}"): {"sla": body{"responseMinutes": 5, "warnAtPercent": 80}, "tags": body{"a": "b"}, "form": body{"fields": []body{
				{"key": "model", "type": "select", "label": "Model", "options": []string{"13", "14"}}, {"key": "n", "type": "number", "label": "N"},
			}}},
		} {
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: full})
		}
		for _, row := range rest.Table() {
			if row.Method != http.MethodPatch {
				continue
			}
			path := e.path(row.Path)
			read := func() (string, string) {
				if row.Path == "/comments/{id}" { // no path reads a single comment
					list := struct{ Data []json.RawMessage }{}
					require.NoError(t, json.Unmarshal(s.Do(t, apitest.Scenario{As: as, Path: e.path("/requests/{id}/comments")}).Body, &list))
					require.Len(t, list.Data, 1)
					return `{"data":` + string(list.Data[0]) + `}`, ""
				}
				a := s.Do(t, apitest.Scenario{As: as, Path: path})
				return string(a.Body), a.ETag()
			}
			was, tag := read()
			shown := struct{ Data map[string]json.RawMessage }{}
			require.NoError(t, json.Unmarshal([]byte(was), &shown))
			same := body{}
			for name := range row.Op.Input.Body.Properties {
				if value, ok := shown.Data[name]; ok && (string(value) != "null" || row.Op.Input.Nullable(name)) && (name != "status" || row.Path != "/requests/{id}") {
					same[name] = value
				}
			}
			require.NotEmpty(t, same, path)
			s.World.Clock.SetOffset(s.World.Clock.Offset() + time.Second)
			for _, b := range []body{{}, same} {
				got := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: b, WantNoChange: true, WantEvents: []string{}})
				require.Equal(t, was, string(got.Body), path)
				require.Equal(t, cmp.Or(tag, got.ETag()), got.ETag(), path)
				tag = got.ETag()
			}
			now, _ := read()
			require.Equal(t, was, now, path)
		}
	})
}

func TestHeadAndUnknownPaths(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		id := create(t, s, as, "/v1/services", body{"name": "IT"})
		for _, path := range []string{"/v1/services", "/v1/services/" + id, "/v1/billing/credits", "/v1/services/svc_x"} {
			get, head := s.Send(t, apitest.Scenario{As: as, Path: path}), s.Send(t, apitest.Scenario{As: as, Method: http.MethodHead, Path: path})
			require.Equal(t, get.Status, head.Status, path)
			require.Empty(t, head.Body)
			for _, h := range []string{"Content-Type", "Content-Length", "ETag", "Cache-Control"} {
				require.Equal(t, get.Header.Get(h), head.Header.Get(h), "%s: %s", path, h)
			}
		}
		for _, path := range []string{"/v1/nothing", "/v1/services/", "/v1/services/a/b/c", "/v1", "/v1/", "/v1//services", "/v1/Services", "/v1/apikeys", "/v1/services/" + id + "/requests", "/v1/services%2F" + id} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions, "BREW"} {
				s.Do(t, apitest.Scenario{Name: path, As: apitest.Nobody, Method: method, Path: path, WantStatus: 401, WantCode: "unauthorized"})
				s.Do(t, apitest.Scenario{Name: path, As: as, Method: method, Path: path, WantStatus: 404, WantCode: "not_found"})
			}
		}
		for path, allow := range map[string]string{
			"/v1/services": "GET, HEAD, POST", "/v1/services/" + id: "GET, HEAD, PATCH, DELETE", "/v1/requests/x": "GET, HEAD, PATCH", "/v1/secrets/x": "GET, HEAD, PATCH, DELETE", "/v1/audit": "GET, HEAD", "/v1/users": "GET, HEAD",
		} {
			for _, method := range []string{http.MethodPut, http.MethodOptions, http.MethodTrace, "BREW"} {
				s.Do(t, apitest.Scenario{As: apitest.Nobody, Method: method, Path: path, WantStatus: 401})
				got := s.Do(t, apitest.Scenario{As: as, Method: method, Path: path, WantStatus: 405, WantCode: "method_not_allowed"})
				require.Equal(t, []string{allow}, got.Header.Values("Allow"), path)
			}
		}
		for _, path := range []string{"/openapi.json", "/docs", "/v1/openapi.json", "/asyncapi.json"} {
			a := s.Send(t, apitest.Scenario{Path: path})
			require.Equal(t, 200, a.Status)
			require.Empty(t, a.Header.Get("RateLimit"))
			require.NotEmpty(t, a.RequestID())
		}
		s.Do(t, apitest.Scenario{Path: "/nothing", WantStatus: 404, WantCode: "not_found"})
	})
}

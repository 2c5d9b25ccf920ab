package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/apitest"
)

// singles makes one row of every kind that has an address of its own, and returns their paths.
func singles(t *testing.T, s *apitest.Server, as apitest.Caller) map[string]string {
	t.Helper()
	f := filed(t, s, as)
	n := unique()
	published := "/v1/workflows/" + create(t, s, as, "/v1/workflows", body{"name": "Published " + n, "definition": definition})
	s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: published + "/publish", WantStatus: http.StatusOK})
	return map[string]string{
		"/services/{id}":      "/v1/services/" + create(t, s, as, "/v1/services", body{"name": "Single " + n}),
		"/offerings/{id}":     "/v1/offerings/" + create(t, s, as, "/v1/services/"+f.service+"/offerings", body{"name": "Single " + n}),
		"/requests/{id}":      "/v1/requests/" + f.request,
		"/workflows/{id}":     "/v1/workflows/" + create(t, s, as, "/v1/workflows", body{"name": "Single " + n, "definition": definition}),
		"/teams/{id}":         "/v1/teams/" + create(t, s, as, "/v1/teams", body{"name": "Single " + n}),
		"/organizations/{id}": "/v1/organizations/" + create(t, s, as, "/v1/organizations", body{"name": "Single " + n}),
		"/secrets/{id}":       "/v1/secrets/" + create(t, s, as, "/v1/secrets", body{"name": "S" + strings.ToUpper(n), "value": "v"}),
		"/users/{id}":         "/v1/users/" + s.A.Member.UserID,

		"/services/{id}/offerings":           "/v1/services/" + f.service + "/offerings",
		"/workflows/{id}/publish":            published + "/publish",
		"/workflows/{id}/versions":           published + "/versions",
		"/workflows/{id}/versions/{version}": published + "/versions/1",
	}
}

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		for row, path := range singles(t, s, as) {
			if strings.Count(row, "/") > 2 {
				continue // what lies below a row
			}
			change := body{"description": "one"}
			if row == "/organizations/{id}" {
				change = body{"tags": body{"a": "one"}}
			}
			if row == "/users/{id}" {
				change = body{"attributes": body{"a": "one"}}
			}
			patched := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: change})
			tag := patched.ETag()
			require.Regexp(t, `^"[^"]+"$`, tag, "%s: a strong tag", row)
			if row != "/secrets/{id}" {
				got := s.Do(t, apitest.Scenario{As: as, Path: path})
				require.Equal(t, tag, got.ETag(), row)
				for _, none := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
					same := s.Do(t, apitest.Scenario{As: as, Path: path, Header: http.Header{"If-None-Match": {none}}, WantStatus: 304})
					require.Equal(t, tag, same.ETag())
					require.Empty(t, same.Body)
				}
				s.Do(t, apitest.Scenario{As: as, Path: path, Header: http.Header{"If-None-Match": {`"other"`}}})
				s.Do(t, apitest.Scenario{As: as, Path: path, Header: http.Header{"If-Match": {`"other"`}}}) // reads take none
			}
			stale := http.Header{"If-Match": {`"stale"`}}
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: stale, Body: change, WantStatus: 412, WantCode: "precondition_failed"})
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: http.Header{"If-Match": {"W/" + tag}}, Body: change, WantStatus: 412})
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: http.Header{"If-Match": {"*"}}, Body: change})
			if row == "/requests/{id}" || row == "/users/{id}" {
				continue
			}
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, Header: stale, WantStatus: 412})
			now := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: change}).ETag()
			next := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Header: http.Header{"If-Match": {`"x"`, now}}, Body: change}).ETag()
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, Header: http.Header{"If-Match": {next}}})
		}
		// A POST takes no If-Match.
		f := offered(t, s, as, nil)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services/" + f.service + "/offerings", Header: http.Header{"If-Match": {`"x"`}}, Body: body{"name": "Posted"}})
	})
}

// TestLostUpdates lets twenty callers change a row that all of them have read: one does.
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
			"/v1/services": "GET, HEAD, POST", "/v1/services/" + id: "GET, HEAD, PATCH, DELETE", "/v1/requests/x": "GET, HEAD, PATCH", "/v1/secrets/x": "PATCH, DELETE", "/v1/audit": "GET, HEAD", "/v1/users": "GET, HEAD",
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

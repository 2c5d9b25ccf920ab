package rest_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

func TestAuditLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		made := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Header: http.Header{"User-Agent": {"tester/1"}}, Body: body{"name": "IT", "tags": body{"a": "b"}}})
		id := made.ID()
		denied := s.Do(t, apitest.Scenario{As: s.A.Member, Method: http.MethodPatch, Path: "/v1/services/" + id, Body: body{"name": "x"}, WantStatus: 403})
		failed := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "IT"}, WantStatus: 409})
		scope := s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{Scopes: apitest.Without("services:write")})
		noScope := s.Do(t, apitest.Scenario{As: scope, Method: http.MethodDelete, Path: "/v1/services/" + id, WantStatus: 403, WantContains: []string{`"reason":"services:write"`}})

		entry := func(of *apitest.Answer) map[string]any {
			t.Helper()
			l := s.Do(t, apitest.Scenario{As: as, Path: "/v1/audit?pageSize=100"})
			for i, rid := range l.Column("requestId") {
				if rid == of.RequestID() {
					row, _ := apitest.At(l.JSON(), "data")
					return row.([]any)[i].(map[string]any)
				}
			}
			t.Fatalf("no entry of %s", of.RequestID())
			return nil
		}
		e := entry(made)
		require.Equal(t, body{"type": "api_key", "id": as.KeyID, "name": "Key of owner"}, e["actor"])
		require.Equal(t, body{"type": "Service", "id": id}, e["resource"])
		require.Equal(t, "service.created", e["action"])
		require.Equal(t, "allowed", e["outcome"])
		require.Equal(t, "127.0.0.1", e["ip"])
		require.Equal(t, "tester/1", e["userAgent"])
		changes, ok := e["changes"].(map[string]any)
		require.True(t, ok)
		require.Equal(t, body{"from": nil, "to": "IT"}, changes["name"])
		require.Equal(t, body{"from": nil, "to": body{"a": "b"}}, changes["tags"])
		e = entry(denied)
		require.Equal(t, []any{"service.updated", "denied", body{"type": "Service", "id": id}, body{}}, []any{e["action"], e["outcome"], e["resource"], e["changes"]})
		require.Equal(t, body{"type": "user", "id": s.A.Member.UserID, "name": "member-owner@a.test"}, e["actor"])
		e = entry(failed)
		require.Equal(t, []any{"service.created", "failed", body{"type": "Service", "id": nil}}, []any{e["action"], e["outcome"], e["resource"]})
		e = entry(noScope)
		require.Equal(t, []any{"service.deleted", "denied", body{"type": "Service", "id": id}}, []any{e["action"], e["outcome"], e["resource"]})

		at := url.QueryEscape(e["at"].(string))
		for query, want := range map[string]int{
			"actorId=" + as.KeyID: 2, "actorId=" + as.KeyID + "," + s.A.Member.UserID: 3, "action=service.created&resourceId=" + id: 1,
			"resourceId=" + id: 3, "resourceType=Service": 4, "resourceType=service": 0, "action=service.%25": 0, "actorId=" + s.B.OwnerKey.KeyID: 0,
			"to=2001-01-01T00:00:00Z": 0, "resourceType=Service&outcome=denied": 2, "resourceType=Service&outcome=failed,allowed": 2, "resourceType=Service&from=" + at: 1, "resourceType=Service&to=" + at: 3,
		} {
			require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: "/v1/audit?" + query}).Int("pagination.totalCount"), query)
		}
		s.Run(t, []apitest.Scenario{
			{Name: "no moment", As: as, Path: "/v1/audit?from=yesterday&to=2026-01-01", WantStatus: 400, WantFields: []string{"from", "to"}},
			{Name: "sorts by the moment alone", As: as, Path: "/v1/audit?sort=action", WantStatus: 400, WantFields: []string{"sort"}},
			{Name: "no outcome", As: as, Path: "/v1/audit?outcome=allowed,odd", WantStatus: 400, WantFields: []string{"outcome"}},
			{Name: "entries are not posted", As: as, Method: http.MethodPost, Path: "/v1/audit", Body: body{}, WantStatus: 405},
			{Name: "nor got one by one", As: as, Path: "/v1/audit/" + "aud_00000000000000000000000000", WantStatus: 404},
			{Name: "an agent has no log", As: s.A.Agent, Path: "/v1/audit", WantStatus: 403, WantAudit: &apitest.AuditWant{Outcome: "denied", ResourceType: "AuditEntry"}},
			{Name: "the sandbox has its own", As: s.A.TestKey, Path: "/v1/audit", WantContains: []string{`"totalCount":0`}},
			{Name: "as has the other company", As: s.B.OwnerKey, Path: "/v1/audit?resourceId=" + id, WantContains: []string{`"totalCount":0`}},
		})
		asc := s.Do(t, apitest.Scenario{As: as, Path: "/v1/audit?sort=at&pageSize=100"}).Column("id")
		desc := s.Do(t, apitest.Scenario{As: as, Path: "/v1/audit?sort=-at&pageSize=100"}).Column("id")
		require.Equal(t, len(asc), len(desc))
		for i := range asc {
			require.Equal(t, asc[i], desc[len(desc)-1-i])
		}
		require.Equal(t, desc, s.Do(t, apitest.Scenario{As: as, Path: "/v1/audit?sort=-createdAt&pageSize=100"}).Column("id"))
	})
}

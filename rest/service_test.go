package rest_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// body is a JSON object.
type body = map[string]any

// create posts a body and returns the new row's id.
func create(t *testing.T, s *apitest.Server, as apitest.Caller, path string, b any) string {
	t.Helper()
	a := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: path, Body: b})
	id := a.ID()
	require.NotEmpty(t, id, "%s", a.Body)
	return id
}

// rows creates n rows named "<name> 1" and so on, and returns their ids.
func rows(t *testing.T, s *apitest.Server, as apitest.Caller, path, name string, n int, b body) []string {
	t.Helper()
	var ids []string
	for i := range n {
		one := body{"name": fmt.Sprintf("%s %d", name, i+1)}
		for k, v := range b {
			one[k] = v
		}
		ids = append(ids, create(t, s, as, path, one))
	}
	return ids
}

func TestServiceLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		team := create(t, s, as, "/v1/teams", body{"name": "Ops"})
		org := create(t, s, as, "/v1/organizations", body{"name": "Berlin"})
		made := s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPost, Path: "/v1/services",
			Body: body{"name": "IT Support: Zürich & Co", "ownerTeamId": team, "organizationId": org, "tags": body{"env": "prod", "a.b": "c"}},
			WantData: map[string]any{
				"name": "IT Support: Zürich & Co", "slug": "it-support-zurich-co", "status": "active",
				"ownerTeamId": team, "organizationId": org, "tags.env": "prod",
			},
			WantAudit:  &apitest.AuditWant{Action: "service.created", Outcome: "allowed", ResourceType: "Service", ActorID: as.KeyID, ActorType: "api_key"},
			WantEvents: []string{},
		})
		id := made.ID()
		require.Regexp(t, `^svc_[0-9a-hjkmnp-tv-z]{26}$`, id)
		require.Equal(t, "/v1/services/"+id, made.Header.Get("Location"))
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, made.Text("data.createdAt"))
		got := s.Do(t, apitest.Scenario{As: as, Path: "/v1/services/" + id})
		require.Equal(t, string(made.Body), string(got.Body), "read back as it was answered")
		require.Equal(t, made.ETag(), got.ETag())

		path := "/v1/services/" + id
		s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPatch, Path: path, Body: body{"description": "All of it", "ownerTeamId": nil},
			WantData:  map[string]any{"description": "All of it", "ownerTeamId": nil, "organizationId": org, "name": "IT Support: Zürich & Co", "tags.env": "prod"},
			WantAudit: &apitest.AuditWant{Action: "service.updated", ResourceID: id, Changed: []string{"description", "ownerTeamId"}},
		})
		replaced := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{"tags": body{"x": "y"}, "status": "archived"}, WantData: map[string]any{"tags.x": "y", "status": "archived"}})
		require.False(t, replaced.Has("data.tags.env"), "tags are replaced whole")
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{"tags": nil, "status": "draft", "slug": "its"}, WantData: map[string]any{"tags": body{}, "slug": "its", "status": "draft"}})

		s.Run(t, []apitest.Scenario{
			{Name: "empty patch", As: as, Method: http.MethodPatch, Path: path, Body: body{}, WantNoChange: true, WantData: map[string]any{"slug": "its"}},
			{Name: "name must not be null", As: as, Method: http.MethodPatch, Path: path, Body: body{"name": nil}, WantStatus: 400, WantCode: "validation_error", WantFields: []string{"name"}},
			{Name: "name must not be blank", As: as, Method: http.MethodPatch, Path: path, Body: body{"name": " \t"}, WantStatus: 400, WantFields: []string{"name"}},
			{Name: "name has 200 characters", As: as, Method: http.MethodPatch, Path: path, Body: body{"name": long("ü", 201)}, WantStatus: 400, WantFields: []string{"name"}},
			{Name: "200 characters are fine", As: as, Method: http.MethodPatch, Path: path, Body: body{"name": long("ü", 200)}},
			{Name: "slug's letters", As: as, Method: http.MethodPatch, Path: path, Body: body{"slug": "A_b"}, WantStatus: 400, WantFields: []string{"slug"}},
			{Name: "slug's length", As: as, Method: http.MethodPatch, Path: path, Body: body{"slug": long("a", 64)}, WantStatus: 400, WantFields: []string{"slug"}},
			{Name: "status", As: as, Method: http.MethodPatch, Path: path, Body: body{"status": "open"}, WantStatus: 400, WantFields: []string{"status"}},
			{Name: "id is no field", As: as, Method: http.MethodPatch, Path: path, Body: body{"id": "svc_x"}, WantStatus: 400, WantFields: []string{"id"}},
			{Name: "names are case-sensitive", As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"Name": "x"}, WantStatus: 400, WantFields: []string{"Name", "name"}},
			{Name: "every fault is named", As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"slug": 1, "tags": body{"bad key": "x", "k": long("x", 257)}, "status": "x"}, WantStatus: 400, WantFields: []string{"name", "slug", "tags.bad key", "tags.k", "status"}, WantNot: []string{long("x", 257)}},
			{Name: "no such team", As: as, Method: http.MethodPatch, Path: path, Body: body{"ownerTeamId": "team_00000000000000000000000000", "organizationId": id}, WantStatus: 400, WantFields: []string{"ownerTeamId", "organizationId"}},
			{Name: "51 tags", As: as, Method: http.MethodPatch, Path: path, Body: body{"tags": many(51)}, WantStatus: 400, WantFields: []string{"tags"}},
			{Name: "50 tags", As: as, Method: http.MethodPatch, Path: path, Body: body{"tags": many(50)}},
		})

		other := create(t, s, as, "/v1/services", body{"name": "Other"})
		s.Run(t, []apitest.Scenario{
			{
				Name: "duplicate slug at create", As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "x", "slug": "its"},
				WantStatus: 409, WantCode: "conflict", WantContains: []string{"slug"},
				WantAudit: &apitest.AuditWant{Action: "service.created", Outcome: "failed", ResourceType: "Service"},
			},
			{Name: "duplicate slug made from the name", As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "OTHER!"}, WantStatus: 409, WantContains: []string{"has the slug other, which was made of the name. Send slug"}},
			{Name: "duplicate slug at patch", As: as, Method: http.MethodPatch, Path: path, Body: body{"slug": "other"}, WantStatus: 409, WantAudit: &apitest.AuditWant{Action: "service.updated", Outcome: "failed", ResourceID: id}},
			{Name: "its own slug again", As: as, Method: http.MethodPatch, Path: path, Body: body{"slug": "its"}, WantNoChange: true},
			{Name: "delete", As: as, Method: http.MethodDelete, Path: "/v1/services/" + other, WantAudit: &apitest.AuditWant{Action: "service.deleted", ResourceID: other, ResourceType: "Service"}},
			{Name: "gone", As: as, Path: "/v1/services/" + other, WantStatus: 404, WantCode: "not_found"},
			{Name: "gone twice", As: as, Method: http.MethodDelete, Path: "/v1/services/" + other, WantStatus: 404},
			{Name: "its slug is free again", As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "Other"}},
		})
		// A name without a letter that has one of a–z also gets a slug, and another such name gets another one.
		for _, name := range []string{"日本語", "მხარდაჭერა"} {
			other := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": name}})
			require.Regexp(t, `^service-[0-9a-f]{8}$`, other.Text("data.slug"))
		}
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "日本語"}, WantStatus: 409})
		require.Equal(t, "podderzhka", s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "Поддержка"}}).Text("data.slug"))
		hasRequests := filed(t, s, as)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/services/" + hasRequests.service, WantStatus: 409, WantAudit: &apitest.AuditWant{Action: "service.deleted", Outcome: "failed"}})
		s.Do(t, apitest.Scenario{As: as, Path: "/v1/services/" + hasRequests.service})
		s.Do(t, apitest.Scenario{As: as, Path: "/v1/offerings/" + hasRequests.offering})
	})
}

// long repeats a text.
func long(s string, n int) string { return strings.Repeat(s, n) }

// unique returns a text that no other call returns.
func unique() string { return strings.ToLower(rand.Text()) }

// many returns n tags.
func many(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprint("k", i)] = "v"
	}
	return out
}

// filing is a request with the rows that it belongs to.
type filing struct{ service, offering, request, user, workflow string } // user: another user of company A; workflow: published

// filed makes a service, an offering and a request against it.
func filed(t *testing.T, s *apitest.Server, as apitest.Caller) filing {
	t.Helper()
	f := offered(t, s, as, nil)
	if as.Company == s.A.Tenant.Company.ID {
		f.user = s.World.AddUser(t, s.A.Tenant, unique()+"@a.test", principal.Member).ID
	}
	f.request = create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "A laptop"})
	f.workflow = create(t, s, as, "/v1/workflows", body{"name": "Workflow " + unique(), "definition": definition})
	s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/workflows/" + f.workflow + "/publish", WantStatus: http.StatusOK})
	return f
}

// offered makes a service and an offering with the form (nil for none).
func offered(t *testing.T, s *apitest.Server, as apitest.Caller, form any) filing {
	t.Helper()
	var f filing
	f.service = create(t, s, as, "/v1/services", body{"name": "Service " + unique()})
	f.offering = create(t, s, as, "/v1/services/"+f.service+"/offerings", body{"name": "Offering", "form": form})
	return f
}

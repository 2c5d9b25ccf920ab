package rest_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

func TestUserLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as, agent := s.A.OwnerKey, s.A.Agent.UserID
		path := "/v1/users/" + agent
		ops := create(t, s, as, "/v1/teams", body{"name": "Ops"})
		theirs := create(t, s, s.B.OwnerKey, "/v1/teams", body{"name": "Ops"})
		s.Run(t, []apitest.Scenario{
			{Name: "get", As: as, Path: path, WantData: map[string]any{"id": agent, "email": "agent-owner@a.test", "role": "agent", "status": "active", "attributes": body{}, "teamIds": []any{}, "mfaEnabled": false, "lastSeenAt": nil}, WantNot: []string{"account", "acc_", "password"}},
			{Name: "attributes and teams", As: as, Method: http.MethodPatch, Path: path, Body: body{"attributes": body{"region": "eu"}, "teamIds": []string{ops}}, WantData: map[string]any{"attributes": body{"region": "eu"}, "teamIds": []any{ops}}, WantAudit: &apitest.AuditWant{Action: "user.updated", ResourceType: "User", ResourceID: agent, Changed: []string{"attributes", "teamIds"}}},
			{Name: "the team has it", As: as, Path: "/v1/teams/" + ops, WantData: map[string]any{"memberIds": []any{agent}}},
			{Name: "another company's team", As: as, Method: http.MethodPatch, Path: path, Body: body{"teamIds": []string{ops, theirs}}, WantStatus: 400, WantFields: []string{"teamIds[1]"}},
			{Name: "twice the same team", As: as, Method: http.MethodPatch, Path: path, Body: body{"teamIds": []string{ops, ops}}, WantStatus: 400, WantFields: []string{"teamIds"}},
			{Name: "faulty attributes", As: as, Method: http.MethodPatch, Path: path, Body: body{"attributes": body{"a b": "x", "k": long("x", 257)}}, WantStatus: 400, WantFields: []string{"attributes.a b", "attributes.k"}},
			{Name: "attributes are texts", As: as, Method: http.MethodPatch, Path: path, Body: body{"attributes": body{"k": 1}}, WantStatus: 400, WantFields: []string{"attributes.k"}},
			{Name: "nothing that the product sets", As: as, Method: http.MethodPatch, Path: path, Body: body{"email": "x@y.test", "status": "deactivated", "mfaEnabled": true}, WantStatus: 400, WantFields: []string{"email", "status", "mfaEnabled"}},
			{Name: "unknown role", As: as, Method: http.MethodPatch, Path: path, Body: body{"role": "root"}, WantStatus: 400, WantFields: []string{"role"}},
			{Name: "gone again", As: as, Method: http.MethodPatch, Path: path, Body: body{"attributes": nil, "teamIds": nil}, WantData: map[string]any{"attributes": body{}, "teamIds": []any{}}},
			{Name: "users are invited, not posted", As: as, Method: http.MethodPost, Path: "/v1/users", Body: body{}, WantStatus: 405},
			{Name: "users are not deleted", As: as, Method: http.MethodDelete, Path: path, WantStatus: 405},
		})
		for query, want := range map[string]int{
			"": 4, "?role=owner,agent": 2, "?role=owner&status=active": 1, "?status=deactivated": 0, "?email=agent-owner@a.test": 1,
			"?email=AGENT-owner@a.test": 1, "?email=owner@b.test": 0, "?email=owner@a.test,member-owner@a.test": 2, "?email=%25": 0,
		} {
			require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: "/v1/users" + query, WantNot: []string{"b.test"}}).Int("pagination.totalCount"), query)
		}
	})
}

// A user is found by a part of the name or of the e-mail address, by those who may read users, in their own company.
func TestUsersAreFoundByNameOrAddress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as, ada := s.A.OwnerKey, s.A.Member.UserID
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/users/" + ada, Body: body{"name": "Ada Ösei"}})
		for q, want := range map[string][]any{
			"ADA": {ada}, "öSEI": {ada}, "member-OWNER@a": {ada}, "%": {}, "_": {}, "b.test": {}, "nobody": {},
		} {
			found := s.Do(t, apitest.Scenario{As: as, Path: "/v1/users?q=" + url.QueryEscape(q)})
			require.ElementsMatch(t, want, found.Column("id"), q)
			require.Equal(t, len(want), found.Int("pagination.totalCount"), q)
		}
		require.Equal(t, 4, s.Do(t, apitest.Scenario{As: as, Path: "/v1/users?q=a.test"}).Int("pagination.totalCount"))
		require.Equal(t, 1, s.Do(t, apitest.Scenario{As: as, Path: "/v1/users?q=a.test&role=member"}).Int("pagination.totalCount"), "filters combine")
		require.Empty(t, s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Path: "/v1/users?q=ada"}).Column("id"))
		s.Do(t, apitest.Scenario{As: s.A.MemberKey, Path: "/v1/users?q=ada", WantStatus: 403})
		s.Do(t, apitest.Scenario{As: as, Path: "/v1/users?q=" + long("x", 201), WantStatus: 400, WantFields: []string{"q"}})
	})
}

func TestOwnersAreOwnersToChange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, admin, member := s.A.Owner.UserID, s.A.Admin.UserID, s.A.Member.UserID
		s.Run(t, []apitest.Scenario{
			{Name: "the last owner keeps the role", As: s.A.Owner, Method: http.MethodPatch, Path: "/v1/users/" + owner, Body: body{"role": "admin"}, WantStatus: 409, WantCode: "conflict", WantAudit: &apitest.AuditWant{Action: "user.updated", Outcome: "failed", ResourceID: owner}},
			{Name: "and keeps it when it is sent", As: s.A.Owner, Method: http.MethodPatch, Path: "/v1/users/" + owner, Body: body{"role": "owner"}, WantNoChange: true},
			{Name: "an admin makes no owner", As: s.A.Admin, Method: http.MethodPatch, Path: "/v1/users/" + member, Body: body{"role": "owner"}, WantStatus: 403, WantAudit: &apitest.AuditWant{Outcome: "denied", ResourceID: member}},
			{Name: "nor of itself", As: s.A.AdminKey, Method: http.MethodPatch, Path: "/v1/users/" + admin, Body: body{"role": "owner"}, WantStatus: 403},
			{Name: "nor takes the role away", As: s.A.Admin, Method: http.MethodPatch, Path: "/v1/users/" + owner, Body: body{"role": "member"}, WantStatus: 403},
			{Name: "an admin makes an agent", As: s.A.Admin, Method: http.MethodPatch, Path: "/v1/users/" + member, Body: body{"role": "agent"}, WantData: map[string]any{"role": "agent"}},
			{Name: "which counts at once", As: s.A.MemberKey, Path: "/v1/teams"},
			{Name: "and back", As: s.A.Admin, Method: http.MethodPatch, Path: "/v1/users/" + member, Body: body{"role": "member"}},
			{Name: "which counts at once, too", As: s.A.MemberKey, Path: "/v1/teams", WantStatus: 403},
			{Name: "a key makes no owner", As: s.A.OwnerKey, Method: http.MethodPatch, Path: "/v1/users/" + admin, Body: body{"role": "owner"}, WantStatus: 403},
			{Name: "nor an admin", As: s.A.OwnerKey, Method: http.MethodPatch, Path: "/v1/users/" + member, Body: body{"role": "admin"}, WantStatus: 403},
			{Name: "an owner makes an owner", As: s.A.Owner, Method: http.MethodPatch, Path: "/v1/users/" + admin, Body: body{"role": "owner"}, WantData: map[string]any{"role": "owner"}},
			{Name: "of two owners one may go", As: s.A.Owner, Method: http.MethodPatch, Path: "/v1/users/" + owner, Body: body{"role": "member"}},
			{Name: "and has no more rights than that", As: s.A.OwnerKey, Path: "/v1/secrets", WantStatus: 403},
		})
		// When two owners take each other's role away at once, one stays an owner.
		s.Do(t, apitest.Scenario{As: s.A.Admin, Method: http.MethodPatch, Path: "/v1/users/" + owner, Body: body{"role": "owner"}})
		both := [2]apitest.Scenario{
			{As: s.A.Owner, Method: http.MethodPatch, Path: "/v1/users/" + admin, Body: body{"role": "admin"}},
			{As: s.A.Admin, Method: http.MethodPatch, Path: "/v1/users/" + owner, Body: body{"role": "admin"}},
		}
		parallel(2, func(i int) *apitest.Answer { return s.Send(t, both[i]) })
		left := s.Do(t, apitest.Scenario{As: s.A.Agent, Path: "/v1/users?role=owner"})
		require.Equal(t, 1, left.Int("pagination.totalCount"))
	})
}

func TestTeamLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AdminKey
		org := create(t, s, as, "/v1/organizations", body{"name": "Berlin"})
		people := []string{s.A.Agent.UserID, s.A.Member.UserID}
		made := s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPost, Path: "/v1/teams", Body: body{"name": "Ops & Co", "organizationId": org, "memberIds": people},
			WantData:  map[string]any{"slug": "ops-co", "organizationId": org},
			WantAudit: &apitest.AuditWant{Action: "team.created", ResourceType: "Team", Outcome: "allowed"},
		})
		require.ElementsMatch(t, people, made.Get("data.memberIds"))
		path := "/v1/teams/" + made.ID()
		s.Run(t, []apitest.Scenario{
			{Name: "members are replaced whole", As: as, Method: http.MethodPatch, Path: path, Body: body{"memberIds": people[1:]}, WantData: map[string]any{"memberIds": []any{people[1]}}, WantAudit: &apitest.AuditWant{Action: "team.updated", Changed: []string{"memberIds"}}},
			{Name: "other fields leave them", As: as, Method: http.MethodPatch, Path: path, Body: body{"description": "d"}, WantData: map[string]any{"memberIds": []any{people[1]}, "description": "d"}},
			{Name: "null empties", As: as, Method: http.MethodPatch, Path: path, Body: body{"memberIds": nil, "organizationId": nil}, WantData: map[string]any{"memberIds": []any{}, "organizationId": nil}},
			{Name: "another company's member", As: as, Method: http.MethodPatch, Path: path, Body: body{"memberIds": []string{s.B.Agent.UserID}}, WantStatus: 400, WantFields: []string{"memberIds[0]"}},
			{Name: "no list", As: as, Method: http.MethodPatch, Path: path, Body: body{"memberIds": people[0]}, WantStatus: 400, WantFields: []string{"memberIds"}},
			{Name: "not texts", As: as, Method: http.MethodPatch, Path: path, Body: body{"memberIds": []any{1, nil}}, WantStatus: 400, WantFields: []string{"memberIds[0]", "memberIds[1]"}},
			{Name: "tags are none of a team's", As: as, Method: http.MethodPatch, Path: path, Body: body{"tags": body{}}, WantStatus: 400, WantFields: []string{"tags"}},
			{Name: "duplicate slug", As: as, Method: http.MethodPost, Path: "/v1/teams", Body: body{"name": "Ops Co"}, WantStatus: 409},
			{Name: "no such organization", As: as, Method: http.MethodPost, Path: "/v1/teams", Body: body{"name": "y", "organizationId": "org_x"}, WantStatus: 400, WantFields: []string{"organizationId"}},
		})
		svc := create(t, s, as, "/v1/services", body{"name": "IT", "ownerTeamId": made.ID()})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, WantStatus: 409})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/services/" + svc, Body: body{"ownerTeamId": nil}})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{"memberIds": people}})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, WantAudit: &apitest.AuditWant{Action: "team.deleted", ResourceID: made.ID()}})
		s.Do(t, apitest.Scenario{As: as, Path: "/v1/users/" + people[0], WantData: map[string]any{"teamIds": []any{}}})
		create(t, s, as, "/v1/teams", body{"name": "Ops & Co"})
	})
}

func TestOrganizationLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		top := create(t, s, as, "/v1/organizations", body{"name": "Top", "tags": body{"k": "v"}})
		mid := create(t, s, as, "/v1/organizations", body{"name": "Mid", "parentId": top})
		low := create(t, s, as, "/v1/organizations", body{"name": "Low", "parentId": mid})
		theirs := create(t, s, s.B.OwnerKey, "/v1/organizations", body{"name": "Top"})
		at := func(id string) string { return "/v1/organizations/" + id }
		s.Run(t, []apitest.Scenario{
			{Name: "get", As: as, Path: at(low), WantData: map[string]any{"name": "Low", "slug": "low", "parentId": mid, "tags": body{}}},
			{Name: "not its own parent", As: as, Method: http.MethodPatch, Path: at(top), Body: body{"parentId": top}, WantStatus: 400, WantFields: []string{"parentId"}},
			{Name: "not its own grandparent", As: as, Method: http.MethodPatch, Path: at(top), Body: body{"parentId": low}, WantStatus: 400, WantFields: []string{"parentId"}},
			{Name: "another company's parent", As: as, Method: http.MethodPatch, Path: at(low), Body: body{"parentId": theirs}, WantStatus: 400, WantFields: []string{"parentId"}},
			{Name: "has children", As: as, Method: http.MethodDelete, Path: at(mid), WantStatus: 409, WantAudit: &apitest.AuditWant{Action: "organization.deleted", Outcome: "failed", ResourceID: mid, ResourceType: "Organization"}},
			{Name: "duplicate slug", As: as, Method: http.MethodPatch, Path: at(low), Body: body{"slug": "top"}, WantStatus: 409},
			{Name: "move to the top", As: as, Method: http.MethodPatch, Path: at(low), Body: body{"parentId": nil}, WantData: map[string]any{"parentId": nil}, WantAudit: &apitest.AuditWant{Changed: []string{"parentId"}}},
			{Name: "now the other way round", As: as, Method: http.MethodPatch, Path: at(top), Body: body{"parentId": low}, WantData: map[string]any{"parentId": low}},
			{Name: "delete", As: as, Method: http.MethodDelete, Path: at(mid)},
			{Name: "its slug is free again", As: as, Method: http.MethodPost, Path: "/v1/organizations", Body: body{"name": "Mid"}},
		})
		create(t, s, as, "/v1/teams", body{"name": "Ops", "organizationId": top})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: at(top), WantStatus: 409})

		// Two moves that are valid one by one must not close a cycle together.
		a := create(t, s, as, "/v1/organizations", body{"name": "A"})
		b := create(t, s, as, "/v1/organizations", body{"name": "B"})
		moves := [2][2]string{{a, b}, {b, a}}
		got := parallel(2, func(i int) *apitest.Answer {
			return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: at(moves[i][0]), Body: body{"parentId": moves[i][1]}})
		})
		require.ElementsMatch(t, []int{200, 400}, []int{got[0].Status, got[1].Status})
	})
}

func TestDeactivatedPeopleKeepTheirKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		deactivate(t, s, s.A.Tenant.Users[principal.Agent])
		s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests"})
		s.Do(t, apitest.Scenario{As: s.A.Agent, Path: "/v1/requests", WantStatus: 401, WantCode: "unauthorized"})
		l := s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Path: "/v1/users?status=deactivated"})
		require.Equal(t, []any{s.A.Agent.UserID}, l.Column("id"))
	})
}

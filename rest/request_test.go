package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

func TestRequestLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AgentKey
		f := offered(t, s, s.A.OwnerKey, nil)
		team := create(t, s, s.A.OwnerKey, "/v1/teams", body{"name": "Ops"})
		filing := body{"serviceId": f.service, "offeringId": f.offering, "title": "Laptop"}
		made := s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPost, Path: "/v1/requests", Body: filing,
			WantData: map[string]any{
				"serviceId": f.service, "offeringId": f.offering, "title": "Laptop", "status": "PENDING", "priority": "MEDIUM", "fields": body{}, "tags": body{},
				"createdBy": as.UserID, "assigneeId": nil, "teamId": nil, "executionId": nil, "acceptedAt": nil, "completedAt": nil, "cancelledAt": nil, "sla": nil,
			},
			WantAudit:  &apitest.AuditWant{Action: "request.created", ResourceType: "Request", Outcome: "allowed", ActorID: as.KeyID, ActorType: "api_key"},
			WantEvents: []string{"request.created"},
		})
		id := made.ID()
		path := "/v1/requests/" + id
		require.Equal(t, path, made.Header.Get("Location"))
		s.Run(t, []apitest.Scenario{
			{Name: "assign", As: as, Method: http.MethodPatch, Path: path, Body: body{"assigneeId": s.A.Agent.UserID, "teamId": team, "priority": "URGENT", "tags": body{"a": "b"}}, WantData: map[string]any{"assigneeId": s.A.Agent.UserID, "teamId": team, "priority": "URGENT"}, WantEvents: []string{"request.updated"}, WantAudit: &apitest.AuditWant{Action: "request.updated", ResourceID: id, Changed: []string{"assigneeId", "teamId", "priority", "tags"}}},
			{Name: "unassign", As: as, Method: http.MethodPatch, Path: path, Body: body{"assigneeId": nil}, WantData: map[string]any{"assigneeId": nil, "teamId": team}},
			{Name: "the team has requests", As: s.A.OwnerKey, Method: http.MethodDelete, Path: "/v1/teams/" + team, WantStatus: 409},
			{Name: "title cannot go", As: as, Method: http.MethodPatch, Path: path, Body: body{"title": nil, "priority": nil, "status": nil}, WantStatus: 400, WantFields: []string{"title", "priority", "status"}},
			{Name: "title has 300 characters", As: as, Method: http.MethodPatch, Path: path, Body: body{"title": long("x", 301)}, WantStatus: 400, WantFields: []string{"title"}},
			{Name: "where it was filed stays", As: as, Method: http.MethodPatch, Path: path, Body: body{"serviceId": f.service, "createdBy": as.UserID}, WantStatus: 400, WantFields: []string{"serviceId", "createdBy"}},
			{Name: "statuses and priorities are upper case", As: as, Method: http.MethodPatch, Path: path, Body: body{"status": "completed", "priority": "high"}, WantStatus: 400, WantFields: []string{"status", "priority"}},
			{Name: "another company's people", As: as, Method: http.MethodPatch, Path: path, Body: body{"assigneeId": s.B.Agent.UserID, "teamId": "team_00000000000000000000000000"}, WantStatus: 400, WantFields: []string{"assigneeId", "teamId"}},
			{Name: "everything that is required", As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{}, WantStatus: 400, WantFields: []string{"serviceId", "offeringId", "title"}, WantEvents: []string{}},
			{Name: "nulls are not values", As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": nil, "offeringId": nil, "title": nil}, WantStatus: 400, WantFields: []string{"serviceId", "offeringId", "title"}},
			{Name: "no such service", As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": "svc_x", "offeringId": "off_x", "title": "t"}, WantStatus: 400, WantFields: []string{"serviceId", "offeringId"}},
			{Name: "no such offering", As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": f.service, "offeringId": "off_x", "title": "t"}, WantStatus: 400, WantFields: []string{"offeringId"}},
			{Name: "a status is no part of filing", As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": f.service, "offeringId": f.offering, "title": "t", "status": "COMPLETED"}, WantStatus: 400, WantFields: []string{"status"}},
			{Name: "requests are not deleted", As: as, Method: http.MethodDelete, Path: path, WantStatus: 405, WantCode: "method_not_allowed"},
		})
		second := offered(t, s, s.A.OwnerKey, nil)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": second.service, "offeringId": f.offering, "title": "t"}, WantStatus: 400, WantFields: []string{"offeringId"}})
		theirs := offered(t, s, s.B.OwnerKey, nil)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": theirs.service, "offeringId": theirs.offering, "title": "t"}, WantStatus: 400, WantFields: []string{"serviceId", "offeringId"}})

		// Neither an inactive offering nor an archived or draft service takes requests.
		for _, off := range []struct {
			path string
			off  body
			on   body
		}{
			{"/v1/offerings/" + f.offering, body{"status": "inactive"}, body{"status": "active"}},
			{"/v1/services/" + f.service, body{"status": "archived"}, body{"status": "active"}},
			{"/v1/services/" + f.service, body{"status": "draft"}, body{"status": "active"}},
		} {
			s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPatch, Path: off.path, Body: off.off})
			s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: filing, WantStatus: 409, WantCode: "conflict", WantEvents: []string{}, WantAudit: &apitest.AuditWant{Action: "request.created", Outcome: "failed"}})
			s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPatch, Path: off.path, Body: off.on})
		}
	})
}

// Numbers keep the digits that were sent: in the answer, in the row, and in the audit log.
func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	const fields = `{"list":[{"n":0.30}],"long":12345678901234567890123,"small":1e-3,"tenths":1.10,"tiny":1e-99999,"whole":123456789012345678}`
	each(t, func(t *testing.T, s *apitest.Server) {
		f := offered(t, s, s.A.OwnerKey, nil)
		of := func(fields string) string {
			return `{"serviceId": "` + f.service + `", "offeringId": "` + f.offering + `", "title": "t", "fields": ` + fields + `}`
		}
		made := s.Do(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: of(fields), WantContains: []string{`"fields":` + fields}})
		path := "/v1/requests/" + made.ID()
		s.Run(t, []apitest.Scenario{
			{Name: "read", As: s.A.AgentKey, Path: path, WantContains: []string{`"fields":` + fields}},
			{Name: "change", As: s.A.AgentKey, Method: http.MethodPatch, Path: path, Body: `{"fields": {"n": 9007199254740993}}`, WantContains: []string{`"fields":{"n":9007199254740993}`}},
			{Name: "audit", As: s.A.OwnerKey, Path: "/v1/audit?resourceId=" + made.ID(), WantContains: []string{`"from":` + fields + `,"to":{"n":9007199254740993}`, `"to":` + fields}},
			{Name: "beyond a double", As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: of(`{"n": 1e999}`), WantStatus: 400, WantFields: []string{"body"}},
		})

		form := body{"fields": []body{{"key": "n", "type": "number", "max": 1e18}, {"key": "why", "type": "text", "visibleWhen": body{"n": 12}}}}
		f = offered(t, s, s.A.OwnerKey, form)
		s.Run(t, []apitest.Scenario{
			{Name: "a form's number", As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: of(`{"n":123456789012345678}`), WantContains: []string{`"fields":{"n":123456789012345678}`}},
			{Name: "compared by value", As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: of(`{"n":1.2e1,"why":"so"}`), WantContains: []string{`"fields":{"n":1.2e1,"why":"so"}`}},
			{Name: "all faults at once", As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: `{"serviceId": "` + f.service + `", "offeringId": "` + f.offering + `", "title": " ", "fields": {"n": "x"}}`, WantStatus: 400, WantFields: []string{"title", "fields.n"}},
			{Name: "with faulty ids", As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: `{"serviceId": "` + f.service + `", "offeringId": "` + f.offering + `", "title": "T", "assigneeId": "usr_0", "fields": {"n": "x"}}`, WantStatus: 400, WantFields: []string{"assigneeId", "fields.n"}},
			{Name: "out of range", As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: of(`{"n":1000000000000000001000}`), WantStatus: 400, WantFields: []string{"fields.n"}},
		})
		path = "/v1/requests/" + s.Do(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests", Body: of(`{"n":1}`)}).ID()
		wrong := `{"title": " ", "fields": {"n": "x"}}`
		s.Run(t, []apitest.Scenario{
			{
				Name: "all faults of an offering", As: s.A.OwnerKey, Method: http.MethodPost, Path: "/v1/services/" + f.service + "/offerings",
				Body:       `{"name": " ", "workflowId": "wf_none", "sla": {"responseMinutes": 0, "calendarId": "cal_none"}, "form": {"fields": [{"key": "a", "type": "colour"}, {"key": "b", "type": "text", "pattern": "("}]}}`,
				WantStatus: 400, WantFields: []string{"name", "sla.responseMinutes", "form.fields[0].type", "form.fields[1].pattern", "workflowId", "sla.calendarId"},
			},
			{
				Name: "all faults of a workflow", As: s.A.OwnerKey, Method: http.MethodPost, Path: "/v1/workflows",
				Body: `{"name": " ", "definition": {"phases": [{"id": "s", "type": "START"}, {"id": "p", "type": "PROCESS", "config": {"title": "${nothing}"}, "participants": [{"role": "responsible", "type": "team", "id": "team_none"}]}, {"id": "e", "type": "END"}],
					"transitions": [{"from": "s", "name": "next", "to": "p"}, {"from": "p", "name": "next", "to": "e"}]}}`,
				WantStatus: 400, WantFields: []string{"name", "definition.phases[p].config.title", "definition.phases[p].participants[0].id"},
			},
			{Name: "all faults of a change", As: s.A.AgentKey, Method: http.MethodPatch, Path: path, Body: wrong, WantStatus: 400, WantFields: []string{"title", "fields.n"}},
			{Name: "faulty ids and answers of a change", As: s.A.AgentKey, Method: http.MethodPatch, Path: path, Body: `{"teamId": "team_0", "fields": {"n": "x"}}`, WantStatus: 400, WantFields: []string{"teamId", "fields.n"}},
			{Name: "of another company, without the form's", As: s.B.AgentKey, Method: http.MethodPatch, Path: path, Body: wrong, WantStatus: 400, WantFields: []string{"title"}},
		})
	})
}

// TestTransitions tries every transition between every two statuses.
func TestTransitions(t *testing.T) {
	t.Parallel()
	statuses := []string{"PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED"}
	ways := map[string][]string{"PENDING": nil, "IN_PROGRESS": {"IN_PROGRESS"}, "COMPLETED": {"IN_PROGRESS", "COMPLETED"}, "CANCELLED": {"CANCELLED"}}
	legal := map[string]string{
		"PENDING>IN_PROGRESS": "request.accepted", "IN_PROGRESS>COMPLETED": "request.completed", "COMPLETED>IN_PROGRESS": "request.reopened",
		"PENDING>CANCELLED": "request.cancelled", "IN_PROGRESS>CANCELLED": "request.cancelled",
	}
	stamps := map[string]string{"IN_PROGRESS": "acceptedAt", "COMPLETED": "completedAt", "CANCELLED": "cancelledAt"}
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AgentKey
		f := offered(t, s, s.A.OwnerKey, nil)
		for _, from := range statuses {
			for _, to := range statuses {
				id := create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": from + " to " + to})
				path := "/v1/requests/" + id
				for _, via := range ways[from] {
					s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{"status": via}})
				}
				event, ok := legal[from+">"+to]
				before := s.Do(t, apitest.Scenario{As: as, Path: path})
				if !ok {
					s.Do(t, apitest.Scenario{
						As: as, Method: http.MethodPatch, Path: path, Body: body{"status": to, "title": "changed", "tags": body{"a": "b"}},
						WantStatus: 409, WantCode: "conflict", WantContains: []string{from, to}, WantEvents: []string{},
						WantAudit: &apitest.AuditWant{Outcome: "failed", ResourceID: id},
					})
					after := s.Do(t, apitest.Scenario{As: as, Path: path})
					require.Equal(t, string(before.Body), string(after.Body), "an illegal transition changes nothing")
					continue
				}
				changed := []string{"status", stamps[to]}
				if event == "request.reopened" {
					changed = []string{"status", "completedAt", "reopenCount"}
				}
				after := s.Do(t, apitest.Scenario{
					As: as, Method: http.MethodPatch, Path: path, Body: body{"status": to}, WantEvents: []string{event},
					WantData: map[string]any{"status": to}, WantAudit: &apitest.AuditWant{Action: event, Outcome: "allowed", ResourceID: id, Changed: changed},
				})
				require.NotEmpty(t, after.Text("data."+stamps[to]))
			}
		}
	})
}

// TestParallelTransitions lets ten callers accept the same request: one succeeds.
func TestParallelTransitions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := filed(t, s, s.A.OwnerKey)
		got := parallel(10, func(int) *apitest.Answer {
			return s.Send(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodPatch, Path: "/v1/requests/" + f.request, Body: body{"status": "IN_PROGRESS"}})
		})
		statuses := map[int]int{}
		for _, a := range got {
			statuses[a.Status]++
		}
		require.Equal(t, map[int]int{200: 1, 409: 9}, statuses)
		require.Equal(t, []string{"request.created", "request.accepted"}, s.Events(t, f.request))
	})
}

func TestMembersSeeTheirOwnRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := filed(t, s, s.A.OwnerKey)
		for _, member := range []apitest.Caller{s.A.Member, s.A.MemberKey} {
			own := create(t, s, member, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "mine", "fields": body{}})
			s.Run(t, []apitest.Scenario{
				{Name: "hidden", As: member, Path: "/v1/requests/" + f.request, WantStatus: 403, WantCode: "forbidden", WantContains: []string{`"reason"`}, WantNot: []string{"A laptop"}},
				{Name: "own", As: member, Path: "/v1/requests/" + own, WantData: map[string]any{"createdBy": member.UserID}},
				{Name: "own cannot be changed", As: member, Method: http.MethodPatch, Path: "/v1/requests/" + own, Body: body{"title": "x"}, WantStatus: 403},
				{Name: "own cannot be accepted", As: member, Method: http.MethodPatch, Path: "/v1/requests/" + own, Body: body{"status": "IN_PROGRESS"}, WantStatus: 403, WantAudit: &apitest.AuditWant{Action: "request.accepted", Outcome: "denied", ResourceID: own}},
				{Name: "not cancelled with a change", As: member, Method: http.MethodPatch, Path: "/v1/requests/" + own, Body: body{"status": "CANCELLED", "title": "x"}, WantStatus: 403},
				{Name: "another's cannot be cancelled", As: member, Method: http.MethodPatch, Path: "/v1/requests/" + f.request, Body: body{"status": "CANCELLED"}, WantStatus: 403, WantAudit: &apitest.AuditWant{Action: "request.cancelled", Outcome: "denied", ResourceID: f.request}},
				{Name: "filing does not assign", As: member, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": f.service, "offeringId": f.offering, "title": "x", "assigneeId": member.UserID}, WantStatus: 403},
				{Name: "cancel own", As: member, Method: http.MethodPatch, Path: "/v1/requests/" + own, Body: body{"status": "CANCELLED"}, WantData: map[string]any{"status": "CANCELLED"}},
			})
			l := s.Do(t, apitest.Scenario{As: member, Path: "/v1/requests"})
			for _, by := range l.Column("createdBy") {
				require.Equal(t, member.UserID, by)
			}
			require.Equal(t, len(l.Column("id")), l.Int("pagination.totalCount"))
			hidden := s.Do(t, apitest.Scenario{As: member, Path: "/v1/requests?createdBy=" + s.A.Owner.UserID})
			require.Equal(t, 0, hidden.Int("pagination.totalCount"))
		}
	})
}

// Whoever may read a request reads who takes part in it, by id and name alone.
func TestPeopleOfARequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := offered(t, s, s.A.OwnerKey, nil)
		team := create(t, s, s.A.OwnerKey, "/v1/teams", body{"name": "Ops"})
		mine := "/v1/requests/" + create(t, s, s.A.MemberKey, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "Laptop"})
		s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPatch, Path: mine, Body: body{"assigneeId": s.A.Agent.UserID, "teamId": team}})
		create(t, s, s.A.AdminKey, mine+"/comments", body{"body": "He is new.", "visibility": "internal"})
		got := s.Do(t, apitest.Scenario{As: s.A.MemberKey, Path: mine + "/people"})
		require.ElementsMatch(t, []any{s.A.Member.UserID, s.A.Agent.UserID, team}, got.Column("id"), "members read no internal comments")
		require.Equal(t, 3, got.Int("pagination.totalCount"))
		rows, _ := got.Get("data").([]any)
		for _, row := range rows {
			require.Len(t, row, 2, "an id and a name: %v", row)
		}
		require.ElementsMatch(t, []any{s.A.Member.UserID, s.A.Agent.UserID, s.A.Admin.UserID, team}, s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: mine + "/people"}).Column("id"))
		var paged []any
		for _, page := range []string{"1", "2", "3", "4", "9223372036854775807"} {
			paged = append(paged, s.Do(t, apitest.Scenario{As: s.A.MemberKey, Path: mine + "/people?pageSize=1&page=" + page}).Column("id")...)
		}
		require.Equal(t, got.Column("id"), paged)
		s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Path: mine + "/people", WantStatus: 404})
		others := "/v1/requests/" + create(t, s, s.A.OwnerKey, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "Not yours"})
		s.Do(t, apitest.Scenario{As: s.A.MemberKey, Path: others + "/people", WantStatus: 403})
	})
}

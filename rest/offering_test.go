package rest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// laptopForm has fields of most types.
var laptopForm = body{"fields": []body{
	{"key": "model", "label": "Model", "type": "select", "required": true, "options": []string{"13", "14"}},
	{"key": "count", "label": "How many", "type": "number", "min": 1, "max": 10},
	{"key": "why", "label": "Why", "type": "textarea", "required": true, "visibleWhen": body{"model": "14"}, "max": 50},
	{"key": "code", "label": "Code", "type": "text", "pattern": "^[a-z]+$"},
	{"key": "day", "label": "Day", "type": "date"},
	{"key": "boss", "label": "Boss", "type": "user"},
	{"key": "group", "label": "Group", "type": "team"},
}}

func TestOfferingLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		svc := create(t, s, as, "/v1/services", body{"name": "IT"})
		second := create(t, s, as, "/v1/services", body{"name": "HR"})
		wf := create(t, s, as, "/v1/workflows", body{"name": "Flow", "definition": definition})
		unpublished := create(t, s, as, "/v1/workflows", body{"name": "Draft", "definition": definition})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/workflows/" + wf + "/publish", WantStatus: http.StatusOK})
		list := "/v1/services/" + svc + "/offerings"
		made := s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPost, Path: list,
			Body: body{"name": "New laptop", "workflowId": wf, "form": laptopForm, "sla": body{"responseMinutes": 60, "warnAtPercent": 80}},
			WantData: map[string]any{
				"serviceId": svc, "slug": "new-laptop", "status": "active", "workflowId": wf, "reopenDays": 7, "reopenWorkflowId": nil, "askSatisfaction": false,
				"sla.responseMinutes": 60, "sla.resolutionMinutes": nil, "sla.warnAtPercent": 80, "sla.calendarId": nil,
				"form.fields.0.key": "model", "form.fields.0.help": nil, "form.fields.2.visibleWhen.model": "14",
			},
			WantAudit: &apitest.AuditWant{Action: "offering.created", ResourceType: "Offering", Outcome: "allowed"},
		})
		id := made.ID()
		path := "/v1/offerings/" + id
		require.Equal(t, path, made.Header.Get("Location"))
		require.Equal(t, id, *s.Audit(t, made.RequestID())[0].ResourceID)

		// A form or service levels that are sent back as they were read change nothing.
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{
			"name": "New laptop", "slug": "new-laptop", "description": made.Get("data.description"), "status": "active",
			"form": made.Get("data.form"), "sla": made.Get("data.sla"), "tags": made.Get("data.tags"), "workflowId": wf,
		}, WantNoChange: true, WantData: map[string]any{"form": made.Get("data.form"), "sla": made.Get("data.sla")}})

		s.Run(t, []apitest.Scenario{
			{Name: "a service's slugs are its own", As: as, Method: http.MethodPost, Path: "/v1/services/" + second + "/offerings", Body: body{"name": "New laptop"}},
			{Name: "duplicate slug", As: as, Method: http.MethodPost, Path: list, Body: body{"name": "New Laptop"}, WantStatus: 409, WantCode: "conflict", WantAudit: &apitest.AuditWant{Action: "offering.created", Outcome: "failed", ResourceType: "Offering"}},
			{Name: "no such service", As: as, Method: http.MethodPost, Path: "/v1/services/svc_00000000000000000000000000/offerings", Body: body{"name": "x"}, WantStatus: 404, WantContains: []string{"Service not found."}},
			{Name: "list of no such service", As: as, Path: "/v1/services/svc_00000000000000000000000000/offerings", WantStatus: 404},
			{Name: "refs", As: as, Method: http.MethodPatch, Path: path, Body: body{"workflowId": "wf_00000000000000000000000000", "sla": body{"calendarId": "cal_x"}}, WantStatus: 400, WantFields: []string{"workflowId", "sla.calendarId"}},
			{Name: "reopening bounds", As: as, Method: http.MethodPatch, Path: path, Body: body{"reopenDays": 366, "reopenWorkflowId": unpublished}, WantStatus: 400, WantFields: []string{"reopenDays", "reopenWorkflowId"}},
			{Name: "reopening refs", As: as, Method: http.MethodPatch, Path: path, Body: body{"reopenDays": 0, "reopenWorkflowId": unpublished}, WantStatus: 400, WantFields: []string{"reopenWorkflowId"}},
			{Name: "reopening", As: as, Method: http.MethodPatch, Path: path, Body: body{"reopenDays": 0, "reopenWorkflowId": wf}, WantData: map[string]any{"reopenDays": 0, "reopenWorkflowId": wf}},
			{Name: "sla bounds", As: as, Method: http.MethodPatch, Path: path, Body: body{"sla": body{"responseMinutes": 0, "warnAtPercent": 100, "resolutionMinutes": 1.5}}, WantStatus: 400, WantFields: []string{"sla.responseMinutes", "sla.warnAtPercent", "sla.resolutionMinutes"}},
			{Name: "a whole number with an exponent", As: as, Method: http.MethodPatch, Path: path, Body: `{"sla":{"responseMinutes":61e0}}`, WantData: map[string]any{"sla.responseMinutes": 61}},
			{Name: "unknown member of sla", As: as, Method: http.MethodPatch, Path: path, Body: body{"sla": body{"minutes": 1}}, WantStatus: 400, WantFields: []string{"sla.minutes"}},
			{Name: "faulty form", As: as, Method: http.MethodPost, Path: list, Body: body{"name": "f", "form": body{"fields": []body{
				{"key": "a", "label": "A", "type": "select"}, {"key": "a", "label": "B", "type": "text", "pattern": "("}, {"key": "c", "label": "C", "type": "wish"},
			}}}, WantStatus: 400},
			{Name: "form patch with a fault", As: as, Method: http.MethodPatch, Path: path, Body: body{"form": body{"fields": []body{{"key": "n", "label": "N", "type": "number", "min": 5, "max": 1}}}}, WantStatus: 400},
			{Name: "the service stays", As: as, Method: http.MethodPatch, Path: path, Body: body{"serviceId": second}, WantStatus: 400, WantFields: []string{"serviceId"}},
			{Name: "no target, no warning", As: as, Method: http.MethodPatch, Path: path, Body: body{"sla": body{}}, WantData: map[string]any{"sla": nil}},
			{Name: "a warning when none is named", As: as, Method: http.MethodPatch, Path: path, Body: body{"sla": body{"resolutionMinutes": 60}}, WantData: map[string]any{"sla.warnAtPercent": 80}},
			{Name: "null says nothing", As: as, Method: http.MethodPatch, Path: path, Body: body{"sla": body{"resolutionMinutes": 61, "warnAtPercent": nil}}, WantData: map[string]any{"sla.warnAtPercent": 80}},
			{Name: "zero warns nobody", As: as, Method: http.MethodPatch, Path: path, Body: body{"sla": body{"resolutionMinutes": 60, "warnAtPercent": 0}}, WantData: map[string]any{"sla.warnAtPercent": 0}},
			{Name: "sla goes", As: as, Method: http.MethodPatch, Path: path, Body: body{"sla": nil}, WantData: map[string]any{"sla": nil}},
			{Name: "a draft", As: as, Method: http.MethodPatch, Path: path, Body: body{"workflowId": unpublished}, WantStatus: 400, WantFields: []string{"workflowId"}},
			{Name: "form goes", As: as, Method: http.MethodPatch, Path: path, Body: body{"form": nil, "workflowId": nil}, WantData: map[string]any{"form": nil, "workflowId": nil}, WantAudit: &apitest.AuditWant{Action: "offering.updated", ResourceID: id, Changed: []string{"form", "workflowId"}}},
			{Name: "empty form", As: as, Method: http.MethodPatch, Path: path, Body: body{"form": body{"fields": []body{}}}, WantData: map[string]any{"form.fields": []any{}}},
		})
		for _, sc := range []apitest.Scenario{
			{As: as, Method: http.MethodPost, Path: list, Body: body{"name": "f", "form": body{"fields": []body{{"key": "a", "label": "A", "type": "select"}}}}, WantStatus: 400},
			{As: as, Method: http.MethodPatch, Path: path, Body: body{"form": body{"fields": "x"}}, WantStatus: 400},
		} {
			for _, f := range s.Do(t, sc).Fields() {
				require.Regexp(t, `^form`, f)
			}
		}
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, WantAudit: &apitest.AuditWant{Action: "offering.deleted", ResourceID: id}})
		create(t, s, as, list, body{"name": "New laptop"})
		f := filed(t, s, as)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/offerings/" + f.offering, WantStatus: 409})
		// Deleting a service deletes its offerings.
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/services/" + second})
	})
}

func TestFormsBindRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AgentKey
		f := offered(t, s, s.A.OwnerKey, laptopForm)
		team := create(t, s, s.A.OwnerKey, "/v1/teams", body{"name": "Ops"})
		theirs := create(t, s, s.B.OwnerKey, "/v1/teams", body{"name": "Ops"})
		post := func(fields any, status int, faults ...string) *apitest.Answer {
			t.Helper()
			sc := apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": f.service, "offeringId": f.offering, "title": "x", "fields": fields}, WantStatus: status}
			if status == 400 {
				sc.WantFields, sc.WantEvents = faults, []string{}
			}
			return s.Do(t, sc)
		}
		post(body{"model": "14", "why": "heavy", "count": 2, "code": "abc", "day": "2026-02-28", "boss": s.A.Member.UserID, "group": team}, 201)
		post(body{"model": "13"}, 201)
		post(nil, 400, "fields.model")
		post(body{"model": "14"}, 400, "fields.why")
		post(body{"model": "15"}, 400, "fields.model")
		post(body{"model": "13", "why": "not shown"}, 400, "fields.why")
		post(body{"model": "13", "extra": 1}, 400, "fields.extra")
		post(body{"model": 13, "count": "2", "day": "2026-02-30", "code": "A1"}, 400, "fields.model", "fields.count", "fields.day", "fields.code")
		post(body{"model": "13", "count": 11}, 400, "fields.count")
		post(body{"model": "13", "boss": s.B.Member.UserID, "group": theirs}, 400, "fields.boss", "fields.group")
		post(body{"model": "13", "boss": "'; DROP TABLE users; --"}, 400, "fields.boss")

		made := post(body{"model": "14", "why": "heavy"}, 201)
		path := "/v1/requests/" + made.ID()
		s.Run(t, []apitest.Scenario{
			{Name: "patch replaces whole", As: as, Method: http.MethodPatch, Path: path, Body: body{"fields": body{"model": "13"}}, WantData: map[string]any{"fields": body{"model": "13"}}},
			{Name: "patch is checked", As: as, Method: http.MethodPatch, Path: path, Body: body{"fields": body{"count": 1, "x": 1}}, WantStatus: 400, WantFields: []string{"fields.model", "fields.x"}},
			{Name: "null is checked", As: as, Method: http.MethodPatch, Path: path, Body: body{"fields": nil}, WantStatus: 400, WantFields: []string{"fields.model"}},
			{Name: "other fields go alone", As: as, Method: http.MethodPatch, Path: path, Body: body{"title": "y"}, WantData: map[string]any{"fields": body{"model": "13"}}},
		})
		// An empty form accepts no fields; an offering without a form accepts any.
		s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPatch, Path: "/v1/offerings/" + f.offering, Body: body{"form": body{"fields": []body{}}}})
		post(body{"a": 1}, 400, "fields.a")
		post(body{}, 201)
		s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPatch, Path: "/v1/offerings/" + f.offering, Body: body{"form": nil}})
		free := post(json.RawMessage(`{"a":1,"b":[true,null,"<&>"],"c":{"d":1.5}}`), 201)
		require.JSONEq(t, `{"a":1,"b":[true,null,"<&>"],"c":{"d":1.5}}`, string(encodedJSON(t, free.Get("data.fields"))))
	})
}

// encodedJSON encodes a value.
func encodedJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/workflow"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
)

// definition is the smallest one.
var definition = body{
	"phases":      []body{{"id": "start", "type": "START"}, {"id": "done", "type": "END"}},
	"transitions": []body{{"from": "start", "name": "next", "to": "done"}},
}

func TestWorkflowLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AdminKey
		made := s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPost, Path: "/v1/workflows", Body: body{"name": "Order", "definition": definition},
			WantData:   map[string]any{"name": "Order", "slug": "order", "status": "draft", "version": 0, "definition.phases.0.id": "start"},
			WantAudit:  &apitest.AuditWant{Action: "workflow.created", ResourceType: "Workflow", Outcome: "allowed", ActorID: as.KeyID},
			WantEvents: []string{},
		})
		id := made.ID()
		path := "/v1/workflows/" + id
		got := s.Do(t, apitest.Scenario{As: as, Path: path})
		require.JSONEq(t, string(encodedJSON(t, definition)), string(encodedJSON(t, got.Get("data.definition"))), "as it was sent")
		s.Run(t, []apitest.Scenario{
			{Name: "null description", As: as, Method: http.MethodPatch, Path: path, Body: body{"description": "x"}, WantData: map[string]any{"description": "x", "version": 0}},
			{Name: "definition cannot go", As: as, Method: http.MethodPatch, Path: path, Body: body{"definition": nil}, WantStatus: 400, WantFields: []string{"definition"}},
			{Name: "definition is an object", As: as, Method: http.MethodPatch, Path: path, Body: body{"definition": []any{}}, WantStatus: 400, WantFields: []string{"definition"}},
			{Name: "definition is required", As: as, Method: http.MethodPost, Path: "/v1/workflows", Body: body{"name": "x"}, WantStatus: 400, WantFields: []string{"definition"}},
			{Name: "version is the product's", As: as, Method: http.MethodPatch, Path: path, Body: body{"version": 3}, WantStatus: 400, WantFields: []string{"version"}},
			{Name: "never published", As: as, Method: http.MethodPatch, Path: path, Body: body{"status": "active"}, WantStatus: 409, WantAudit: &apitest.AuditWant{Action: "workflow.updated", Outcome: "failed", ResourceID: id}},
			{Name: "archive", As: as, Method: http.MethodPatch, Path: path, Body: body{"status": "archived"}, WantData: map[string]any{"status": "archived"}},
			{Name: "duplicate slug", As: as, Method: http.MethodPost, Path: "/v1/workflows", Body: body{"name": "Order", "definition": definition}, WantStatus: 409, WantCode: "conflict"},
		})
		// A definition may refer only to rows of this company.
		team := create(t, s, as, "/v1/teams", body{"name": "Ops"})
		theirs := create(t, s, s.B.OwnerKey, "/v1/teams", body{"name": "Ops"})
		with := func(team string) body {
			return body{
				"phases": []body{
					{"id": "start", "type": "START"},
					{"id": "work", "type": "PROCESS", "config": body{"title": "t"}, "participants": []body{{"role": "responsible", "type": "team", "id": team}}},
					{"id": "done", "type": "END"},
				},
				"transitions": []body{{"from": "start", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "done"}},
			}
		}
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{"definition": with(team)}})
		foreign := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{"definition": with(theirs)}, WantStatus: 400})
		for _, f := range foreign.Fields() {
			require.Contains(t, f, "definition.phases[work]")
		}
		faulty := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/workflows", Body: body{"name": "f", "definition": body{
			"phases": []body{{"id": "start", "type": "START"}, {"id": "loop", "type": "NOPE"}}, "transitions": []body{{"from": "start", "name": "next", "to": "nowhere"}},
		}}, WantStatus: 400, WantCode: "validation_error"})
		require.Greater(t, len(faulty.Fields()), 1, "%s", faulty.Body)

		// A workflow in use cannot be deleted. One out of use can, and its slug is free again.
		svc := create(t, s, as, "/v1/services", body{"name": "IT"})
		published := s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPost, Path: path + "/publish", WantStatus: 200, WantData: map[string]any{"version": 1, "status": "active"},
			WantAudit: &apitest.AuditWant{Action: "workflow.published", ResourceID: id, Changed: []string{"version", "status"}},
		})
		s.Run(t, []apitest.Scenario{
			{Name: "nothing new", As: as, Method: http.MethodPost, Path: path + "/publish", WantStatus: 200, WantData: map[string]any{"version": 1}},
			{Name: "draft two", As: as, Method: http.MethodPatch, Path: path, Body: body{"definition": definition}},
			{Name: "version two", As: as, Method: http.MethodPost, Path: path + "/publish", WantStatus: 200, WantData: map[string]any{"version": 2}},
			{Name: "the first is kept", As: as, Path: path + "/versions/1", WantData: map[string]any{"version": 1, "publishedBy": as.UserID, "definition.phases.1.id": "work"}},
			{Name: "no such version", As: as, Path: path + "/versions/3", WantStatus: 404},
			{Name: "another company's", As: s.B.OwnerKey, Path: path + "/versions/1", WantStatus: 404},
			{Name: "the newest first", As: as, Path: path + "/versions?pageSize=1", WantStatus: 200},
			{Name: "what the second changed", As: as, Path: path + "/versions/2/diff", WantData: map[string]any{"from": 1, "to": 2}},
			{Name: "all that the first brought", As: as, Path: path + "/versions/1/diff", WantData: map[string]any{"from": 0, "to": 1, "changes.0.from": nil}},
			{Name: "the way back", As: as, Path: path + "/versions/1/diff?from=2", WantData: map[string]any{"from": 2, "to": 1}},
			{Name: "no difference", As: as, Path: path + "/versions/2/diff?from=2", WantData: map[string]any{"changes": []any{}}},
			{Name: "what the draft would change", As: as, Path: path + "/versions/draft/diff", WantData: map[string]any{"from": 2, "to": 3}},
			{Name: "no such version to compare", As: as, Path: path + "/versions/9/diff", WantStatus: 404},
			{Name: "no such version to compare with", As: as, Path: path + "/versions/2/diff?from=9", WantStatus: 400, WantFields: []string{"from"}},
			{Name: "another company's difference", As: s.B.OwnerKey, Path: path + "/versions/1/diff", WantStatus: 404},
			{Name: "publishing takes the role", As: s.A.AgentKey, Method: http.MethodPost, Path: path + "/publish", WantStatus: 403},
			{Name: "draft one again", As: as, Method: http.MethodPatch, Path: path, Body: body{"definition": published.Get("data.definition")}},
			{Name: "version three", As: as, Method: http.MethodPost, Path: path + "/publish", WantStatus: 200, WantData: map[string]any{"version": 3}},
			{Name: "a team that it needs", As: as, Method: http.MethodDelete, Path: "/v1/teams/" + team, WantStatus: 409},
		})
		list := s.Do(t, apitest.Scenario{As: as, Path: path + "/versions?pageSize=2"})
		require.Equal(t, []any{3.0, 2.0, 3.0}, []any{list.Get("data.0.version"), list.Get("data.1.version"), list.Get("pagination.totalCount")})
		off := create(t, s, as, "/v1/services/"+svc+"/offerings", body{"name": "x", "workflowId": id})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, WantStatus: 409})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/offerings/" + off})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, WantAudit: &apitest.AuditWant{Action: "workflow.deleted", ResourceID: id}})
		again := create(t, s, as, "/v1/workflows", body{"name": "Order", "definition": definition})

		// A published workflow does not become a draft again.
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.Workflow.Update().Where(workflow.ID(again)).SetVersion(1).SetStatus(workflow.StatusActive).Exec(ctx)
		})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/workflows/" + again, Body: body{"status": "draft"}, WantStatus: 409})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/workflows/" + again, Body: body{"status": "archived"}})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/workflows/" + again, Body: body{"status": "active"}, WantData: map[string]any{"version": 1}})
	})
}

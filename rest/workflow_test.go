package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/workflow"
	"atrium/internal/apitest"
	"atrium/internal/store"
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
		// The references of a definition are rows of this company.
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

		// In use: it cannot go. Out of use: it can, and its slug is free.
		svc := create(t, s, as, "/v1/services", body{"name": "IT"})
		off := create(t, s, as, "/v1/services/"+svc+"/offerings", body{"name": "x", "workflowId": id})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, WantStatus: 409})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/offerings/" + off})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: path, WantAudit: &apitest.AuditWant{Action: "workflow.deleted", ResourceID: id}})
		again := create(t, s, as, "/v1/workflows", body{"name": "Order", "definition": definition})

		// A published workflow is no draft again.
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.Workflow.Update().Where(workflow.ID(again)).SetVersion(1).SetStatus(workflow.StatusActive).Exec(ctx)
		})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/workflows/" + again, Body: body{"status": "draft"}, WantStatus: 409})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/workflows/" + again, Body: body{"status": "archived"}})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/workflows/" + again, Body: body{"status": "active"}, WantData: map[string]any{"version": 1}})
	})
}

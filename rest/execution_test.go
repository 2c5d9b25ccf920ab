package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
)

// processing is a workflow with an execution that waits, and one row of each kind that a phase opens.
type processing struct{ workflow, execution, task, approval, incident string }

// processed makes a processing directly in the database. No jobs run here, so nothing moves on by itself. The approvers are the
// given users.
func processed(t *testing.T, s *apitest.Server, as apitest.Caller, approvers ...string) processing {
	t.Helper()
	flow := body{
		"phases": []body{
			{"id": "start", "type": "START"}, {"id": "work", "type": "PROCESS"}, {"id": "work2", "type": "PROCESS"}, {"id": "done", "type": "END"},
		},
		"transitions": []body{
			{"from": "start", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "work2"}, {"from": "work2", "name": "next", "to": "done"},
		},
	}
	p := processing{workflow: create(t, s, as, "/v1/workflows", body{"name": "Process " + unique(), "definition": flow})}
	s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/workflows/" + p.workflow + "/publish", WantStatus: http.StatusOK})
	var list []body
	for _, id := range approvers {
		list = append(list, body{"type": "user", "id": id})
	}
	named, err := json.Marshal(list)
	require.NoError(t, err)
	ctx := principal.With(context.Background(), principal.Worker(as.Company, "test"))
	require.NoError(t, s.World.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		e, err := tx.Execution.Create().SetWorkflowID(p.workflow).SetWorkflowVersion(1).SetTrigger(execution.TriggerRequest).SetStatus(execution.StatusWAITING).
			SetPhaseID("work").SetState(json.RawMessage(`{"Status":"WAITING","Visit":{"Number":2,"PhaseID":"work","Type":"PROCESS","Status":"WAITING",` +
			`"StartedAt":"2026-01-02T03:04:05Z","Attempts":1},"Wait":{"for":"task"},"Phases":{}}`)).SetStartedAt(time.Now()).Save(ctx)
		if err != nil {
			return err
		}
		task, err := tx.Task.Create().SetExecutionID(e.ID).SetPhaseID("work").SetVisit(2).SetAttempt(1).SetTitle("Work").Save(ctx)
		if err != nil {
			return err
		}
		a, err := tx.Approval.Create().SetExecutionID(e.ID).SetPhaseID("work").SetVisit(2).SetAttempt(1).SetTitle("Work").SetMode(approval.ModeAll).
			SetApprovers(named).Save(ctx)
		if err != nil {
			return err
		}
		i, err := tx.Incident.Create().SetExecutionID(e.ID).SetPhaseID("work").SetVisit(2).SetAttempt(1).SetCode("call_failed").SetMessage("m").Save(ctx)
		if err != nil {
			return err
		}
		p.execution, p.task, p.approval, p.incident = e.ID, task.ID, a.ID, i.ID
		return nil
	}))
	return p
}

// TestExecutionAnswers checks what the API shows of an execution, from its first step to its end by hand.
func TestExecutionAnswers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		p := processed(t, s, as, s.A.Agent.UserID)
		s.Run(t, []apitest.Scenario{
			{Name: "an execution", As: as, Path: "/v1/executions/" + p.execution, WantData: map[string]any{"workflowVersion": 1, "status": "WAITING", "phaseId": "work", "trigger": "request", "error": nil}},
			{Name: "of its workflow", As: as, Path: "/v1/workflows/" + p.workflow + "/executions?status=WAITING", WantContains: []string{p.execution}},
			{Name: "not in another state", As: as, Path: "/v1/workflows/" + p.workflow + "/executions?status=FAILED", WantNot: []string{p.execution}},
			{Name: "tasks of an execution", As: as, Path: "/v1/tasks?status=OPEN&assigneeId=none&executionId=" + p.execution, WantContains: []string{p.task}},
			{Name: "an unknown filter", As: as, Path: "/v1/tasks?state=OPEN", WantStatus: 400},
			{Name: "an outcome that is none", As: as, Method: http.MethodPost, Path: "/v1/tasks/" + p.task + "/complete", Body: body{"outcome": "x"}, WantStatus: 400, WantFields: []string{"outcome"}},
			{Name: "complete", As: as, Method: http.MethodPost, Path: "/v1/tasks/" + p.task + "/complete", Body: body{"variables": body{"n": 1}}, WantStatus: 200,
				WantData:  map[string]any{"status": "COMPLETED", "outcome": "next", "variables.n": 1, "completedBy": as.UserID},
				WantAudit: &apitest.AuditWant{Action: "task.completed", ResourceType: "Task", ResourceID: p.task, Outcome: "allowed", ActorID: as.KeyID}, WantEvents: []string{"task.completed"}},
			{Name: "once", As: as, Method: http.MethodPost, Path: "/v1/tasks/" + p.task + "/complete", Body: body{}, WantStatus: 409},
			{Name: "only approvers", As: as, Method: http.MethodPost, Path: "/v1/approvals/" + p.approval + "/decide", Body: body{"decision": "APPROVE"}, WantStatus: 403},
			{Name: "an approver", As: s.A.Agent, Method: http.MethodPost, Path: "/v1/approvals/" + p.approval + "/decide", Body: body{"decision": "REJECT", "comment": "No."}, WantStatus: 200,
				WantData: map[string]any{"status": "REJECTED", "decisions.0.comment": "No."}},
			{Name: "a version that is none", As: as, Method: http.MethodPost, Path: "/v1/incidents/" + p.incident + "/resolve", Body: body{"action": "MOVE", "version": 2}, WantStatus: 400, WantFields: []string{"version"}},
			{Name: "a move to nowhere", As: as, Method: http.MethodPost, Path: "/v1/incidents/" + p.incident + "/resolve", Body: body{"action": "MOVE"}, WantStatus: 400, WantFields: []string{"version"}},
			{Name: "a preview of nothing", As: as, Path: "/v1/incidents/" + p.incident + "/preview?version=2", WantStatus: 400, WantFields: []string{"version"}},
			{Name: "cancel", As: as, Method: http.MethodPost, Path: "/v1/executions/" + p.execution + "/cancel", WantStatus: 200, WantData: map[string]any{"status": "CANCELLED"}},
			{Name: "it is over", As: as, Method: http.MethodPost, Path: "/v1/executions/" + p.execution + "/cancel", WantStatus: 409},
			{Name: "so is its incident", As: as, Method: http.MethodPost, Path: "/v1/incidents/" + p.incident + "/resolve", Body: body{"action": "RETRY"}, WantStatus: 409},
		})
	})
}

// movable makes the execution of a processing wait for its incident, and publishes a second version of its workflow.
func movable(t *testing.T, s *apitest.Server, as apitest.Caller, p processing) {
	t.Helper()
	require.NoError(t, s.World.Store.Write(principal.With(context.Background(), principal.Worker(as.Company, "test")), func(ctx context.Context, tx *store.Tx) error {
		return tx.Execution.UpdateOneID(p.execution).SetState(json.RawMessage(`{"Status":"WAITING","Visit":{"Number":2,"PhaseID":"work","Type":"PROCESS","Status":"WAITING",` +
			`"StartedAt":"2026-01-02T03:04:05Z","Attempts":1},"Wait":{"for":"incident"},"Phases":{"work2":{"n":12345678901234567890}}}`)).Exec(ctx)
	}))
	flow := body{
		"phases":      []body{{"id": "start", "type": "START"}, {"id": "work", "type": "PROCESS"}, {"id": "done", "type": "END"}},
		"transitions": []body{{"from": "start", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "done"}},
	}
	path := "/v1/workflows/" + p.workflow
	s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: path, Body: body{"definition": flow}, WantStatus: http.StatusOK})
	s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: path + "/publish", WantStatus: http.StatusOK})
}

// TestMoveAnswers checks what the API shows of a move to another version, before and after.
func TestMoveAnswers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		p := processed(t, s, as)
		movable(t, s, as, p)
		incident := "/v1/incidents/" + p.incident
		s.Run(t, []apitest.Scenario{
			{Name: "a preview", As: as, Path: incident + "/preview?version=2", WantData: map[string]any{
				"version": 2, "phaseId": "work", "status": "WAITING", "phases.0.phaseId": "work", "phases.0.attempts": 2, "lost.0.phaseId": "work2",
			}, WantContains: []string{"12345678901234567890"}},
			{Name: "of the last version", As: as, Path: incident + "/preview", WantData: map[string]any{"version": 2}},
			{Name: "at its end", As: as, Path: incident + "/preview?version=2&phaseId=done", WantData: map[string]any{"status": "COMPLETED", "phases.0.status": "SKIPPED", "phases.1.phaseId": "done", "passed.0.phaseId": "work", "passed.0.mayDecide": true}},
			{Name: "another company's", As: s.B.OwnerKey, Path: incident + "/preview?version=2", WantStatus: 404},
			{Name: "a move", As: as, Method: http.MethodPost, Path: incident + "/resolve", Body: body{"action": "MOVE", "version": 2}, WantStatus: 200,
				WantData:  map[string]any{"status": "RESOLVED", "resolution": "MOVE", "toVersion": 2, "toPhaseId": "work"},
				WantAudit: &apitest.AuditWant{Action: "incident.resolved", ResourceType: "Incident", ResourceID: p.incident, Outcome: "allowed", ActorID: as.KeyID}},
			{Name: "too late", As: as, Path: incident + "/preview?version=2", WantStatus: 409},
		})
	})
}

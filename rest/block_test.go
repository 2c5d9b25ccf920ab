package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/execution"
	"atrium/ent/phasevisit"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
)

// inBlock makes an execution that stands in two branches of a block, with their visits and tasks. No jobs run here.
func inBlock(t *testing.T, s *apitest.Server, as apitest.Caller) string {
	t.Helper()
	flow := body{
		"phases": []body{
			{"id": "start", "type": "START"}, {"id": "work", "type": "PROCESS"}, {"id": "check", "type": "PROCESS"}, {"id": "done", "type": "END"},
			{"id": "both", "type": "PARALLEL", "branches": []body{{"name": "Work", "start": "work"}, {"name": "Check", "start": "check"}}, "end": "met"}, {"id": "met", "type": "JOIN", "next": "done"},
		},
		"transitions": []body{{"from": "start", "name": "next", "to": "both"}, {"from": "work", "name": "next", "to": "met"}, {"from": "check", "name": "next", "to": "met"}},
	}
	workflow := create(t, s, as, "/v1/workflows", body{"name": "Both " + unique(), "definition": flow})
	s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/workflows/" + workflow + "/publish", WantStatus: http.StatusOK})
	const at = `"StartedAt":"2026-01-02T03:04:05Z","Attempts":1`
	branch := func(name, number, phase string) string {
		return `{"Name":"` + name + `","State":{"Status":"WAITING","Visit":{"Number":` + number + `,"PhaseID":"` + phase + `","Type":"PROCESS","Status":"WAITING",` + at + `,"Branch":"` + name + `"},"Wait":{"for":"task"},"Phases":{}}}`
	}
	var id string
	ctx := principal.With(context.Background(), principal.Worker(as.Company, "test"))
	require.NoError(t, s.World.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		e, err := tx.Execution.Create().SetWorkflowID(workflow).SetWorkflowVersion(1).SetTrigger(execution.TriggerRequest).SetStatus(execution.StatusWAITING).SetPhaseID("both").
			SetState(json.RawMessage(`{"Status":"WAITING","Visit":{"Number":2,"PhaseID":"both","Type":"PARALLEL","Status":"RUNNING",` + at + `},"Phases":{"start":{}},"Last":4,"Block":{"Branches":[` +
				branch("Work", "3", "work") + "," + branch("Check", "4", "check") + `]}}`)).SetStartedAt(time.Now()).Save(ctx)
		if err != nil {
			return err
		}
		id = e.ID
		for i, one := range []string{"start", "both", "work", "check"} {
			v := tx.PhaseVisit.Create().SetExecutionID(e.ID).SetNumber(i + 1).SetPhaseID(one).SetType("PROCESS").SetStatus(phasevisit.StatusWAITING).SetStartedAt(time.Now())
			if i > 1 {
				v.SetBranch(map[string]string{"work": "Work", "check": "Check"}[one])
				if err := tx.Task.Create().SetExecutionID(e.ID).SetPhaseID(one).SetVisit(i + 1).SetAttempt(1).SetTitle(one).Exec(ctx); err != nil {
					return err
				}
			}
			if err := v.Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
	return id
}

// An execution in a block shows where all of its branches stand, and ends in all of them.
func TestExecutionInABlock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		id := inBlock(t, s, as)
		s.Run(t, []apitest.Scenario{
			{Name: "where it stands", As: as, Path: "/v1/executions/" + id, WantData: map[string]any{"phaseId": "both", "phaseIds": []any{"work", "check"}, "status": "WAITING"}, WantContains: []string{`"branch":"Work"`, `"branch":"Check"`, `"branch":null`}},
			{Name: "in lists", As: as, Path: "/v1/executions?status=WAITING", WantContains: []string{`"phaseIds":["work","check"]`}},
			{Name: "it is cancelled", As: as, Method: http.MethodPost, Path: "/v1/executions/" + id + "/cancel", WantStatus: http.StatusOK, WantData: map[string]any{"status": "CANCELLED", "phaseIds": []any{"both"}}},
			{Name: "with its tasks", As: as, Path: "/v1/tasks?status=OPEN&executionId=" + id, WantContains: []string{`"data":[]`}},
			{Name: "in every branch", As: as, Path: "/v1/executions/" + id, WantNot: []string{`"phaseId":"work","type":"PROCESS","status":"WAITING"`, `"phaseId":"check","type":"PROCESS","status":"WAITING"`}},
		})
	})
}

package execution_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/workflow"
	run "atrium/internal/workflow/execution"
)

// published creates and publishes a further workflow.
func published(t testing.TB, w *testkit.World, as principal.Role, name string, definition body) *ent.Workflow {
	t.Helper()
	raw, err := json.Marshal(definition)
	require.NoError(t, err)
	ctx := w.As(w.A, as)
	made := testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: name, Definition: workflow.NewDefinition(raw)})
	return testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: made.ID})
}

// ordering is a workflow with a task, which completes the request if nothing calls it.
func ordering() body {
	done := phase("done", "END", nil)
	done["requestAction"] = "complete"
	return line([]body{
		phase("start", "START", nil), phase("order", "PROCESS", body{"title": "Order ${has(input.what) ? input.what : 'something'}"}),
		phase("count", "DATA", body{"kind": "enrich", "set": body{"n": "input.n + 1"}}), done,
	})
}

func calls(id, workflowID string, config body) body {
	all := body{"workflowId": workflowID}
	for key, value := range config {
		all[key] = value
	}
	return phase(id, "CALL_WORKFLOW", all)
}

// caller opens a shop whose workflow calls another one and then has a task.
func caller(t testing.TB, w *testkit.World, called string, config body) *shop {
	t.Helper()
	return open(t, w, line([]body{phase("start", "START", nil), calls("call", called, config), phase("after", "PROCESS", nil), phase("end", "END", nil)}))
}

// called waits until an execution has called another one for the n-th time, and returns that.
func (s *shop) called(r *ent.Request, n int) *ent.Execution {
	s.t.Helper()
	var rows []*ent.Execution
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		var err error
		rows, err = s.Store.Reader().Execution.Query().Where(execution.ParentID(*r.ExecutionID)).Order(execution.ByParentVisit(), execution.ByParentAttempt()).All(s.ctx)
		require.NoError(t, err)
		require.Len(t, rows, n)
	}, patience, tick)
	return rows[n-1]
}

// reaches waits until an execution has a status.
func (s *shop) reaches(id, status string) *ent.Execution {
	s.t.Helper()
	var row *ent.Execution
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		var err error
		row, err = s.Store.Reader().Execution.Get(s.ctx, id)
		require.NoError(t, err)
		require.Equal(t, status, string(row.Status))
	}, patience, tick)
	return row
}

func TestACalledWorkflowIsWaitedFor(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := published(t, w, principal.Owner, "Ordering", ordering())
		s := caller(t, w, other.ID, body{"input": body{"what": "${request.title}", "n": 1}})
		s.work()
		r := s.file(nil)
		e := s.at(r, "WAITING", "call")
		c := s.called(r, 1)
		require.Equal(t, []any{execution.TriggerWorkflow, e.ID, "call", (*string)(nil), r.ID, other.ID, 1}, []any{c.Trigger, *c.ParentID, *c.ParentPhaseID, c.ParentBranch, *c.RequestID, c.WorkflowID, c.Depth})
		s.finishIn(r, "order", body{"model": "X1"})
		s.reaches(c.ID, "COMPLETED")
		e = s.at(r, "WAITING", "after")
		require.Equal(t, body{"executionId": c.ID, "status": "COMPLETED", "phases": body{
			"start": body{}, "order": body{"outcome": "next", "model": "X1"}, "count": body{"n": 2.0},
		}}, s.phases(e)["call"])
		require.JSONEq(t, `{"workflowId":"`+other.ID+`","executionId":"`+c.ID+`","input":{"what":"A laptop","n":1}}`, string(s.lastVisit(r, "call").Input))
		require.Equal(t, request.StatusPENDING, s.request(r).Status, "the caller decides what becomes of the request")
		require.Equal(t, *s.request(r).ExecutionID, e.ID)
		s.finishIn(r, "after", nil)
		s.at(r, "COMPLETED", "end")
		require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(c.ID))
		raw, err := run.Variables(c)
		require.NoError(t, err)
		require.Contains(t, string(raw), `"input":{"n":1,"what":"A laptop"}`)
	})
}

func TestACallThatDoesNotWait(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := published(t, w, principal.Owner, "Ordering", ordering())
		s := caller(t, w, other.ID, body{"wait": false, "input": body{"n": 1}})
		s.work()
		r := s.file(nil)
		e := s.at(r, "WAITING", "after")
		c := s.called(r, 1)
		require.Equal(t, body{"executionId": c.ID}, s.phases(e)["call"])
		s.finishIn(r, "after", nil)
		s.at(r, "COMPLETED", "end")
		s.finishIn(r, "order", nil)
		s.reaches(c.ID, "COMPLETED")

		r = s.file(nil)
		s.at(r, "WAITING", "after")
		c = s.called(r, 1)
		s.reaches(c.ID, "WAITING")
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: *r.ExecutionID})
		s.reaches(c.ID, "CANCELLED") // with the request, which both process
	})
}

// tower publishes workflows of which each calls the next one, and returns the first.
func tower(t testing.TB, w *testkit.World, height int) *ent.Workflow {
	t.Helper()
	top := published(t, w, principal.Owner, "Floor 1", ordering())
	for n := 2; n <= height; n++ {
		top = published(t, w, principal.Owner, fmt.Sprint("Floor ", n), line([]body{phase("start", "START", nil), calls("down", top.ID, body{"input": body{"n": 1}}), phase("end", "END", nil)}))
	}
	return top
}

func TestCancellingGoesDown(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := caller(t, w, tower(t, w, 3).ID, nil)
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "call")
		require.Eventually(t, func() bool { return len(s.tasks(r, "OPEN")) == 1 }, patience, tick)
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: *r.ExecutionID})
		all, err := w.Store.Reader().Execution.Query().Where(execution.RequestID(r.ID)).WithVisits().Order(execution.ByDepth()).All(s.ctx)
		require.NoError(t, err)
		require.Len(t, all, 4)
		for _, e := range all {
			require.Equal(t, execution.StatusCANCELLED, e.Status)
			last := e.Edges.Visits[len(e.Edges.Visits)-1]
			require.Equal(t, phasevisit.StatusSKIPPED, last.Status)
			if e.Depth > 0 {
				require.Contains(t, string(last.Error), "caller_ended")
			}
		}
		require.Equal(t, request.StatusCANCELLED, s.request(r).Status)
		require.Len(t, s.tasks(r, "CANCELLED"), 1)
	})
}

func TestABranchThatClosesEndsWhatItHasCalled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := published(t, w, principal.Owner, "Ordering", ordering())
		d := prepare(w, "1d", body{"join": "any"})
		d["phases"].([]body)[5] = calls("rest", other.ID, nil)
		s := open(t, w, d)
		s.work()
		r := s.file(nil)
		s.standsIn(r, "order", "access", "rest")
		c := s.called(r, 1)
		require.Equal(t, "Desk", *c.ParentBranch)
		s.reaches(c.ID, "WAITING")
		require.NoError(t, s.decide(w.A.Users[principal.Admin], s.approval(r).ID, "APPROVE"))
		s.at(r, "WAITING", "after")
		s.reaches(c.ID, "CANCELLED")
		require.Len(t, s.tasks(r, "CANCELLED"), 2)
	})
}

func TestWhatACalledWorkflowRunsIntoComesUp(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := ordering()
		d["phases"].([]body)[2] = phase("count", "DATA", body{"kind": "validate", "rules": []body{{"check": "phases.order.ok && true", "message": "It is not ok."}}})
		s := caller(t, w, published(t, w, principal.Owner, "Ordering", d).ID, nil)
		s.work()
		r := s.file(nil)
		c := s.called(r, 1)
		s.finishIn(r, "order", nil) // without ok: an incident of the called execution, which stays there
		require.Eventually(t, func() bool {
			return s.Store.Reader().Incident.Query().Where(incident.ExecutionID(c.ID), incident.StatusEQ(incident.StatusOPEN)).CountX(s.ctx) == 1
		}, patience, tick)
		s.at(r, "WAITING", "call")
		resolve := func(executionID string, in run.ResolveIncidentInput) error {
			in.ID = s.Store.Reader().Incident.Query().Where(incident.ExecutionID(executionID), incident.StatusEQ(incident.StatusOPEN)).OnlyIDX(s.ctx)
			_, _, err := op.Run(s.ctx, s.Engine, run.ResolveIncident, in, nil)
			return err
		}
		require.NoError(t, resolve(c.ID, run.ResolveIncidentInput{Action: "RETRY", Variables: body{"count": body{}}}))
		require.Eventually(t, func() bool {
			return s.Store.Reader().Incident.Query().Where(incident.ExecutionID(c.ID), incident.StatusEQ(incident.StatusOPEN)).CountX(s.ctx) == 1
		}, patience, tick)
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: c.ID})
		require.Equal(t, request.StatusPENDING, s.request(r).Status, "the request is the caller's")
		waits := func(code string) {
			require.EventuallyWithT(t, func(t *assert.CollectT) {
				e := s.Store.Reader().Execution.GetX(s.ctx, *r.ExecutionID)
				require.Contains(t, string(e.Error), code)
			}, patience, tick)
		}
		waits("was cancelled")
		require.NoError(t, resolve(*r.ExecutionID, run.ResolveIncidentInput{Action: "RETRY"}))
		c = s.called(r, 2)
		require.Equal(t, 2, *c.ParentAttempt)
		s.finishIn(r, "order", body{"ok": false})
		s.reaches(c.ID, "FAILED")
		waits("It is not ok.")
		require.NoError(t, resolve(*r.ExecutionID, run.ResolveIncidentInput{Action: "SKIP"}))
		s.at(r, "WAITING", "after")
	})
}

// Whoever may not decide what a called workflow asks does not get past it by skipping the call.
func TestSkippingACallTakesTheRightToDecideWhatItAsks(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		asking := line([]body{
			phase("start", "START", nil), phase("ask", "APPROVAL", body{"mode": "any", "approvers": []body{person(w.A.Users[principal.Admin])}}), phase("end", "END", nil),
		}, body{"from": "ask", "name": "rejected", "to": "end"})
		asking["transitions"].([]body)[2]["name"] = "approved"
		s := caller(t, w, published(t, w, principal.Owner, "Asking", asking).ID, nil)
		s.work()
		r := s.file(nil)
		s.reaches(s.called(r, 1).ID, "WAITING")
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: s.called(r, 1).ID})
		require.Eventually(t, func() bool {
			return s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID)).CountX(s.ctx) == 1
		}, patience, tick)
		testkit.Refused(t, s.World, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: "SKIP"}, apperr.Forbidden)
	})
}

// What a call asks is read once of each workflow, however many phases call it: here 40 of each floor, five deep.
func TestSkippingACallReadsEachWorkflowOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		top := published(t, w, principal.Owner, "Floor 1", ordering())
		for n := 2; n <= 5; n++ {
			phases := []body{phase("start", "START", nil)}
			for i := range 40 {
				phases = append(phases, calls(fmt.Sprint("down", i), top.ID, body{"input": body{"n": 1}}))
			}
			top = published(t, w, principal.Owner, fmt.Sprint("Floor ", n), line(append(phases, phase("end", "END", nil))))
		}
		s := caller(t, w, top.ID, nil)
		testkit.Run(t, w, s.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: top.ID}, Status: op.SetTo("archived")})
		s.work()
		r := s.file(nil)
		require.Eventually(t, func() bool {
			return s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID)).CountX(s.ctx) == 1
		}, patience, tick)
		testkit.Run(t, w, s.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: top.ID}, Status: op.SetTo("active")})
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		testkit.Run(t, w, ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: "SKIP"})
	})
}

func TestACallOfAnArchivedWorkflowIsAnIncident(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := published(t, w, principal.Owner, "Ordering", ordering())
		s := caller(t, w, other.ID, nil)
		err := testkit.Refused(t, s.World, s.ctx, workflow.DeleteWorkflow, op.ByID{ID: other.ID}, apperr.Conflict)
		require.Contains(t, err.Error(), "Process")
		testkit.Run(t, w, s.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: other.ID}, Status: op.SetTo("archived")})
		s.work()
		r := s.file(nil)
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			require.Contains(t, string(s.Store.Reader().Execution.GetX(s.ctx, *r.ExecutionID).Error), "workflow_missing")
		}, patience, tick)
		testkit.Run(t, w, s.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: other.ID}, Status: op.SetTo("active")})
		testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: "RETRY"})
		s.reaches(s.called(r, 1).ID, "WAITING")
	})
}

// A version may come to call deeper after its callers were published: then the sixth call is refused when it runs.
func TestCallsAreNestedFiveDeep(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := published(t, w, principal.Owner, "Ordering", ordering())
		s := caller(t, w, other.ID, nil)
		bottom := tower(t, w, 5)
		raw, err := json.Marshal(line([]body{phase("start", "START", nil), calls("down", bottom.ID, nil), phase("end", "END", nil)}))
		require.NoError(t, err)
		testkit.Run(t, w, s.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: other.ID}, Definition: op.SetTo(workflow.NewDefinition(raw))})
		testkit.Run(t, w, s.ctx, workflow.PublishWorkflow, op.ByID{ID: other.ID})
		s.work()
		r := s.file(nil)
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			i, err := s.Store.Reader().Incident.Query().WithExecution().Only(s.ctx)
			require.NoError(t, err)
			require.Equal(t, []any{"calls_too_deep", 5}, []any{i.Code, i.Edges.Execution.Depth})
		}, patience, tick)
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: *r.ExecutionID})
		require.Zero(t, s.Store.Reader().Execution.Query().Where(execution.StatusIn(execution.StatusRUNNING, execution.StatusWAITING)).CountX(s.ctx))
	})
}

// What a user has written in a called execution is erased where it was called, too.
func TestAnswersOfCalledExecutionsAreErased(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := caller(t, w, tower(t, w, 2).ID, nil)
		s.work()
		r := s.file(nil)
		s.finishIn(r, "order", body{"said": "a secret word"})
		s.finishIn(r, "after", nil)
		s.at(r, "COMPLETED", "end")
		var open bool
		require.NoError(t, w.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			_, open, err = run.EraseAnswers(ctx, tx.Client, w.A.Users[principal.Owner].ID, "", 10)
			return err
		}))
		require.False(t, open)
		rows := s.Store.Reader().Execution.Query().WithVisits().AllX(s.ctx)
		require.Len(t, rows, 3)
		for _, e := range rows {
			require.NotContains(t, string(e.State), "secret word")
			for _, v := range e.Edges.Visits {
				require.NotContains(t, string(v.Output), "secret word", v.PhaseID)
			}
		}
	})
}

// Processes are killed at any time: each call starts one execution, and its end arrives once.
func TestProcessesThatCallAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		other := published(t, w, principal.Owner, "Ordering", ordering())
		each := body{"id": "each", "type": "FOR_EACH", "in": "[1, 2, 3]", "as": "n", "start": "call", "maxParallel": 2, "end": "all"}
		d := body{
			"phases": []body{
				phase("start", "START", nil), each, calls("call", other.ID, body{"input": body{"n": "${phases.each.n}"}}), {"id": "all", "type": "JOIN", "next": "sum"},
				phase("sum", "DATA", body{"kind": "enrich", "set": body{"list": "phases.all.results.map(r, r.call.phases.count.n)"}}), phase("end", "END", nil),
			},
			"transitions": []body{{"from": "start", "name": "next", "to": "each"}, {"from": "call", "name": "next", "to": "all"}, {"from": "sum", "name": "next", "to": "end"}},
		}
		s := open(t, w, d)
		var filed []*ent.Request
		w.KillNodes(t, 4, "TestProcessThatWorks", receiver.CAFile(t), func(int) {
			filed = append(filed, s.file(nil))
			s.people()
		})
		s.work()
		for _, r := range filed {
			require.Eventually(t, func() bool {
				s.people()
				return s.Store.Reader().Execution.GetX(s.ctx, *r.ExecutionID).Status == execution.StatusCOMPLETED
			}, afterKills(len(filed)), tick)
			e := s.at(r, "COMPLETED", "end")
			require.Equal(t, body{"list": []any{2.0, 3.0, 4.0}}, s.phases(e)["sum"])
			rows := s.Store.Reader().Execution.Query().Where(execution.ParentID(e.ID)).AllX(s.ctx)
			require.Len(t, rows, 3)
			for _, c := range rows {
				require.Equal(t, execution.StatusCOMPLETED, c.Status)
				require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(c.ID))
			}
			require.Equal(t, 3, s.Store.Reader().Task.Query().Where(task.RequestID(r.ID)).CountX(s.ctx))
			require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(e.ID))
		}
	})
}

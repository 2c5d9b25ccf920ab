package execution_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	"atrium/ent/user"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	run "atrium/internal/workflow/execution"
)

// events returns the names of the events about a row, in order.
func (s *shop) events(subject string) []string {
	s.t.Helper()
	names, err := s.Store.Reader().Event.Query().Where(event.SubjectID(subject)).Order(event.ByCreatedAt(), event.ByID()).Select(event.FieldType).Strings(s.ctx)
	require.NoError(s.t, err)
	return names
}

// audited returns the actions of the audit entries about a row.
func (s *shop) audited(id string) []string {
	s.t.Helper()
	names, err := s.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).
		Order(auditentry.ByCreatedAt(), auditentry.ByID()).Select(auditentry.FieldAction).Strings(s.ctx)
	require.NoError(s.t, err)
	return names
}

// Slow expressions wait for the company's turn of costly work, and occupy no worker that others need. In that turn they end in
// an incident.
func TestSlowExpressionsWaitForTheirTurn(t *testing.T) {
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{
			phase("start", "START", nil),
			phase("slow", "DATA", body{"kind": "enrich", "set": body{"x": "request.fields.n.all(a, request.fields.n.all(b, request.fields.n.all(c, a == c)))"}}),
			phase("end", "END", nil),
		}))
		numbers := make([]any, 1000)
		for i := range numbers {
			numbers[i] = 1
		}
		var slow []*ent.Request
		for range 20 { // more than a node runs at once
			slow = append(slow, s.file(body{"n": numbers}))
		}
		s.publish(line([]body{phase("start", "START", nil), phase("quick", "DATA", body{"kind": "enrich", "set": body{"x": "1 + 1"}}), phase("end", "END", nil)}))
		held, free, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			assert.NoError(t, w.Engine.Costly(context.Background(), w.A.Company.ID, func(context.Context) error {
				close(held)
				<-free
				return nil
			}))
		}()
		<-held
		s.work()
		s.at(s.file(body{}), "COMPLETED", "")
		for _, r := range slow {
			require.NotEqual(t, "WAITING", string(s.at(r, "RUNNING", "").Status))
		}
		close(free)
		<-done
		s.at(slow[0], "WAITING", "slow")
		require.Contains(t, s.incident(slow[0]).Message, "too long")
	})
}

// laptop enriches, decides, has a task worked and completes the request; it refuses expensive requests.
func laptop(responsible string) body {
	work := phase("work", "PROCESS", body{
		"title": "Hand out ${request.fields.model}", "instructions": "In person.", "dueMinutes": 60,
		"form": body{"fields": []body{{"key": "serial", "label": "Serial", "type": "text", "required": true}}},
	})
	work["participants"] = []body{{"role": "responsible", "type": "user", "id": responsible}}
	work["requestAction"] = "accept"
	done, no := phase("done", "END", nil), phase("no", "END", nil)
	done["requestAction"], no["requestAction"] = "complete", "cancel"
	return body{
		"phases": []body{
			phase("start", "START", nil), phase("price", "DATA", body{"kind": "enrich", "set": body{"cents": "request.fields.price * 100.0"}}),
			phase("dear", "DECISION", body{"rules": []body{{"when": "phases.price.cents > 100000.0", "transition": "refuse"}}, "default": "buy"}),
			work, done, no,
		},
		"transitions": []body{
			{"from": "start", "name": "next", "to": "price"}, {"from": "price", "name": "next", "to": "dear"}, {"from": "dear", "name": "refuse", "to": "no"},
			{"from": "dear", "name": "buy", "to": "work"}, {"from": "work", "name": "next", "to": "done"}, {"from": "work", "name": "lost", "to": "no"},
		},
	}
}

// A filed request runs through its workflow: it computes data, decides, has somebody work a task, and changes the request.
func TestRequestRunsThroughItsWorkflow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		agent := w.A.Users[principal.Agent]
		s := open(t, w, laptop(agent.ID))
		r := s.file(body{"model": "14 inch", "price": 900})
		require.NotNil(t, r.ExecutionID, "it starts in the transaction of the request")
		require.Equal(t, "RUNNING", string(s.at(r, "RUNNING", "").Status), "and waits for somebody who works jobs")
		s.work()
		s.at(r, "WAITING", "work")
		require.Equal(t, "IN_PROGRESS", string(s.request(r).Status))
		task := s.task(r)
		require.Equal(t, "Hand out 14 inch", task.Title)
		require.Equal(t, agent.ID, *task.AssigneeID)
		require.Equal(t, []string{"next", "lost"}, task.Outcomes)
		require.WithinDuration(t, task.CreatedAt.Add(time.Hour), *task.DueAt, time.Second)

		complete := func(in run.CompleteTaskInput) error {
			in.ID = task.ID
			_, _, err := op.Run(w.As(w.A, principal.Agent), w.Engine, run.CompleteTask, in, nil)
			return err
		}
		wrong := "nowhere"
		err := complete(run.CompleteTaskInput{Outcome: &wrong, Variables: body{"serial": 1}})
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		require.Len(t, apperr.From(err).Details, 2)
		require.Equal(t, []string{"outcome", "variables.serial"}, []string{apperr.From(err).Details[0].Field, apperr.From(err).Details[1].Field})
		require.NoError(t, complete(run.CompleteTaskInput{Variables: body{"serial": "X1"}}))
		require.Equal(t, apperr.Conflict, apperr.CodeOf(complete(run.CompleteTaskInput{Variables: body{"serial": "X1"}})), "it is done")

		e := s.at(r, "COMPLETED", "done")
		require.NotNil(t, e.FinishedAt)
		require.Equal(t, "COMPLETED", string(s.request(r).Status))
		require.Equal(t, []string{"start COMPLETED", "price COMPLETED", "dear COMPLETED", "work COMPLETED", "done COMPLETED"}, s.path(r))
		require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(e.ID))
		require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.audited(e.ID))
		require.Equal(t, []string{"task.assigned", "task.completed"}, s.events(task.ID))
		require.Equal(t, []string{"task.assigned", "task.completed"}, s.audited(task.ID))
		require.Equal(t, []string{"request.created", "request.accepted", "request.completed"}, s.events(r.ID))
		raw, err := run.Variables(testkit.Run(t, w, s.ctx, run.Get, op.ByID{ID: e.ID}))
		require.NoError(t, err)
		require.Contains(t, string(raw), `"work":{"outcome":"next","serial":"X1"}`)
		require.Contains(t, string(raw), `"price":900`, "the digits that were sent")

		// The workflow cancels the request, and continues to its own end.
		costly := s.file(body{"model": "16 inch", "price": 3000})
		s.at(costly, "COMPLETED", "no")
		require.Equal(t, "CANCELLED", string(s.request(costly).Status))
	})
}

// Nothing starts if the offering has no workflow, or one that is not active.
func TestNoWorkflowNoExecution(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{phase("start", "START", nil), phase("done", "END", nil)}))
		require.NotNil(t, s.file(nil).ExecutionID)
		write := func(fn func(ctx context.Context, tx *store.Tx) error) {
			require.NoError(t, w.Store.Write(s.ctx, fn))
		}
		write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Workflow.UpdateOneID(s.workflow.ID).SetStatus("archived").Exec(ctx)
		})
		require.Nil(t, s.file(nil).ExecutionID)
		write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Workflow.UpdateOneID(s.workflow.ID).SetStatus("active").Exec(ctx)
		})
		write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Offering.UpdateOneID(s.offering.ID).ClearWorkflowID().Exec(ctx)
		})
		require.Nil(t, s.file(nil).ExecutionID)
	})
}

// An execution stays with the version that it started with.
func TestExecutionPinsItsVersion(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{phase("start", "START", nil), phase("work", "PROCESS", nil), phase("done", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "work")
		s.publish(line([]body{phase("start", "START", nil), phase("done", "END", nil)}))
		s.at(s.file(nil), "COMPLETED", "done")
		s.complete(r, "", nil)
		s.at(r, "COMPLETED", "done")
		require.Equal(t, []string{"start COMPLETED", "work COMPLETED", "done COMPLETED"}, s.path(r))
	})
}

// An execution's phases are called as in the version that it runs, for those who see the workflow.
func TestPhaseNames(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		hand := phase("hand", "PROCESS", nil)
		hand["name"] = "Hand it out"
		s := open(t, w, line([]body{phase("start", "START", nil), hand, phase("done", "END", nil)}))
		s.work()
		e := s.at(s.file(nil), "WAITING", "hand")
		names := func(ctx context.Context) map[string]string {
			return testkit.Run(t, w, ctx, run.LookUpPhaseNames, paging.ByIDs{IDs: []string{e.ID}})[e.ID]
		}
		hand["name"] = "Renamed"
		s.publish(line([]body{phase("start", "START", nil), hand, phase("done", "END", nil)}))
		require.Equal(t, map[string]string{"start": "start", "hand": "Hand it out", "done": "done"}, names(s.ctx))
		condition := policy.NewCondition([]byte(`{"principal.role": "agent"}`))
		testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hidden", Effect: "Deny", Action: "read", Resource: "Workflow", Condition: &condition})
		require.Empty(t, names(w.As(w.A, principal.Agent)))
		require.NotEmpty(t, names(w.As(w.A, principal.Admin)))
	})
}

// A request that moves to another offering leaves the workflow of the old one, and starts that of the new one.
func TestMovedRequestChangesItsWorkflow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{phase("start", "START", nil), phase("work", "PROCESS", nil), phase("done", "END", nil)}))
		raw, err := json.Marshal(line([]body{phase("start", "START", nil), phase("check", "PROCESS", nil), phase("done", "END", nil)}))
		require.NoError(t, err)
		flow := testkit.Run(t, w, s.ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Other", Definition: workflow.NewDefinition(raw)})
		testkit.Run(t, w, s.ctx, workflow.PublishWorkflow, op.ByID{ID: flow.ID})
		facilities := testkit.Run(t, w, s.ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "Facilities"})
		other := testkit.Run(t, w, s.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: facilities.ID}, Name: "Badge", WorkflowID: &flow.ID})
		plain := testkit.Run(t, w, s.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.service.ID}, Name: "Chair"})
		s.work()
		filed := s.file(nil)
		s.at(filed, "WAITING", "work")
		moved := testkit.Run(t, w, s.ctx, domain.Move, domain.MoveInput{ByID: op.ByID{ID: filed.ID}, OfferingID: other.ID})
		require.Equal(t, facilities.ID, moved.ServiceID)
		require.NotEqual(t, filed.ExecutionID, moved.ExecutionID)
		s.at(filed, "CANCELLED", "work")
		s.at(moved, "WAITING", "check")
		require.Len(t, s.tasks(filed, "CANCELLED"), 1)
		require.Equal(t, "check", s.task(filed).PhaseID)
		require.Equal(t, []string{"request.created", "request.moved"}, s.events(filed.ID))

		moved = testkit.Run(t, w, s.ctx, domain.Move, domain.MoveInput{ByID: op.ByID{ID: filed.ID}, OfferingID: plain.ID})
		require.Nil(t, moved.ExecutionID, "nothing processes it")
		require.Empty(t, s.tasks(filed, "OPEN"))
	})
}

// Cancelling a request ends its execution, cancelling an execution ends its request, and both close what is open.
func TestCancelEndsBoth(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{phase("start", "START", nil), phase("work", "PROCESS", nil), phase("done", "END", nil)}))
		early := s.file(nil)
		cancelled := testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: *early.ExecutionID})
		require.Equal(t, "CANCELLED", string(cancelled.Status), "before its first step")
		s.work()
		byRequest, byExecution := s.file(nil), s.file(nil)
		s.at(byRequest, "WAITING", "work")
		s.at(byExecution, "WAITING", "work")
		_, _, err := op.Run(s.ctx, w.Engine, domain.Update, domain.UpdateInput{ByID: op.ByID{ID: byRequest.ID}, Status: op.SetTo("CANCELLED")}, nil)
		require.NoError(t, err)
		s.at(byRequest, "CANCELLED", "work")
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: *byExecution.ExecutionID})
		for _, r := range []string{byRequest.ID, byExecution.ID, early.ID} {
			row, err := w.Store.Reader().Request.Get(s.ctx, r)
			require.NoError(t, err)
			require.Equal(t, "CANCELLED", string(row.Status))
			require.Equal(t, []string{"request.created", "request.cancelled"}, s.events(r))
		}
		for _, r := range []string{*byRequest.ExecutionID, *byExecution.ExecutionID} {
			testkit.Refused(t, w, s.ctx, run.Cancel, op.ByID{ID: r}, apperr.Conflict)
		}
		for _, task := range append(s.tasks(byRequest, "CANCELLED"), s.tasks(byExecution, "CANCELLED")...) {
			testkit.Refused(t, w, s.ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: task.ID}}, apperr.Conflict)
		}
		require.Empty(t, s.tasks(byRequest, "OPEN"))
		require.Equal(t, []string{"workflow.started"}, s.events(*byExecution.ExecutionID))
		require.Contains(t, s.audited(*byExecution.ExecutionID), "execution.cancelled")
	})
}

// Timers continue when their moment has come, and not before.
func TestTimer(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{
			phase("start", "START", nil), phase("short", "TIMER", body{"duration": "1s"}),
			phase("long", "TIMER", body{"duration": "3d"}), phase("done", "END", nil),
		}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "long")
		now := w.Clock.Now()
		w.Later(t, 72*time.Hour)
		e := s.at(r, "COMPLETED", "done")
		require.WithinDuration(t, now.Add(72*time.Hour), *e.FinishedAt, time.Minute)
	})
}

// DATA asks the responsible person to correct the request, and checks again.
func TestDataAsksForCorrections(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		check := func(onInvalid string) body {
			return phase("check", "DATA", body{"kind": "validate", "onInvalid": onInvalid, "rules": []body{{"check": "request.fields.n > 2.0", "message": "n is too small", "field": "n"}}})
		}
		s := open(t, w, line([]body{phase("start", "START", nil), check("ask"), phase("done", "END", nil)}))
		s.work()
		r := s.file(body{"n": 1, "kept": "k"})
		s.at(r, "WAITING", "check")
		require.JSONEq(t, `[{"field":"n","message":"n is too small"}]`, string(s.task(r).Corrections))
		s.complete(r, "", body{"n": 2})
		require.Eventually(t, func() bool { return len(s.tasks(r, "OPEN")) == 1 }, patience, tick, "it is still too small")
		s.complete(r, "", body{"n": 3})
		s.at(r, "COMPLETED", "")
		require.JSONEq(t, `{"n": 3, "kept": "k"}`, string(s.request(r).Fields))

		s.publish(line([]body{phase("start", "START", nil), check("fail"), phase("done", "END", nil)}))
		failing := s.file(body{"n": 1})
		e := s.at(failing, "FAILED", "check")
		require.JSONEq(t, `{"phaseId":"check","code":"validation_failed","message":"n is too small"}`, string(e.Error))
		require.Equal(t, []string{"workflow.started", "workflow.failed"}, s.events(e.ID))
	})
}

// A correction that the offering's form refuses changes nothing. What the form has come to refuse of the other answers since the
// request was filed stands in nobody's way.
func TestCorrectionsThatTheFormRefuses(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		check := phase("check", "DATA", body{"kind": "validate", "onInvalid": "ask", "rules": []body{{"check": "request.fields.n > 2.0", "field": "n"}}})
		s := open(t, w, line([]body{phase("start", "START", nil), check, phase("done", "END", nil)}))
		testkit.Run(t, w, s.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{
			ByID: op.ByID{ID: s.offering.ID}, Form: op.SetTo(form.Definition{Fields: []form.Field{{Key: "n", Label: "N", Type: form.Number, Max: new(form.Bound("3"))}}}),
		})
		s.work()
		r := s.file(body{"n": 1})
		s.at(r, "WAITING", "check")
		in := run.CompleteTaskInput{ByID: op.ByID{ID: s.task(r).ID}, Variables: body{"n": 4, "m": 1}}
		var fields []string
		for _, d := range testkit.Refused(t, w, s.ctx, run.CompleteTask, in, apperr.Validation).Details {
			fields = append(fields, d.Field)
		}
		require.ElementsMatch(t, []string{"variables.m", "variables.n"}, fields)
		require.JSONEq(t, `{"n": 1}`, string(s.request(r).Fields))
		s.complete(r, "", body{"n": 3})
		s.at(r, "COMPLETED", "done")

		number := form.Field{Key: "n", Label: "N", Type: form.Number, Max: new(form.Bound("3"))}
		change := func(colors ...string) {
			testkit.Run(t, w, s.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{
				ByID: op.ByID{ID: s.offering.ID}, Form: op.SetTo(form.Definition{Fields: []form.Field{number, {Key: "color", Label: "Color", Type: form.Select, Options: colors}}}),
			})
		}
		change("red", "blue")
		r = s.file(body{"n": 1, "color": "red"})
		s.at(r, "WAITING", "check")
		change("blue")
		s.complete(r, "", body{"n": 3})
		s.at(r, "COMPLETED", "done")
		require.JSONEq(t, `{"n": 3, "color": "red"}`, string(s.request(r).Fields))
	})
}

// A responsible person works the task; if none is available, an incident says so.
func TestMissingParticipants(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		agent := w.A.Users[principal.Agent]
		s := open(t, w, laptop(agent.ID))
		s.work()
		set := func(status user.Status) {
			require.NoError(t, w.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.User.UpdateOneID(agent.ID).SetStatus(status).Exec(ctx)
			}))
		}
		set(user.StatusDeactivated)
		r := s.file(body{"model": "14 inch", "price": 900})
		e := s.at(r, "WAITING", "work")
		i := s.incident(r)
		require.Equal(t, "participant_missing", i.Code)
		require.Contains(t, i.Message, agent.ID)
		require.Empty(t, s.tasks(r, "OPEN"), "no task that nobody sees")
		require.Equal(t, []string{"workflow.started", "workflow.failed"}, s.events(e.ID))

		set(user.StatusActive)
		large := body{"text": strings.Repeat("x", 1<<20)}
		_, _, err := op.Run(s.ctx, w.Engine, run.ResolveIncident, run.ResolveIncidentInput{
			ByID: op.ByID{ID: i.ID}, Action: "RETRY", Variables: body{"work": large},
		}, nil)
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		require.Equal(t, "variables", apperr.From(err).Details[0].Field)
		testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: i.ID}, Action: "RETRY"})
		require.Eventually(t, func() bool { return len(s.tasks(r, "OPEN")) == 1 }, patience, tick)
		s.complete(r, "lost", body{"serial": "X1"})
		require.Nil(t, s.at(r, "COMPLETED", "no").Error)
	})
}

// Somebody who leaves hands their open tasks to a team, or is told how many there are.
func TestDeactivationHandsTasksOver(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		agent := w.A.Users[principal.Agent]
		s := open(t, w, laptop(agent.ID))
		s.work()
		r := s.file(body{"model": "14 inch", "price": 900})
		s.at(r, "WAITING", "work")
		desk := testkit.Run(t, w, s.ctx, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		deactivation := people.DeactivateUserInput{ByID: op.ByID{ID: agent.ID}}
		require.Equal(t, 1, testkit.Run(t, w, s.ctx, people.DeactivateUser, deactivation).OpenTasks)
		require.Equal(t, agent.ID, *s.task(r).AssigneeID)

		deactivation.ReassignTo = &desk.ID
		require.Equal(t, 1, testkit.Run(t, w, s.ctx, people.DeactivateUser, deactivation).OpenTasks, "before any were handed over")
		moved := s.task(r)
		require.Nil(t, moved.AssigneeID)
		require.Equal(t, desk.ID, *moved.TeamID)
		require.Contains(t, s.audited(moved.ID), "task.assigned")
		require.Zero(t, testkit.Run(t, w, s.ctx, people.DeactivateUser, deactivation).OpenTasks)
	})
}

// A failing expression is an incident: it is retried, or skipped with what it should have left behind. The variables of other phases
// stay what they are.
func TestIncidents(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{
			phase("start", "START", nil), phase("source", "DATA", body{"kind": "enrich", "set": body{"n": "1"}}),
			phase("sum", "DATA", body{"kind": "enrich", "set": body{"n": "phases.source.m + 1.0"}}), phase("done", "END", nil),
		}))
		s.work()
		retried, skipped := s.file(nil), s.file(nil)
		e := s.at(retried, "WAITING", "sum")
		require.Contains(t, string(e.Error), "expression_failed")
		first := s.incident(retried)
		resolve := func(in run.ResolveIncidentInput) error {
			_, _, err := op.Run(s.ctx, w.Engine, run.ResolveIncident, in, nil)
			return err
		}
		for _, other := range []string{"nowhere", "source", "done"} {
			err := resolve(run.ResolveIncidentInput{ByID: op.ByID{ID: first.ID}, Action: "RETRY", Variables: body{other: body{"m": 4}}})
			require.Equal(t, "variables", apperr.From(err).Details[0].Field)
		}
		require.NoError(t, resolve(run.ResolveIncidentInput{ByID: op.ByID{ID: first.ID}, Action: "RETRY"}))
		require.Equal(t, apperr.Conflict, apperr.CodeOf(resolve(run.ResolveIncidentInput{ByID: op.ByID{ID: first.ID}, Action: "RETRY"})))
		require.Eventually(t, func() bool {
			n, err := w.Store.Reader().Incident.Query().Count(s.ctx)
			return err == nil && n >= 2 && s.at(retried, "WAITING", "sum").Revision >= 2
		}, patience, tick)
		second := s.incident(retried)
		require.NotEqual(t, first.ID, second.ID)
		require.NoError(t, resolve(run.ResolveIncidentInput{ByID: op.ByID{ID: second.ID}, Action: "SKIP", Variables: body{"sum": body{"n": 5}}}))
		e = s.at(retried, "COMPLETED", "done")
		require.Contains(t, string(e.State), `"sum":{"n":5}`)

		s.at(skipped, "WAITING", "sum")
		with := func(status ...string) (ids []string) {
			for _, e := range testkit.Run(t, w, s.ctx, run.List, run.ListInput{Filters: run.Filters{IncidentStatus: status}}).Rows {
				ids = append(ids, *e.RequestID)
			}
			return ids
		}
		require.Equal(t, []string{skipped.ID}, with("OPEN"))
		require.Equal(t, []string{retried.ID}, with("RESOLVED"))
		require.ElementsMatch(t, []string{retried.ID, skipped.ID}, with("OPEN", "RESOLVED"))
		require.NoError(t, resolve(run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(skipped).ID}, Action: "SKIP"}))
		s.at(skipped, "COMPLETED", "done")
		require.Equal(t, []string{"start COMPLETED", "source COMPLETED", "sum SKIPPED", "done COMPLETED"}, s.path(skipped))
	})
}

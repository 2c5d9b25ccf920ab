package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentrun"
	"atrium/ent/task"
	"atrium/internal/agent"
	"atrium/internal/apperr"
	"atrium/internal/catalog"
	"atrium/internal/egress"
	"atrium/internal/execution"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/strictjson"
	"atrium/internal/testkit"
	"atrium/internal/workflow"
)

type body = map[string]any

// process returns a definition in which somebody works a task that asks for a serial number.
func process(participants ...body) *workflow.CreateWorkflowInput {
	raw, _ := json.Marshal(body{
		"phases": []body{
			{"id": "start", "type": "START"},
			{"id": "work", "type": "PROCESS", "participants": participants, "config": body{
				"title": "Note the serial", "form": body{"fields": []body{{"key": "serial", "type": "text", "required": true}}},
			}},
			{"id": "done", "type": "END"},
		},
		"transitions": []body{{"from": "start", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "done"}},
	})
	return &workflow.CreateWorkflowInput{Name: "Process", Definition: workflow.NewDefinition(raw)}
}

// phases has a robot that is responsible for a phase, and workers of both kinds of jobs.
func (d *desk) phases(autonomy string) *robot {
	d.t.Helper()
	r := d.robot(autonomy, onPhases)
	d.process(agent.NewDoor(d.Engine, agent.Models{}).Work(nil), body{"role": "responsible", "type": "agent", "id": r.agent.ID})
	return r
}

func onPhases(in *agent.CreateInput) { in.Type = "WORKFLOW_PHASE" }

// process has requests go through a phase with these participants, and workers of both kinds of jobs.
func (d *desk) process(agents jobs.Option, participants ...body) {
	d.t.Helper()
	w := testkit.Run(d.t, d.World, d.ctx, workflow.CreateWorkflow, *process(participants...))
	w = testkit.Run(d.t, d.World, d.ctx, workflow.PublishWorkflow, op.ByID{ID: w.ID})
	testkit.Run(d.t, d.World, d.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: d.offering}, WorkflowID: op.SetTo(w.ID)})
	out, err := egress.New(egress.Options{})
	require.NoError(d.t, err)
	d.t.Cleanup(out.Close)
	q, err := jobs.New(d.Store, slog.New(slog.DiscardHandler), true, agents,
		execution.New(execution.Options{Engine: d.Engine, Queue: d.Queue, Egress: out}).Work())
	require.NoError(d.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	d.t.Cleanup(func() { cancel(); require.NoError(d.t, <-done) })
}

func (d *desk) task(requestID string) *ent.Task {
	d.t.Helper()
	t, err := d.Store.Reader().Task.Query().Where(task.RequestID(requestID)).Only(d.ctx)
	require.NoError(d.t, err)
	return t
}

// An agent that is responsible for a phase gets its task, and what it completes it with fits the form and waits for a person.
func TestAgentsWorkPhases(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.phases("ACT_WITH_APPROVAL")
		id, run := r.claimed(d.ctx)
		require.Equal(t, agentrun.TriggerAssigned, run.Trigger)
		require.Equal(t, d.task(id).ID, *run.TaskID)
		ctx := r.must(run.ID)
		require.Equal(t, "Note the serial", testkit.Run(t, d.World, ctx, execution.GetTask, op.ByID{ID: *run.TaskID}).Title)
		_, _, err := op.Run(ctx, d.Engine, execution.CompleteTask, execution.CompleteTaskInput{ByID: op.ByID{ID: *run.TaskID}}, nil)
		require.Equal(t, apperr.Forbidden, code(err), "a task ends with its run")
		_, _, err = op.Run(ctx, d.Engine, agent.Complete, agent.CompleteInput{ByID: op.ByID{ID: run.ID}}, nil)
		require.Equal(t, "variables.serial", refusedFields(err))
		waits := testkit.Run(t, d.World, ctx, agent.Complete, agent.CompleteInput{ByID: op.ByID{ID: run.ID}, Variables: strictjson.Object{"serial": "X1"}})
		require.Equal(t, agentrun.StatusWAITING, waits.Status)
		require.Equal(t, task.StatusOPEN, d.task(id).Status)
		a := d.action(run)
		require.Equal(t, "completeTask", a.Operation)
		testkit.Run(t, d.World, d.staff(), agent.DecideAction, agent.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"})
		done := d.task(id)
		require.Equal(t, task.StatusCOMPLETED, done.Status)
		require.Equal(t, r.agent.ID, *done.CompletedBy)
		require.JSONEq(t, `{"serial": "X1"}`, string(done.Variables))
		d.run(id, agentrun.StatusCOMPLETED)
	})
}

// What an agent does not complete goes to people: the task of a run that was handed over, or is only proposed, is its owner's.
func TestTasksThatAgentsLeave(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.phases("SUGGEST")
		left := func(id string) {
			t.Helper()
			require.Eventually(t, func() bool {
				row := d.task(id)
				return row.AssigneeID != nil && *row.AssigneeID == d.A.Owner.ID
			}, patience, tick)
		}
		id, run := r.claimed(d.ctx)
		testkit.Run(t, d.World, r.must(run.ID), agent.HandOver, agent.HandOverInput{ByID: op.ByID{ID: run.ID}, Reason: "no"})
		left(id)

		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, r.must(run.ID), agent.Complete, agent.CompleteInput{ByID: op.ByID{ID: run.ID}, Variables: strictjson.Object{"serial": "X1"}})
		a := d.action(d.run(id, agentrun.StatusPROPOSED))
		left(id)
		testkit.Run(t, d.World, d.staff(), agent.ApplyProposal, agent.ApplyInput{ByID: op.ByID{ID: a.ID}})
		require.Equal(t, d.A.Users[principal.Agent].ID, *d.task(id).CompletedBy, "as the person who applied it")

		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, d.staff(), execution.ClaimTask, op.ByID{ID: *run.TaskID})
		d.run(id, agentrun.StatusSTOPPED)
		require.Equal(t, run.ID, d.run(id, agentrun.StatusSTOPPED).ID)
	})
}

func TestWhatAgentsAreNotInPhases(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		managed := d.hire("SUGGEST")
		for role, field := range map[string]string{"accountable": "definition.phases[1].participants[0].type", "informed": "definition.phases[1].participants[0].id"} {
			_, _, err := op.Run(d.ctx, d.Engine, workflow.CreateWorkflow, *process(body{"role": role, "type": "agent", "id": managed.ID}), nil)
			require.Equal(t, apperr.Validation, code(err), role)
			require.Contains(t, refusedFields(err), "participants", field)
		}
		made := testkit.Run(t, d.World, d.ctx, agent.Create, agent.CreateInput{Name: "A", Type: "WORKFLOW_PHASE", Source: "MANAGED", Autonomy: "SUGGEST"})
		_, _, err := op.Run(d.ctx, d.Engine, agent.Publish, op.ByID{ID: made.ID}, nil)
		require.Equal(t, apperr.Conflict, code(err))
	})
}

package agent_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/comment"
	"atrium/ent/task"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/evaluation"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	"atrium/internal/workflow/execution"
)

type body = map[string]any

// pasted is a key that somebody has left in a form.
const pasted = "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345"

// process returns a workflow in which the participants work on a task with a form that asks for a serial number.
func process(participants ...body) *workflow.CreateWorkflowInput {
	raw, _ := json.Marshal(body{
		"phases": []body{
			{"id": "start", "type": "START"},
			{"id": "work", "type": "PROCESS", "participants": participants, "config": body{
				"title": "Note the serial", "form": body{"fields": []body{{"key": "serial", "type": "text", "required": true, "help": "Look it up with " + pasted}}},
			}},
			{"id": "done", "type": "END"},
		},
		"transitions": []body{{"from": "start", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "done"}},
	})
	return &workflow.CreateWorkflowInput{Name: "Process", Definition: workflow.NewDefinition(raw)}
}

// phases creates a CUSTOM agent that is responsible for a phase, and starts the workers of workflows and agents.
func (d *desk) phases(autonomy string) *robot {
	d.t.Helper()
	r := d.robot(autonomy, onPhases)
	d.process(agent.NewDoor(d.Engine, worker.Models{}).Work(nil), body{"role": "responsible", "type": "agent", "id": r.agent.ID})
	return r
}

func onPhases(in *agent.CreateInput) { in.Type = "WORKFLOW_PHASE" }

// process sends requests through a phase with these participants, and starts the workers of workflows and agents.
func (d *desk) process(agents jobs.Option, participants ...body) {
	d.t.Helper()
	w := testkit.Run(d.t, d.World, d.ctx, workflow.CreateWorkflow, *process(participants...))
	w = testkit.Run(d.t, d.World, d.ctx, workflow.PublishWorkflow, op.ByID{ID: w.ID})
	testkit.Run(d.t, d.World, d.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: d.offering}, WorkflowID: op.SetTo(w.ID)})
	out, err := egress.New(egress.Options{})
	require.NoError(d.t, err)
	d.t.Cleanup(out.Close)
	d.WorkJobs(d.t, agents, execution.New(execution.Options{Engine: d.Engine, Egress: out}).Work())
}

func (d *desk) task(requestID string) *ent.Task {
	d.t.Helper()
	t, err := d.Store.Reader().Task.Query().Where(task.RequestID(requestID)).Only(d.ctx)
	require.NoError(d.t, err)
	return t
}

// An agent that is responsible for a phase gets its task. Its completion must fit the form and waits for a person.
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
		_, _, err = op.Run(ctx, d.Engine, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}}, nil)
		require.Equal(t, "variables.serial", refusedFields(err))
		waits := testkit.Run(t, d.World, ctx, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}, Variables: strictjson.Object{"serial": "X1"}})
		require.Equal(t, agentrun.StatusWAITING, waits.Status)
		require.Equal(t, task.StatusOPEN, d.task(id).Status)
		a := d.action(run)
		require.Equal(t, "completeTask", a.Operation)
		testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"})
		done := d.task(id)
		require.Equal(t, task.StatusCOMPLETED, done.Status)
		require.Equal(t, r.agent.ID, *done.CompletedBy)
		require.JSONEq(t, `{"serial": "X1"}`, string(done.Variables))
		d.run(id, agentrun.StatusCOMPLETED)
	})
}

// A run may ask for more than its task. What a person decides first does not take the rest away.
func TestRunsThatCompleteTheirTask(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.phases("ACT_WITH_APPROVAL")
		id, run := r.claimed(d.ctx)
		ctx := r.must(run.ID)
		other, err := r.writes(ctx, id, d.network)
		require.NoError(t, err)
		testkit.Run(t, d.World, ctx, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}, Variables: strictjson.Object{"serial": "X1"}})
		approve := func(a *ent.AgentAction) {
			testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"})
		}
		list, err := d.Store.Reader().AgentAction.Query().Where(agentaction.RunID(run.ID), agentaction.Operation("completeTask")).All(d.ctx)
		require.NoError(t, err)
		approve(list[0])
		require.Equal(t, task.StatusCOMPLETED, d.task(id).Status)
		d.idle()
		a, err := d.Store.Reader().AgentAction.Get(d.ctx, other)
		require.NoError(t, err)
		approve(a)
		require.Equal(t, d.network, *d.request(id).TeamID)
		d.run(id, agentrun.StatusCOMPLETED)
	})
}

// A task that an agent does not complete goes to its owner: after a run that was handed over, and once what it proposed is rejected.
// A proposal itself changes nothing.
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
		testkit.Run(t, d.World, r.must(run.ID), custom.HandOver, custom.HandOverInput{ByID: op.ByID{ID: run.ID}, Reason: "no"})
		left(id)

		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, r.must(run.ID), custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}, Variables: strictjson.Object{"serial": "X1"}})
		a := d.action(d.run(id, agentrun.StatusPROPOSED))
		require.Equal(t, r.agent.ID, *d.task(id).AgentID)
		testkit.Run(t, d.World, d.staff(), actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: a.ID}})
		require.Equal(t, d.A.Users[principal.Agent].ID, *d.task(id).CompletedBy, "as the person who applied it")

		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, r.must(run.ID), custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}, Variables: strictjson.Object{"serial": "X1"}})
		a = d.action(d.run(id, agentrun.StatusPROPOSED))
		_, _, err := op.Run(d.ctx, d.Engine, agent.Delete, op.ByID{ID: r.agent.ID}, nil)
		require.Equal(t, apperr.Conflict, code(err))
		testkit.Run(t, d.World, d.staff(), actions.RejectProposal, actions.RejectInput{ByID: op.ByID{ID: a.ID}, Reason: "It is X2."})
		left(id)

		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, d.staff(), execution.ClaimTask, op.ByID{ID: *run.TaskID})
		d.run(id, agentrun.StatusSTOPPED)
		require.Equal(t, run.ID, d.run(id, agentrun.StatusSTOPPED).ID)
	})
}

// When a person completes a task, or its process ends, the agent's run ends as well, and nobody can apply what it has proposed.
func TestTasksThatEndWithoutTheirAgent(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.phases("SUGGEST")
		proposed := func() (string, *ent.AgentAction) {
			t.Helper()
			id, run := r.claimed(d.ctx)
			testkit.Run(t, d.World, r.must(run.ID), custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}, Variables: strictjson.Object{"serial": "X1"}})
			return id, d.action(d.run(id, agentrun.StatusPROPOSED))
		}
		stale := func(a *ent.AgentAction) {
			t.Helper()
			require.Eventually(t, func() bool {
				now, err := d.Store.Reader().AgentAction.Get(d.ctx, a.ID)
				require.NoError(t, err)
				return now.Status == agentaction.StatusSTALE
			}, patience, tick)
		}
		id, a := proposed()
		testkit.Run(t, d.World, d.staff(), execution.CompleteTask, execution.CompleteTaskInput{ByID: op.ByID{ID: d.task(id).ID}, Variables: strictjson.Object{"serial": "X2"}})
		stale(a)
		id, a = proposed()
		testkit.Run(t, d.World, d.staff(), request.Decline, request.DeclineInput{ByID: op.ByID{ID: id}, Reason: "no"})
		stale(a)
		id, a = proposed()
		testkit.Run(t, d.World, d.ctx, execution.Cancel, op.ByID{ID: d.task(id).ExecutionID})
		stale(a)

		id, _ = r.claimed(d.ctx)
		testkit.Run(t, d.World, d.ctx, execution.Cancel, op.ByID{ID: d.task(id).ExecutionID})
		d.run(id, agentrun.StatusSTOPPED)
	})
}

// The task of an agent that was never published goes to its owner at once.
func TestTasksOfAgentsThatDoNotWork(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		raw := testkit.Run(t, d.World, d.ctx, agent.Create, agent.CreateInput{Name: "Draft", Type: "WORKFLOW_PHASE", Source: "CUSTOM", Autonomy: "SUGGEST", OwnerID: &d.A.Owner.ID})
		d.process(agent.NewDoor(d.Engine, worker.Models{}).Work(nil), body{"role": "responsible", "type": "agent", "id": raw.ID})
		id := d.file(d.ctx, "vpn")
		require.Eventually(t, func() bool {
			row, err := d.Store.Reader().Task.Query().Where(task.RequestID(id)).Only(d.ctx)
			return err == nil && row.AssigneeID != nil && *row.AssigneeID == d.A.Owner.ID
		}, patience, tick)
	})
}

func TestWhatAgentsAreNotInPhases(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		managed := d.hire("SUGGEST")
		for role, field := range map[string]string{"accountable": "definition.phases[1].participants[0].type", "informed": "definition.phases[1].participants[0].id", "responsible": "takes requests in"} {
			_, _, err := op.Run(d.ctx, d.Engine, workflow.CreateWorkflow, *process(body{"role": role, "type": "agent", "id": managed.ID}), nil)
			require.Equal(t, apperr.Validation, code(err), role)
			require.Contains(t, refusedFields(err), "participants", field)
		}
		made := testkit.Run(t, d.World, d.ctx, agent.Create, agent.CreateInput{Name: "A", Type: "WORKFLOW_PHASE", Source: "MANAGED", Autonomy: "SUGGEST"})
		_, _, err := op.Run(d.ctx, d.Engine, agent.Publish, op.ByID{ID: made.ID}, nil)
		require.Equal(t, apperr.Conflict, code(err), "the history works no phases")
		_, _, err = op.Run(d.ctx, d.Engine, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: made.ID}, Autonomy: op.SetTo("AUTONOMOUS")}, nil)
		require.Equal(t, "autonomy", refusedFields(err), "nothing evaluates it")
	})
}

// A model that is responsible for a phase gets the task and its form as data and can only complete the task. The completion must
// fit the form and waits for a person like any other action.
func TestModelsWorkPhases(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m := script(t, func(n int, _ sent) (int, any) {
			because := `"rationale":"It says so.","confidence":0.9`
			switch n {
			case 1:
				return http.StatusOK, told(calls{
					{"updateRequest", `{"priority":"URGENT",` + because + `}`},
					{"completeTask", `{"outcome":"approved","variables":{"serial":"X1"},` + because + `}`},
				})
			case 2:
				return http.StatusOK, told(calls{{"users", `{}`}, {"completeTask", `{"variables":{"serial":"` + d.B.Owner.ID + `"},` + because + `}`}})
			case 3: // a third error in a row would end the run
				return http.StatusOK, told(calls{{"teams", `{}`}, {"completeTask", `{"variables":{},` + because + `}`}})
			case 4:
				return http.StatusOK, told(calls{{"completeTask", `{"variables":{"serial":"X1"},` + because + `}`}})
			}
			return http.StatusOK, told(nil)
		})
		door := d.asks(m)
		a := d.hireThinking("WORKFLOW_PHASE", "ACT_WITH_APPROVAL", func(in *agent.UpdateInput) { in.Limits = op.SetTo(settings.Limits{Steps: 20}) })
		d.process(door.Work(nil), body{"role": "responsible", "type": "agent", "id": a.ID})
		id := d.file(d.ctx, "my vpn tunnel")
		run := d.run(id, agentrun.StatusWAITING)
		require.Equal(t, agentrun.TriggerAssigned, run.Trigger)
		require.Len(t, m.asked, 5)
		require.Equal(t, []string{"handOver", "requests", "request", "teams", "users", "completeTask"}, m.asked[0].tools())
		require.Contains(t, m.raw[0], `\"serial\"`, "the form is data")
		require.Contains(t, m.raw[0], "Look it up with")
		require.NotContains(t, m.raw[0], pasted, "nor does a tool's description tell it")
		require.NotContains(t, m.asked[0].Messages[0].Content, "Note the serial", "no part of the orders")
		refused := m.asked[1].Messages
		require.Contains(t, refused[len(refused)-2].Content, "no such tool")
		require.Contains(t, refused[len(refused)-1].Content, "outcome")
		stranger := m.asked[2].Messages
		require.Contains(t, stranger[len(stranger)-1].Content, "an id that stands in the data", "no id that it was not given")
		unfit := m.asked[3].Messages
		require.Contains(t, unfit[len(unfit)-1].Content, "variables.serial")

		require.Equal(t, task.StatusOPEN, d.task(id).Status)
		action := d.action(run)
		require.Equal(t, []any{"completeTask", "It says so."}, []any{action.Operation, action.Rationale})
		testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: action.ID}, Digest: action.Digest, Decision: "APPROVE"})
		require.Equal(t, a.ID, *d.task(id).CompletedBy)
		d.run(id, agentrun.StatusCOMPLETED)

		same := testkit.Run(t, d.World, d.ctx, evaluation.Replay, evaluation.ReplayInput{ByID: op.ByID{ID: run.ID}})
		require.True(t, *same.Same)
		require.Len(t, same.Actions, 1)
	})
}

// A model that hands its task over or calls unknown tools leaves the task to the responsible person. One that proposes keeps it.
func TestTasksThatModelsLeave(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		answers := []any{
			told(calls{{"handOver", `{"reason":"no serial there"}`}}), told(calls{{"a", `{}`}, {"b", `{}`}, {"c", `{}`}}),
			told(calls{{"completeTask", `{"variables":{"serial":"X1"},"rationale":"It says so.","confidence":0.9}`}}), told(nil),
		}
		m := script(t, func(n int, _ sent) (int, any) { return http.StatusOK, answers[n-1] })
		door := d.asks(m)
		a := d.hireThinking("WORKFLOW_PHASE", "SUGGEST")
		d.process(door.Work(nil), body{"role": "responsible", "type": "agent", "id": a.ID})
		for _, as := range []agentrun.Status{agentrun.StatusHANDED_OVER, agentrun.StatusHANDED_OVER, agentrun.StatusPROPOSED} {
			id := d.file(d.ctx, "my vpn tunnel")
			d.run(id, as)
			if as == agentrun.StatusPROPOSED {
				require.Equal(t, a.ID, *d.task(id).AgentID)
				continue
			}
			require.Eventually(t, func() bool {
				row := d.task(id)
				return row.AssigneeID != nil && *row.AssigneeID == d.A.Owner.ID && row.Status == task.StatusOPEN
			}, patience, tick)
		}
	})
}

// A consulted model gives its opinion as a comment of the agent, and has no other tool that writes.
func TestModelsAreConsulted(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m := script(t, func(n int, _ sent) (int, any) {
			if n == 1 {
				return http.StatusOK, told(calls{{"createComment", `{"body":"Look below the battery.","rationale":"There it is.","confidence":1}`}})
			}
			return http.StatusOK, told(nil)
		})
		door := d.asks(m)
		a := d.hireThinking("WORKFLOW_PHASE", "SUGGEST", func(in *agent.UpdateInput) { in.Tools = op.SetTo([]settings.Tool{}) })
		d.process(door.Work(nil), body{"role": "responsible", "type": "user", "id": d.A.Owner.ID}, body{"role": "consulted", "type": "agent", "id": a.ID})
		id := d.file(d.ctx, "my vpn tunnel")
		d.run(id, agentrun.StatusCOMPLETED)
		require.Equal(t, []string{"handOver", "requests", "request", "teams", "users", "createComment"}, m.asked[0].tools())
		said := testkit.Run(t, d.World, d.staff(), request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: id}}).Rows
		require.Len(t, said, 1)
		require.Equal(t, []any{"Look below the battery.", a.ID, comment.VisibilityInternal}, []any{said[0].Body, said[0].AuthorID, said[0].Visibility})
		require.Equal(t, d.A.Owner.ID, *d.task(id).AssigneeID, "who is responsible has it all the time")
	})
}

// A phase agent is tried on the newest task of a request.
func TestModelsOfPhasesAreTried(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m := script(t, func(n int, _ sent) (int, any) {
			if n == 1 {
				return http.StatusOK, told(calls{{"completeTask", `{"variables":{"serial":"X1"},"rationale":"It says so.","confidence":0.9}`}})
			}
			return http.StatusOK, told(nil)
		})
		door := d.asks(m)
		a := d.hireThinking("WORKFLOW_PHASE", "SUGGEST")
		lone := d.file(d.ctx, "my vpn tunnel")
		_, _, err := op.Run(d.ctx, d.Engine, evaluation.Test, evaluation.TestInput{ByID: op.ByID{ID: a.ID}, RequestID: lone}, nil)
		require.Equal(t, "requestId", refusedFields(err), "it has no task")
		d.process(door.Work(nil), body{"role": "responsible", "type": "user", "id": d.A.Owner.ID})
		id := d.file(d.ctx, "my vpn tunnel")
		require.Eventually(t, func() bool { return d.Store.Reader().Task.Query().CountX(d.ctx) == 1 }, patience, tick)
		tried := testkit.Run(t, d.World, d.ctx, evaluation.Test, evaluation.TestInput{ByID: op.ByID{ID: a.ID}, RequestID: id})
		require.Equal(t, "PROPOSED", tried.Status)
		require.Equal(t, "completeTask", tried.Actions[0].Operation)
		require.Equal(t, task.StatusOPEN, d.task(id).Status)
	})
}

// An agent works on a task as often as somebody gives it to the agent.
func TestTasksThatAreGivenAgain(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.phases("ACT_WITH_APPROVAL")
		id, first := r.claimed(d.ctx)
		testkit.Run(t, d.World, r.must(first.ID), custom.HandOver, custom.HandOverInput{ByID: op.ByID{ID: first.ID}, Reason: "no"})
		require.Eventually(t, func() bool { return d.task(id).AssigneeID != nil }, patience, tick)
		testkit.Run(t, d.World, d.ctx, execution.AssignTask, execution.AssignTaskInput{ByID: op.ByID{ID: *first.TaskID}, AgentID: &r.agent.ID})
		again := d.run(id, agentrun.StatusQUEUED)
		require.NotEqual(t, first.ID, again.ID)
		testkit.Run(t, d.World, r.must(""), custom.Claim, op.ByID{ID: again.ID})
		testkit.Run(t, d.World, r.must(again.ID), custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: again.ID}, Variables: strictjson.Object{"serial": "X1"}})
		a := d.action(d.run(id, agentrun.StatusWAITING))
		testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"})
		require.Equal(t, r.agent.ID, *d.task(id).CompletedBy)
	})
}

package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"atrium/ent/agentrun"
	"atrium/ent/comment"
	"atrium/ent/task"
	"atrium/internal/agent"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/workflow/execution"
)

// consulted creates a process in which the owner works on a task and a CUSTOM agent is consulted.
func (d *desk) consulted() *robot {
	d.t.Helper()
	r := d.robot("SUGGEST", onPhases, func(in *agent.CreateInput) { in.ConsultMinutes = new(1) })
	d.process(agent.NewDoor(d.Engine, worker.Models{}).Work(nil),
		body{"role": "responsible", "type": "user", "id": d.A.Owner.ID}, body{"role": "consulted", "type": "agent", "id": r.agent.ID})
	return r
}

// A consulted agent can read the task and gives its opinion once. It cannot write anything else, and the task does not wait for
// it.
func TestConsultedAgentsGiveAnOpinion(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.consulted()
		id, run := r.claimed(d.ctx)
		require.Equal(t, agentrun.TriggerConsulted, run.Trigger)
		require.Equal(t, d.task(id).ID, *run.TaskID)
		ctx := r.must(run.ID)
		require.Equal(t, "Note the serial", testkit.Run(t, d.World, ctx, execution.GetTask, op.ByID{ID: *run.TaskID}).Title)
		_, err := r.writes(ctx, id, d.network)
		require.Equal(t, apperr.Forbidden, code(err), "it is asked, and works nothing")
		complete := custom.CompleteInput{ByID: op.ByID{ID: run.ID}}
		_, _, err = op.Run(ctx, d.Engine, custom.Complete, complete, nil)
		require.Equal(t, apperr.Conflict, code(err), "it has said nothing yet")
		testkit.Run(t, d.World, ctx, custom.AddStep, custom.StepInput{ByID: op.ByID{ID: run.ID}, Kind: "decide", Operation: "createComment", Result: "Look below the battery."})
		require.Equal(t, agentrun.StatusCOMPLETED, testkit.Run(t, d.World, ctx, custom.Complete, complete).Status)
		said := testkit.Run(t, d.World, d.staff(), request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: id}}).Rows
		require.Len(t, said, 1)
		require.Equal(t, []any{"Look below the battery.", r.agent.ID, comment.VisibilityInternal}, []any{said[0].Body, said[0].AuthorID, said[0].Visibility})
		require.Equal(t, task.StatusOPEN, d.task(id).Status)
		require.Equal(t, d.A.Owner.ID, *d.task(id).AssigneeID, "who is responsible has it all the time")

		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, d.ctx, execution.CompleteTask, execution.CompleteTaskInput{ByID: op.ByID{ID: *run.TaskID}, Variables: strictjson.Object{"serial": "X1"}})
		d.run(id, agentrun.StatusSTOPPED) // the task ended before the agent had answered
		_, run = r.claimed(d.ctx)
		d.Later(t, 2*time.Minute)
		require.Contains(t, d.run(run.RequestID, agentrun.StatusHANDED_OVER).Reason, "in time")
	})
}

// An informed agent gets a signed message that the phase was left.
func TestInformedAgentsAreTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		got := receiver.New(t, receiver.Status(204, ""))
		out := receiver.Client(t, 2*time.Second)
		d.Engine.Egress = out
		r := d.robot("SUGGEST", onPhases, func(in *agent.CreateInput) { in.EndpointURL = new(got.URL) })
		d.process(agent.NewDoor(d.Engine, worker.Models{}).Work(out),
			body{"role": "responsible", "type": "user", "id": d.A.Owner.ID}, body{"role": "informed", "type": "agent", "id": r.agent.ID})
		id := d.file(d.ctx, "my vpn tunnel")
		require.Eventually(t, func() bool { return d.Store.Reader().Task.Query().CountX(d.ctx) == 1 }, patience, tick)
		testkit.Run(t, d.World, d.ctx, execution.CompleteTask, execution.CompleteTaskInput{ByID: op.ByID{ID: d.task(id).ID}, Variables: strictjson.Object{"serial": "X1"}})
		call := got.Await(t, 1)[0]
		verifier, err := standardwebhooks.NewWebhook(r.secret)
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(call.Body, call.Header))
		var told struct {
			Event string
			Data  struct{ RequestID, PhaseID string }
		}
		require.NoError(t, json.Unmarshal(call.Body, &told))
		require.Equal(t, []string{"agent.informed", id, "work"}, []string{told.Event, told.Data.RequestID, told.Data.PhaseID})
	})
}

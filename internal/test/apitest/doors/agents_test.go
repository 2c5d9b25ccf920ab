package doors

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/agentrun"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// robot makes an agent that the company runs itself, and returns it as a caller.
func (d *side) robot() (agentID string, as apitest.Caller) {
	made := by(d, agent.Create, agent.CreateInput{Name: "Robot " + d.tag, Type: "QUEUE_INTAKE", Source: "CUSTOM", Autonomy: "ACT_WITH_APPROVAL"})
	by(d, agent.Publish, op.ByID{ID: made.ID})
	key := by(d, agent.CreateKey, agent.CreateKeyInput{AgentID: made.ID, Name: "K"})
	return made.ID, apitest.Caller{Name: "robot", KeyID: key.ID, Header: http.Header{"X-Api-Key": {key.Value}}}
}

// run makes a run of an agent on a request.
func (d *side) run(agentID, requestID string) (runID string) {
	d.t.Helper()
	ctx := d.s.World.As(d.s.World.A, principal.Owner)
	require.NoError(d.t, d.s.World.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		run, err := tx.AgentRun.Create().SetAgentID(agentID).SetAgentVersion(1).SetRequestID(requestID).SetNumber(1).SetTrigger(agentrun.TriggerCreated).
			SetStatus(agentrun.StatusRUNNING).SetLeaseUntil(time.Now().Add(time.Minute)).Save(ctx)
		if err == nil {
			runID = run.ID
		}
		return err
	}))
	return runID
}

// A write with an agent's key in a run is not done. Both APIs answer with the action that waits for a person: REST by 202,
// GraphQL by an error with the code accepted. Without a run both refuse it.
func TestWritesOfAgentsWaitAtBothDoors(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		update := `mutation($input: UpdateRequestInput!) { updateRequest(input: $input) { request { id } } }`
		for _, asked := range []struct {
			door string
			call func(requestID string) apitest.Scenario
			code string
			at   string // the path of the action in the answer
		}{
			{"REST", func(id string) apitest.Scenario {
				return apitest.Scenario{Method: http.MethodPatch, Path: "/v1/requests/" + id, Body: vars{"priority": "HIGH"}}
			}, "error", "action"},
			{"GraphQL", func(id string) apitest.Scenario {
				return apitest.Scenario{Method: http.MethodPost, Path: "/graphql", Body: vars{"query": update, "variables": vars{"input": vars{"id": id, "priority": "HIGH"}}}}
			}, "errors.0.extensions.code", "errors.0.extensions.action"},
		} {
			d := newSide(t, s)
			id := d.request()
			agentID, as := d.robot()
			sc := asked.call(id)
			sc.As = as
			require.Equal(t, "forbidden", s.Send(t, sc).Text(asked.code), asked.door)

			sc.Header = http.Header{"Agent-Run": {d.run(agentID, id)}}
			a := s.Send(t, sc)
			if asked.door == "REST" {
				require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
			} else {
				require.Equal(t, "accepted", a.Text(asked.code), "%s", a.Body)
			}
			require.Equal(t, []any{"updateRequest", "PENDING", id, "ACTION"}, []any{
				a.Text(asked.at + ".operation"), a.Text(asked.at + ".status"), a.Text(asked.at + ".requestId"), a.Text(asked.at + ".kind"),
			}, asked.door)
			require.Equal(t, vars{"priority": "HIGH"}, a.Get(asked.at+".arguments"))

			r, err := s.World.Store.Reader().Request.Get(s.World.As(s.World.A, principal.Owner), id)
			require.NoError(t, err)
			require.NotEqual(t, "HIGH", string(r.Priority), "nothing was done")
			decide := actions.DecideInput{Digest: a.Text(asked.at + ".digest"), Decision: "APPROVE"}
			decide.ID = a.Text(asked.at + ".id")
			testkit.Run(t, s.World, s.World.As(s.World.A, principal.Agent), actions.DecideAction, decide)
			r, err = s.World.Store.Reader().Request.Get(s.World.As(s.World.A, principal.Owner), id)
			require.NoError(t, err)
			require.Equal(t, "HIGH", string(r.Priority))
		}
	})
}

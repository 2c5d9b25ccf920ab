package agent_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent"
	"atrium/internal/apperr"
	"atrium/internal/egress"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/request"
	"atrium/internal/testkit"
	"atrium/internal/testkit/receiver"
)

// retitle changes a request with an API key, after which runs plan again.
func (d *desk) retitle(requestID, title string) {
	d.t.Helper()
	p, _ := principal.From(d.ctx)
	key := *p
	key.Method, key.KeyID = principal.MethodAPIKey, "key_1"
	testkit.Run(d.t, d.World, principal.With(d.ctx, &key), request.Update, request.UpdateInput{ByID: op.ByID{ID: requestID}, Title: op.SetTo(title)})
}

// A CUSTOM agent whose request changes while it works plans again, twice at most. Each plan is pushed with an id of its own, and may
// decide what the one before did.
func TestCustomAgentsPlanAgain(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		got := receiver.New(t, receiver.Status(204, ""))
		out, err := egress.New(egress.Options{Allow: receiver.Loopback, CAFile: receiver.CAFile(t), Timeout: 2 * time.Second})
		require.NoError(t, err)
		t.Cleanup(out.Close)
		d.Engine.Egress = out.Guard()
		r := d.robot("ACT_WITH_APPROVAL", func(in *agent.CreateInput) { in.EndpointURL = new(got.URL) })
		q, err := jobs.New(d.Store, slog.New(slog.DiscardHandler), true, agent.NewDoor(d.Engine, agent.Models{}).Work(out))
		require.NoError(t, err)
		d.runs(q)
		id := d.file(d.ctx, "my vpn tunnel")
		for plan := 1; plan <= 3; plan++ {
			pushed := got.Await(t, plan)[plan-1]
			run := d.run(id, agentrun.StatusQUEUED)
			require.Equal(t, run.ID+"-"+string(rune('0'+plan)), pushed.Header.Get("webhook-id"))
			testkit.Run(t, d.World, r.must(""), agent.Claim, op.ByID{ID: run.ID})
			require.Equal(t, plan, d.run(id, agentrun.StatusRUNNING).Plans)
			action, err := r.writes(r.must(run.ID), id, d.network)
			require.NoError(t, err, "in another plan it is not the same a second time")
			if plan == 2 { // the request may also change once the agent has finished
				testkit.Run(t, d.World, r.must(run.ID), agent.Complete, agent.CompleteInput{ByID: op.ByID{ID: run.ID}})
			}
			d.retitle(id, "my vpn tunnel "+strings.Repeat("!", plan))
			require.Equal(t, agentaction.StatusSTALE, testkit.Run(t, d.World, d.staff(), agent.GetAction, op.ByID{ID: action}).Status)
			_, err = r.in(run.ID)
			require.Equal(t, apperr.Conflict, code(err), "the agent claims the run again")
		}
		require.Equal(t, "The request changed each time that the agent had planned.", d.run(id, agentrun.StatusHANDED_OVER).Reason)
		require.Nil(t, d.request(id).TeamID)
	})
}

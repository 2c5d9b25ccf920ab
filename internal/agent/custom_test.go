package agent_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
)

// robot is a CUSTOM agent, which calls with its key.
type robot struct {
	*desk
	agent  *ent.Agent
	secret string
	door   *agent.Door
	key    *principal.Principal
}

// robot creates and publishes a CUSTOM agent.
func (d *desk) robot(autonomy string, change ...func(*agent.CreateInput)) *robot {
	d.t.Helper()
	in := agent.CreateInput{Name: "Robot", Type: "QUEUE_INTAKE", Source: "CUSTOM", Autonomy: autonomy}
	for _, c := range change {
		c(&in)
	}
	made := testkit.Run(d.t, d.World, d.ctx, agent.Create, in)
	tools := []settings.Tool{{Name: "updateRequest", Mode: "auto"}, {Name: "acceptRequest", Mode: "auto"}, {Name: "createComment", Mode: "approve"}}
	testkit.Run(d.t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: made.ID}, Tools: op.SetTo(tools)})
	a := testkit.Run(d.t, d.World, d.ctx, agent.Publish, op.ByID{ID: made.ID})
	key := testkit.Run(d.t, d.World, d.ctx, agent.CreateKey, agent.CreateKeyInput{AgentID: a.ID, Name: "K"})
	require.Equal(d.t, a.ID, *key.Key.AgentID)
	door := agent.NewDoor(d.Engine, worker.Models{})
	d.Engine.Agents = door
	return &robot{desk: d, agent: a, secret: string(made.SigningSecret), door: door, key: &principal.Principal{
		CompanyID: a.CompanyID, Type: principal.TypeAgent, ID: a.ID, Name: a.Name, Scopes: principal.AllScopes, Method: principal.MethodAPIKey, KeyID: key.ID,
	}}
}

// in returns the context of the agent in a run, as the gate creates it.
func (r *robot) in(runID string) (context.Context, error) {
	p, err := r.door.As(context.Background(), r.key, runID)
	if err != nil {
		return nil, err
	}
	return principal.With(context.Background(), p), nil
}

func (r *robot) must(runID string) context.Context {
	r.t.Helper()
	ctx, err := r.in(runID)
	require.NoError(r.t, err)
	return ctx
}

// claimed files a request and claims its run as the agent.
func (r *robot) claimed(by context.Context) (requestID string, run *ent.AgentRun) {
	r.t.Helper()
	requestID = r.file(by, "my vpn tunnel")
	run = r.run(requestID, agentrun.StatusQUEUED)
	return requestID, testkit.Run(r.t, r.World, r.must(""), custom.Claim, op.ByID{ID: run.ID})
}

// writes requests a change of a request as the agent, and returns the id of the action that it becomes.
func (r *robot) writes(ctx context.Context, requestID, team string) (string, error) {
	r.t.Helper()
	_, answer, err := op.Run(ctx, r.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: requestID}, TeamID: op.SetTo(team)}, nil)
	if err != nil {
		return "", err
	}
	require.Equal(r.t, http.StatusAccepted, answer.Status)
	var body struct {
		Action struct{ ID, Kind, Status string }
	}
	require.NoError(r.t, json.Unmarshal(answer.Body, &body))
	require.Equal(r.t, "PENDING", body.Action.Status)
	return body.Action.ID, nil
}

// A CUSTOM agent claims its run and reads with its requester's rights. Its writes wait until a person approves them.
func TestCustomAgentsWaitForPeople(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.robot("ACT_WITH_APPROVAL")
		d.work()
		member := d.As(d.A, principal.Member)
		id, run := r.claimed(member)
		require.Equal(t, agentrun.StatusRUNNING, run.Status)
		require.NotNil(t, run.LeaseUntil)
		_, _, err := op.Run(r.must(""), d.Engine, custom.Claim, op.ByID{ID: run.ID}, nil)
		require.Equal(t, apperr.Conflict, code(err), "once")

		ctx := r.must(run.ID)
		require.Equal(t, id, testkit.Run(t, d.World, ctx, request.Get, op.ByID{ID: id}).ID)
		others := d.file(d.ctx, "somebody else's")
		_, _, err = op.Run(ctx, d.Engine, request.Get, op.ByID{ID: others}, nil)
		require.Equal(t, apperr.Forbidden, code(err), "its requester may not read it")
		require.Equal(t, 1, testkit.Run(t, d.World, ctx, request.List, request.ListInput{}).Total)
		_, _, err = op.Run(r.must(""), d.Engine, request.Get, op.ByID{ID: id}, nil)
		require.Equal(t, apperr.Forbidden, code(err), "without a run nobody says whose eyes it has")

		testkit.Run(t, d.World, ctx, custom.AddStep, custom.StepInput{
			ByID: op.ByID{ID: run.ID}, Kind: "decide", Operation: "updateRequest", Result: "A tunnel is the network's.", Arguments: map[string]any{"confidence": 0.9},
		})
		before := d.request(id)
		action, err := r.writes(ctx, id, d.network)
		require.NoError(t, err)
		require.Equal(t, before.UpdatedAt, d.request(id).UpdatedAt, "nothing is done")
		a := testkit.Run(t, d.World, d.staff(), actions.Get, op.ByID{ID: action})
		require.Equal(t, agentaction.KindACTION, a.Kind)
		require.Equal(t, "A tunnel is the network's.", a.Rationale)
		require.InDelta(t, 0.9, a.Confidence, 1e-9)
		_, err = r.writes(ctx, others, d.network)
		require.Equal(t, apperr.Forbidden, code(err), "a run changes its own request")
		_, _, err = op.Run(ctx, d.Engine, request.Decline, request.DeclineInput{ByID: op.ByID{ID: id}, Reason: "no"}, nil)
		require.Equal(t, apperr.Forbidden, code(err), "no tool of its")

		waits := testkit.Run(t, d.World, ctx, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
		require.Equal(t, agentrun.StatusWAITING, waits.Status)
		testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"})
		require.Equal(t, d.network, *d.request(id).TeamID)
		d.run(id, agentrun.StatusCOMPLETED)
		late, err := r.in(run.ID)
		require.NoError(t, err, "it may still list its runs, and repeat what it has sent")
		_, _, err = op.Run(late, d.Engine, request.Get, op.ByID{ID: id}, nil)
		require.Equal(t, apperr.Conflict, code(err), "the run has ended")
		_, err = r.writes(late, id, d.network)
		require.Equal(t, apperr.Conflict, code(err))
		require.NotEmpty(t, testkit.Run(t, d.World, late, runs.List, runs.ListRunsInput{}).Rows)
	})
}

// A program may send the header Agent-Run with every call of a run: with the claim, and with a repeated end.
func TestEveryCallOfARunNamesIt(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.robot("SUGGEST")
		d.work()
		id := d.file(d.ctx, "my vpn tunnel")
		run := d.run(id, agentrun.StatusQUEUED)
		_, _, err := op.Run(r.must(run.ID), d.Engine, request.Get, op.ByID{ID: id}, nil)
		require.Equal(t, apperr.Conflict, code(err), "nobody has claimed it")
		testkit.Run(t, d.World, r.must(run.ID), custom.Claim, op.ByID{ID: run.ID})
		testkit.Run(t, d.World, r.must(run.ID), request.Get, op.ByID{ID: id})
		over := func() (*ent.AgentRun, *op.Answer, error) {
			call := &op.Call{IdempotencyKey: "over", Render: func(v any) (op.Answer, error) {
				return op.Answer{Status: http.StatusOK, Header: map[string]string{}, Body: []byte("{}")}, nil
			}}
			return op.Run(r.must(run.ID), d.Engine, custom.HandOver, custom.HandOverInput{ByID: op.ByID{ID: run.ID}, Reason: "no"}, call)
		}
		_, _, err = over()
		require.NoError(t, err)
		_, again, err := over()
		require.NoError(t, err)
		require.True(t, again.Repeated)
	})
}

// When the person who answers for an agent leaves, its runs go to people at once, and so do those that begin afterwards.
func TestOwnerLeaves(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		admin := d.A.Users[principal.Admin]
		r := d.robot("ACT_WITH_APPROVAL", func(in *agent.CreateInput) { in.OwnerID = &admin.ID })
		d.work()
		id, run := r.claimed(d.ctx)
		action, err := r.writes(r.must(run.ID), id, d.network)
		require.NoError(t, err)
		testkit.Run(t, d.World, r.must(run.ID), custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
		queued := d.file(d.ctx, "another vpn tunnel")
		d.run(queued, agentrun.StatusQUEUED)

		testkit.Run(t, d.World, d.ctx, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: admin.ID}})
		for _, id := range []string{id, queued, d.file(d.ctx, "a third vpn tunnel")} {
			require.Equal(t, runs.NobodyAnswers, d.run(id, agentrun.StatusHANDED_OVER).Reason)
		}
		require.Equal(t, agentaction.StatusSTALE, testkit.Run(t, d.World, d.ctx, actions.Get, op.ByID{ID: action}).Status)
	})
}

// An agent of the role member finds its runs, and does with their requests what its role may do with requests of its own.
func TestAgentsOfTheRoleMember(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.robot("SUGGEST", func(in *agent.CreateInput) { in.Role = new("member") })
		d.work()
		id, run := r.claimed(d.ctx)
		ctx := r.must(run.ID)
		require.Len(t, testkit.Run(t, d.World, ctx, runs.List, runs.ListRunsInput{}).Rows, 1)
		_, answer, err := op.Run(ctx, d.Engine, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: id}, Body: "Which tunnel?"}, &op.Call{})
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, answer.Status)
		_, err = r.writes(ctx, id, d.network)
		require.Equal(t, apperr.Forbidden, code(err), "members route no requests")
		require.Empty(t, d.run(id, agentrun.StatusRUNNING).Reason)
	})
}

// What an agent asks for is checked when it asks: whether its ids are rows of the company, and whether anything would change. An update
// that accepts waits as acceptRequest.
func TestWhatCustomAgentsAskFor(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.robot("ACT_WITH_APPROVAL")
		d.work()
		id, run := r.claimed(d.ctx)
		ctx := r.must(run.ID)
		asks := func(in request.UpdateInput) error {
			in.ID = id
			_, _, err := op.Run(ctx, d.Engine, request.Update, in, nil)
			return err
		}
		require.Equal(t, "teamId", refusedFields(asks(request.UpdateInput{TeamID: op.SetTo("team_01m8dbqnnke518yr6he3mevq7q")})))
		require.Equal(t, "assigneeId", refusedFields(asks(request.UpdateInput{AssigneeID: op.SetTo(d.B.Owner.ID)})), "another company's")
		require.Equal(t, apperr.Conflict, code(asks(request.UpdateInput{})))
		require.Equal(t, apperr.Conflict, code(asks(request.UpdateInput{Priority: op.SetTo("MEDIUM")})), "it is so already")
		for _, confidence := range []any{7, -1, "0.5"} {
			_, _, err := op.Run(ctx, d.Engine, custom.AddStep, custom.StepInput{
				ByID: op.ByID{ID: run.ID}, Kind: "decide", Operation: "updateRequest", Result: "R", Arguments: strictjson.Object{"confidence": confidence},
			}, nil)
			require.Equal(t, "arguments.confidence", refusedFields(err))
		}
		require.NoError(t, asks(request.UpdateInput{Status: op.SetTo("IN_PROGRESS")}))
		a := d.action(run)
		require.Equal(t, []any{"acceptRequest", "{}"}, []any{a.Operation, string(a.Arguments)})
		testkit.Run(t, d.World, ctx, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
		testkit.Run(t, d.World, d.staff(), actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"})
		require.EqualValues(t, "IN_PROGRESS", d.request(id).Status)
	})
}

func TestCustomAgentsSuggest(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.robot("SUGGEST")
		d.work()
		id, run := r.claimed(d.ctx)
		ctx := r.must(run.ID)
		action, err := r.writes(ctx, id, d.network)
		require.NoError(t, err)
		_, err = r.writes(ctx, id, d.network)
		require.Equal(t, apperr.Conflict, code(err), "the same twice ends the run")
		require.Equal(t, agentrun.StatusHANDED_OVER, d.run(id, agentrun.StatusHANDED_OVER).Status)
		require.Equal(t, agentaction.StatusSTALE, testkit.Run(t, d.World, d.ctx, actions.Get, op.ByID{ID: action}).Status)

		id, run = r.claimed(d.ctx)
		ctx = r.must(run.ID)
		action, err = r.writes(ctx, id, d.network)
		require.NoError(t, err)
		testkit.Run(t, d.World, ctx, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
		d.run(id, agentrun.StatusPROPOSED)
		testkit.Run(t, d.World, d.staff(), actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: action}})
		require.Equal(t, d.network, *d.request(id).TeamID)

		// A run that completes without any write is handed over, and so is one whose agent hands it over.
		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, r.must(run.ID), custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}})
		d.run(id, agentrun.StatusHANDED_OVER)
		id, run = r.claimed(d.ctx)
		testkit.Run(t, d.World, r.must(run.ID), custom.HandOver, custom.HandOverInput{ByID: op.ByID{ID: run.ID}, Reason: "I cannot tell."})
		require.Equal(t, "I cannot tell.", d.run(id, agentrun.StatusHANDED_OVER).Reason)
	})
}

// An id of another agent or company is refused in the same way as an unknown one.
func TestWhoseRunItIs(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.robot("SUGGEST")
		d.work()
		_, run := r.claimed(d.ctx)
		other := d.robot("SUGGEST", func(in *agent.CreateInput) { in.Filter = new("false") })
		foreign := *r.key
		foreign.CompanyID = d.B.Company.ID
		for name, who := range map[string]*robot{"another agent": other, "another company": {desk: d, door: r.door, key: &foreign}} {
			_, err := who.in(run.ID)
			require.Contains(t, []apperr.Code{apperr.Forbidden, apperr.Unauthorized}, code(err), name)
			p := *who.key
			p.Role = principal.Agent
			_, _, err = op.Run(principal.With(context.Background(), &p), d.Engine, runs.Get, op.ByID{ID: run.ID}, nil)
			require.Equal(t, apperr.NotFound, code(err), name)
			_, _, err = op.Run(principal.With(context.Background(), &p), d.Engine, custom.Complete, custom.CompleteInput{ByID: op.ByID{ID: run.ID}}, nil)
			require.Equal(t, apperr.NotFound, code(err), name)
			require.Zero(t, testkit.Run(t, d.World, principal.With(context.Background(), &p), runs.List, runs.ListRunsInput{}).Total, name)
		}
		_, err := r.in("run_nothing")
		require.Equal(t, apperr.Forbidden, code(err))
		_, _, err = op.Run(d.ctx, d.Engine, custom.Claim, op.ByID{ID: run.ID}, nil)
		require.Equal(t, apperr.Forbidden, code(err), "a person has no runs")

		// A write without a run is refused, and so is one that a policy denies to agents.
		_, err = r.writes(r.must(""), run.RequestID, d.network)
		require.Equal(t, apperr.Forbidden, code(err))
		deny := policy.NewCondition([]byte(`{"principal.type": "agent"}`))
		testkit.Run(t, d.World, d.ctx, policy.Create, policy.CreateInput{Name: "P", Effect: "Deny", Action: "update", Resource: "Request", Condition: &deny})
		_, err = r.writes(r.must(run.ID), run.RequestID, d.network)
		require.Equal(t, apperr.Forbidden, code(err))

		testkit.Run(t, d.World, d.ctx, agent.Pause, op.ByID{ID: r.agent.ID})
		note := func() error {
			_, _, err := op.Run(r.must(run.ID), d.Engine, custom.AddStep, custom.StepInput{ByID: op.ByID{ID: run.ID}, Kind: "decide", Operation: "updateRequest", Result: "x"}, nil)
			return err
		}
		require.Equal(t, apperr.Conflict, code(note()), "paused")
		testkit.Run(t, d.World, d.ctx, runs.StopAll, runs.StopAllInput{Reason: "enough"})
		require.Equal(t, apperr.Conflict, code(note()), "stopped")
	})
}

// A run is pushed with a signature, and handed over if its agent makes no call.
func TestPushesAndLeases(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		got := receiver.New(t, receiver.Status(204, ""))
		out := receiver.Client(t, 2*time.Second)
		d.Engine.Egress = out
		r := d.robot("SUGGEST", func(in *agent.CreateInput) { in.EndpointURL = new(got.URL) })
		d.WorkJobs(t, agent.NewDoor(d.Engine, worker.Models{}).Work(out))

		id := d.file(d.ctx, "my vpn tunnel")
		call := got.Await(t, 1)[0]
		verifier, err := standardwebhooks.NewWebhook(r.secret)
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(call.Body, call.Header))
		run := d.run(id, agentrun.StatusQUEUED)
		var said struct {
			Event string
			Data  struct{ ID, RequestID string }
		}
		require.NoError(t, json.Unmarshal(call.Body, &said))
		require.Equal(t, "agent.run", said.Event)
		require.Equal(t, run.ID, said.Data.ID)
		require.Equal(t, id, said.Data.RequestID)
		d.Later(t, 10*time.Second)
		require.Contains(t, d.run(id, agentrun.StatusHANDED_OVER).Reason, "UNRESPONSIVE")

		rotated := testkit.Run(t, d.World, d.ctx, agent.RotateSecret, agent.RotateSecretInput{ByID: op.ByID{ID: r.agent.ID}})
		id = d.file(d.ctx, "my vpn tunnel")
		call = got.Await(t, 2)[1]
		claimed := testkit.Run(t, d.World, r.must(""), custom.Claim, op.ByID{ID: d.run(id, agentrun.StatusQUEUED).ID})
		verifier, err = standardwebhooks.NewWebhook(string(rotated.SigningSecret))
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(call.Body, call.Header))
		require.Equal(t, agentrun.StatusRUNNING, claimed.Status)
		require.Equal(t, agentrun.StatusRUNNING, d.run(id, agentrun.StatusRUNNING).Status)
	})
}

func TestWhatNoCustomAgentMayBe(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for field, in := range map[string]agent.CreateInput{
			"endpointUrl":    {Source: "CUSTOM", EndpointURL: new("http://127.0.0.1/x")},
			"consultMinutes": {Source: "CUSTOM", ConsultMinutes: new(0)},
		} {
			in.Name, in.Type, in.Autonomy = "A", "QUEUE_INTAKE", "SUGGEST"
			_, _, err := op.Run(d.ctx, d.Engine, agent.Create, in, nil)
			require.Equal(t, field, refusedFields(err))
		}
		managed := d.hire("SUGGEST")
		_, _, err := op.Run(d.ctx, d.Engine, agent.CreateKey, agent.CreateKeyInput{AgentID: managed.ID, Name: "K"}, nil)
		require.Equal(t, "agentId", refusedFields(err))
		_, _, err = op.Run(d.As(d.B, principal.Owner), d.Engine, agent.CreateKey, agent.CreateKeyInput{AgentID: managed.ID, Name: "K"}, nil)
		require.Equal(t, "agentId", refusedFields(err))
		_, _, err = op.Run(d.ctx, d.Engine, agent.RotateSecret, agent.RotateSecretInput{ByID: op.ByID{ID: managed.ID}}, nil)
		require.Equal(t, apperr.Conflict, code(err))
	})
}

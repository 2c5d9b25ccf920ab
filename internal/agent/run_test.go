package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/agentturn"
	"atrium/ent/auditentry"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/strictjson"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

const (
	patience = 30 * time.Second
	tick     = 5 * time.Millisecond
)

// desk is a world in which company A has teams with finished requests.
type desk struct {
	*testkit.World
	t                 testing.TB
	ctx               context.Context // of the owner
	service, offering string
	network, hardware string // teams
}

func each(t *testing.T, fn func(t *testing.T, d *desk)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, open(t, w)) })
}

func open(t testing.TB, w *testkit.World) *desk {
	t.Helper()
	w.Engine.Events = append(w.Engine.Events, runs.Follow(w.Store, w.Queue))
	w.Engine.Agents = agent.NewDoor(w.Engine, worker.Models{})
	return fill(&desk{World: w, t: t, ctx: w.As(w.A, principal.Owner)})
}

// fill creates the services, teams and requests of a desk.
func fill(d *desk) *desk {
	t, w := d.t, d.World
	t.Helper()
	d.service = testkit.Run(t, w, d.ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"}).ID
	d.offering = testkit.Run(t, w, d.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: d.service}, Name: "Help"}).ID
	d.network = testkit.Run(t, w, d.ctx, people.CreateTeam, people.CreateTeamInput{Name: "Network"}).ID
	d.hardware = testkit.Run(t, w, d.ctx, people.CreateTeam, people.CreateTeamInput{Name: "Hardware"}).ID
	for i := range 6 {
		d.finished(d.ctx, fmt.Sprintf("vpn tunnel drops at home %d", i), d.network)
		d.finished(d.ctx, fmt.Sprintf("laptop screen broken %d", i), d.hardware)
	}
	return d
}

// finished files a request, assigns it to a team and completes it.
func (d *desk) finished(ctx context.Context, title, team string) string {
	d.t.Helper()
	r := d.file(ctx, title)
	testkit.Run(d.t, d.World, d.ctx, request.Update, request.UpdateInput{ByID: op.ByID{ID: r}, TeamID: op.SetTo(team), Status: op.SetTo("IN_PROGRESS")})
	testkit.Run(d.t, d.World, d.ctx, request.Update, request.UpdateInput{ByID: op.ByID{ID: r}, Status: op.SetTo("COMPLETED")})
	return r
}

func (d *desk) file(ctx context.Context, title string) string {
	d.t.Helper()
	return testkit.Run(d.t, d.World, ctx, request.Create, request.CreateInput{ServiceID: d.service, OfferingID: d.offering, Title: title}).ID
}

// hire creates and publishes an agent.
func (d *desk) hire(autonomy string, change ...func(*agent.CreateInput)) *ent.Agent {
	d.t.Helper()
	in := agent.CreateInput{Name: "Intake", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: autonomy}
	for _, c := range change {
		c(&in)
	}
	made := testkit.Run(d.t, d.World, d.ctx, agent.Create, in)
	return testkit.Run(d.t, d.World, d.ctx, agent.Publish, op.ByID{ID: made.ID})
}

// work works the agents' jobs until stop is called or the test ends.
func (d *desk) work() (stop func()) {
	d.t.Helper()
	return d.WorkJobs(d.t, agent.NewDoor(d.Engine, worker.Models{}).Work(nil))
}

// run waits until the last run of a request has the status.
func (d *desk) run(requestID string, status agentrun.Status) *ent.AgentRun {
	d.t.Helper()
	var last *ent.AgentRun
	reached := assert.Eventually(d.t, func() bool {
		list, err := d.Store.Reader().AgentRun.Query().Where(agentrun.RequestID(requestID)).Order(agentrun.ByNumber()).All(d.ctx)
		require.NoError(d.t, err)
		if len(list) > 0 {
			last = list[len(list)-1]
		}
		return last != nil && last.Status == status
	}, patience, tick)
	require.True(d.t, reached, "%v, not %s", last, status)
	return last
}

func (d *desk) action(run *ent.AgentRun) *ent.AgentAction {
	d.t.Helper()
	a, err := d.Store.Reader().AgentAction.Query().Where(agentaction.RunID(run.ID)).Order(agentaction.ByCreatedAt()).All(d.ctx)
	require.NoError(d.t, err)
	require.NotEmpty(d.t, a)
	return a[len(a)-1]
}

func (d *desk) request(id string) *ent.Request {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.ctx, request.Get, op.ByID{ID: id})
}

// runJobs returns n jobs for a run, as if it had been inserted or taken over n times.
func runJobs(run *ent.AgentRun, n int) []jobs.Job {
	out := make([]jobs.Job, n)
	for i := range out {
		out[i] = jobs.Job{Args: runs.RunArgs{Company: run.CompanyID, Run: run.ID}}
	}
	return out
}

func code(err error) apperr.Code { return apperr.CodeOf(err) }

// staff returns a person who works on requests but files none in these tests.
func (d *desk) staff() context.Context { return d.As(d.A, principal.Agent) }

func TestSuggest(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		hired := d.hire("SUGGEST")
		id := d.file(d.ctx, "my vpn tunnel")
		before := d.request(id)
		events, err := d.Store.Reader().Event.Query().Count(d.ctx)
		require.NoError(t, err)
		d.work()
		run := d.run(id, agentrun.StatusPROPOSED)
		require.Equal(t, hired.ID, run.AgentID)
		require.Equal(t, before.UpdatedAt, d.request(id).UpdatedAt, "a proposal changes nothing")
		after, err := d.Store.Reader().Event.Query().Count(d.ctx)
		require.NoError(t, err)
		require.Equal(t, events, after, "and nobody is told")

		a := d.action(run)
		require.Equal(t, agentaction.KindPROPOSAL, a.Kind)
		changes, err := actions.ChangesOf(a)
		require.NoError(t, err)
		require.Len(t, changes, 1)
		require.Equal(t, "teamId", changes[0].Field)
		require.Equal(t, d.network, changes[0].To)
		require.Len(t, changes[0].Rows, 3)
		require.Equal(t, "because "+changes[0].Rows[0]+", "+changes[0].Rows[1]+", "+changes[0].Rows[2], a.Rationale)
		steps, err := runs.StepsOf(run)
		require.NoError(t, err)
		require.Len(t, steps, 2)

		_, _, err = op.Run(d.As(d.A, principal.Member), d.Engine, actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: a.ID}}, nil)
		require.Equal(t, apperr.Forbidden, code(err))
		_, _, err = op.Run(d.As(d.B, principal.Owner), d.Engine, actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: a.ID}}, nil)
		require.Equal(t, apperr.NotFound, code(err))
		applied := testkit.Run(t, d.World, d.staff(), actions.ApplyProposal, actions.ApplyInput{
			ByID: op.ByID{ID: a.ID}, Edits: strictjson.Object{"teamId": d.hardware},
		})
		require.Equal(t, agentaction.StatusAPPLIED, applied.Status)
		require.Equal(t, d.hardware, *d.request(id).TeamID, "as it was edited")
		entry, err := d.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id), auditentry.Action("request.updated")).Only(d.ctx)
		require.NoError(t, err)
		require.Equal(t, d.A.Users[principal.Agent].ID, entry.ActorID, "as the person who applied it")
		require.Contains(t, string(entry.Changes), a.ID)
		_, _, err = op.Run(d.staff(), d.Engine, actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: a.ID}}, nil)
		require.Equal(t, apperr.Conflict, code(err), "once")
	})
}

// A request that reads like those of another offering is proposed to move there, and to nothing else. A person moves it.
func TestProposesAnOffering(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		badge := testkit.Run(t, d.World, d.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: d.service}, Name: "Badge"}).ID
		for i := range 6 {
			right := *d
			right.offering = badge
			right.finished(d.ctx, fmt.Sprintf("badge opens no door %d", i), d.network)
		}
		hired := d.hire("SUGGEST")
		d.work()
		id := d.file(d.ctx, "my badge opens no door")
		a := d.action(d.run(id, agentrun.StatusPROPOSED))
		require.Equal(t, "moveRequest", a.Operation)
		require.JSONEq(t, `{"offeringId":"`+badge+`"}`, string(a.Arguments))
		testkit.Run(t, d.World, d.staff(), actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: a.ID}})
		require.Equal(t, badge, d.request(id).OfferingID)

		right := *d
		right.offering = badge
		stays := d.run(right.file(d.ctx, "my badge opens no door"), agentrun.StatusPROPOSED)
		require.Equal(t, "updateRequest", d.action(stays).Operation, "it is filed right")

		routed := d.run(d.file(d.ctx, "no answer"), agentrun.StatusPROPOSED)
		require.Equal(t, "updateRequest", d.action(routed).Operation, "one word is no resemblance")

		d.free(hired)
		id = d.file(d.ctx, "my badge opens no door")
		require.Equal(t, "moveRequest", d.action(d.run(id, agentrun.StatusWAITING)).Operation, "at any level it waits for a person")

		testkit.Run(t, d.World, d.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: badge}, Form: op.SetTo(form.Definition{
			Fields: []form.Field{{Key: "site", Label: "Site", Type: "text", Required: true}},
		})})
		id = d.file(d.ctx, "my badge opens no door")
		d.run(id, agentrun.StatusCOMPLETED)
		require.Equal(t, d.offering, d.request(id).OfferingID, "the answers do not fit that form")
	})
}

func TestProposalsGoStale(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.hire("SUGGEST")
		d.work()
		id := d.file(d.ctx, "my vpn tunnel")
		a := d.action(d.run(id, agentrun.StatusPROPOSED))
		testkit.Run(t, d.World, d.ctx, request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Priority: op.SetTo("LOW")})
		require.Equal(t, agentaction.StatusSTALE, testkit.Run(t, d.World, d.ctx, actions.Get, op.ByID{ID: a.ID}).Status)
		_, _, err := op.Run(d.staff(), d.Engine, actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: a.ID}}, nil)
		require.Equal(t, apperr.Conflict, code(err))

		testkit.Run(t, d.World, d.staff(), runs.Rerun, runs.RerunInput{RequestID: id})
		run := d.run(id, agentrun.StatusPROPOSED)
		require.Equal(t, 2, run.Number)
		rejected := testkit.Run(t, d.World, d.staff(), actions.RejectProposal, actions.RejectInput{ByID: op.ByID{ID: d.action(run).ID}, Reason: "no"})
		require.Equal(t, agentaction.StatusREJECTED, rejected.Status)
		require.Nil(t, d.request(id).TeamID)
	})
}

func TestApprovals(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		hired := d.hire("ACT_WITH_APPROVAL")
		d.work()
		id := d.file(d.ctx, "my vpn tunnel")
		run := d.run(id, agentrun.StatusWAITING)
		a := d.action(run)
		decide := func(ctx context.Context, digest, decision string) error {
			_, _, err := op.Run(ctx, d.Engine, actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: digest, Decision: decision}, nil)
			return err
		}
		require.Equal(t, apperr.Conflict, code(decide(d.staff(), "another", "APPROVE")))
		require.Equal(t, apperr.Forbidden, code(decide(d.ctx, a.Digest, "APPROVE")), "the requester does not decide")
		require.Equal(t, apperr.Forbidden, code(decide(d.As(d.A, principal.Member), a.Digest, "APPROVE")))
		require.Nil(t, d.request(id).TeamID)

		testkit.Run(t, d.World, d.ctx, agent.Pause, op.ByID{ID: hired.ID})
		require.Equal(t, apperr.Conflict, code(decide(d.staff(), a.Digest, "APPROVE")), "paused")
		testkit.Run(t, d.World, d.ctx, agent.Resume, op.ByID{ID: hired.ID})

		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() { errs[i] = decide(d.staff(), a.Digest, "APPROVE") })
		}
		wg.Wait()
		require.Len(t, slices.DeleteFunc(errs, func(err error) bool { return err != nil }), 1, "an approval is used up once")
		require.Equal(t, d.network, *d.request(id).TeamID)
		d.run(id, agentrun.StatusCOMPLETED)
		entry, err := d.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id), auditentry.Action("request.updated")).Only(d.ctx)
		require.NoError(t, err)
		require.Equal(t, "agent", entry.ActorType)
		require.Equal(t, hired.ID, entry.ActorID)
		var by struct {
			Agent struct{ To map[string]any } `json:"agent"`
		}
		require.NoError(t, json.Unmarshal(entry.Changes, &by))
		require.Equal(t, map[string]any{"runId": run.ID, "stepN": 2.0, "approvedBy": d.A.Users[principal.Agent].ID, "actionId": a.ID}, by.Agent.To)
	})
}

func TestWhatInterruptsARun(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.hire("ACT_WITH_APPROVAL")
		d.work()
		wait := func() (string, *ent.AgentRun, *ent.AgentAction) {
			id := d.file(d.ctx, "my vpn tunnel")
			run := d.run(id, agentrun.StatusWAITING)
			return id, run, d.action(run)
		}
		// A person's change stops the run and is not overwritten.
		id, _, a := wait()
		testkit.Run(t, d.World, d.staff(), request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, TeamID: op.SetTo(d.hardware)})
		d.run(id, agentrun.StatusSTOPPED)
		_, _, err := op.Run(d.staff(), d.Engine, actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "APPROVE"}, nil)
		require.Equal(t, apperr.Conflict, code(err))
		require.Equal(t, d.hardware, *d.request(id).TeamID)

		// A change by an API key makes the run plan again.
		id, run, a := wait()
		p, _ := principal.From(d.ctx)
		key := *p
		key.Method, key.KeyID = principal.MethodAPIKey, "key_1"
		testkit.Run(t, d.World, principal.With(d.ctx, &key), request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Title: op.SetTo("broken laptop screen")})
		require.Eventually(t, func() bool {
			r := d.run(id, agentrun.StatusWAITING)
			return r.ID == run.ID && r.Plans == 2
		}, patience, tick)
		again := d.action(run)
		require.NotEqual(t, a.ID, again.ID)
		require.Contains(t, string(again.Arguments), d.hardware)

		// A stopped run stays stopped.
		testkit.Run(t, d.World, d.staff(), runs.Stop, op.ByID{ID: run.ID})
		_, _, err = op.Run(d.staff(), d.Engine, actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: again.ID}, Digest: again.Digest, Decision: "APPROVE"}, nil)
		require.Equal(t, apperr.Conflict, code(err))
		_, _, err = op.Run(d.staff(), d.Engine, runs.Stop, op.ByID{ID: run.ID}, nil)
		require.Equal(t, apperr.Conflict, code(err))

		// StopAll stops everything.
		id, _, _ = wait()
		stopped := testkit.Run(t, d.World, d.ctx, runs.StopAll, runs.StopAllInput{Reason: "enough"})
		require.Equal(t, &runs.Stopped{Runs: 1, Agents: 1}, stopped)
		require.Equal(t, "All agents were stopped: enough", d.run(id, agentrun.StatusSTOPPED).Reason)
		id = d.file(d.ctx, "my vpn tunnel")
		n, err := d.Store.Reader().AgentRun.Query().Where(agentrun.RequestID(id)).Count(d.ctx)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func TestNothingToPropose(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.hire("SUGGEST")
		d.work()
		other := d.As(d.A, principal.Member)
		require.NotEmpty(t, d.run(d.file(other, "quarterly zebra"), agentrun.StatusHANDED_OVER).Reason)
	})
}

// The requester's rights limit what the agent learns from and names.
func TestTheRequestersEyes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.hire("SUGGEST")
		d.work()
		member := d.As(d.A, principal.Member)
		id := d.file(member, "my vpn tunnel")
		require.NotEmpty(t, d.run(id, agentrun.StatusHANDED_OVER).Reason, "a member reads its own requests alone")

		own := []string{d.finished(member, "vpn tunnel one", d.network), d.finished(member, "vpn tunnel two", d.network)}
		a := d.action(d.run(d.file(member, "my vpn tunnel"), agentrun.StatusPROPOSED))
		require.ElementsMatch(t, own, a.Rows)

		// A policy that applies only to agents hides rows from them for every requester.
		var hidden policy.Condition
		require.NoError(t, json.Unmarshal([]byte(`{"principal.type": "agent", "resource.status": "COMPLETED"}`), &hidden))
		testkit.Run(t, d.World, d.ctx, policy.Create, policy.CreateInput{Name: "P", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hidden})
		require.NotEmpty(t, d.run(d.file(d.ctx, "my vpn tunnel"), agentrun.StatusHANDED_OVER).Reason)
	})
}

func TestFiltersAndShadows(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		first := d.hire("SUGGEST", func(in *agent.CreateInput) { in.Filter = new("request.title.startsWith('my vpn')") })
		second := d.hire("ACT_WITH_APPROVAL")
		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: second.ID}, Shadow: op.SetTo(true)})
		testkit.Run(t, d.World, d.ctx, agent.Publish, op.ByID{ID: second.ID})
		d.work()
		require.Equal(t, first.ID, d.run(d.file(d.ctx, "my vpn tunnel"), agentrun.StatusPROPOSED).AgentID, "the older agent takes it")
		run := d.run(d.file(d.ctx, "another vpn tunnel"), agentrun.StatusPROPOSED)
		require.Equal(t, second.ID, run.AgentID)
		_, _, err := op.Run(d.staff(), d.Engine, runs.Get, op.ByID{ID: run.ID}, nil)
		require.Equal(t, apperr.NotFound, code(err), "a shadow is the admins'")
		_, _, err = op.Run(d.ctx, d.Engine, actions.ApplyProposal, actions.ApplyInput{ByID: op.ByID{ID: d.action(run).ID}}, nil)
		require.Equal(t, apperr.Conflict, code(err))
	})
}

// Filters read service levels as the API shows them, null where there are none, and an answer that was not given as null.
func TestFiltersOfServiceLevels(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		testkit.Run(t, d.World, d.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: d.offering}, SLA: op.SetTo(catalog.SLA{ResolutionMinutes: new(60)})})
		plain := testkit.Run(t, d.World, d.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: d.service}, Name: "Plain"}).ID
		filtered := func(source string) string {
			return d.hire("SUGGEST", func(in *agent.CreateInput) { in.Filter = &source }).ID
		}
		filtered(`request.sla.state == "BREACHED" || has(request.fields.amount) || request.fields.amount > 5 || "x" in request.fields.amount`)
		timed := filtered(`request.sla != null && request.sla.state == "ON_TRACK" && request.sla.responseDueAt == null && request.sla.resolutionDueAt > request.createdAt`)
		untimed := filtered(`request.sla == null && request.fields.amount == null`)
		d.work()
		require.Equal(t, timed, d.run(d.file(d.ctx, "my vpn tunnel"), agentrun.StatusPROPOSED).AgentID)
		for _, fields := range []map[string]any{nil, {"amount": nil}} {
			in := request.CreateInput{ServiceID: d.service, OfferingID: plain, Title: "my vpn tunnel", Fields: fields}
			require.Equal(t, untimed, d.run(testkit.Run(t, d.World, d.ctx, request.Create, in).ID, agentrun.StatusPROPOSED).AgentID)
		}
	})
}

// If a worker is killed between any two transactions, another one takes over, and the run writes once.
func TestWorkersThatDie(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.hire("SUGGEST")
		id := d.file(d.ctx, "my vpn tunnel")
		stop := d.work()
		run := d.run(id, agentrun.StatusPROPOSED)
		stop()
		// Restore the state after a crash that followed the run's first transaction, with the job still in the queue.
		require.NoError(t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.AgentAction.Delete().Where(agentaction.RunID(run.ID)).Exec(ctx); err != nil {
				return err
			}
			if _, err := tx.AgentTurn.Delete().Where(agentturn.RunID(run.ID)).Exec(ctx); err != nil {
				return err
			}
			if err := tx.AgentRun.UpdateOneID(run.ID).SetStatus(agentrun.StatusRUNNING).ClearEndedAt().Exec(ctx); err != nil {
				return err
			}
			return d.Queue.InsertManyTx(ctx, tx, runJobs(run, 3)...)
		}))
		d.work()
		d.run(id, agentrun.StatusPROPOSED)
		n, err := d.Store.Reader().AgentAction.Query().Where(agentaction.RunID(run.ID)).Count(d.ctx)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

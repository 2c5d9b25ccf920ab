package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/auditentry"
	entrequest "atrium/ent/request"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/runs"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

const batch = 50 // rows per insert

// standing creates n requests, each with a run of the agent in the state that change sets.
func (d *desk) standing(a *ent.Agent, n int, change func(*ent.AgentRunCreate) *ent.AgentRunCreate) []*ent.AgentRun {
	d.t.Helper()
	var runs []*ent.AgentRun
	require.NoError(d.t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
		requests := make([]*ent.RequestCreate, n)
		for i := range requests {
			requests[i] = tx.Request.Create().SetServiceID(d.service).SetOfferingID(d.offering).SetTitle("my vpn tunnel").SetCreatedBy(d.A.Owner.ID)
		}
		made, err := tx.Request.CreateBulk(requests...).Save(ctx)
		if err != nil {
			return err
		}
		rows := make([]*ent.AgentRunCreate, n)
		for i, r := range made {
			rows[i] = change(tx.AgentRun.Create().SetAgentID(a.ID).SetAgentVersion(a.Version).SetRequestID(r.ID).SetNumber(1).SetTrigger(agentrun.TriggerCreated))
		}
		runs, err = tx.AgentRun.CreateBulk(rows...).Save(ctx)
		return err
	}))
	return runs
}

func waiting(c *ent.AgentRunCreate) *ent.AgentRunCreate {
	return c.SetStatus(agentrun.StatusWAITING).SetPlans(1)
}

// planned is an action of a run. By default it assigns the request to the network team.
type planned struct {
	operation, arguments, request, version string
	digest                                 string // of the other fields; a tampered action may have another one
}

func (d *desk) plan(run *ent.AgentRun) planned {
	d.t.Helper()
	version, err := runs.RequestVersion(d.row(run.RequestID))
	require.NoError(d.t, err)
	p := planned{operation: "updateRequest", arguments: fmt.Sprintf(`{"teamId":%q}`, d.network), request: run.RequestID, version: version}
	p.digest = p.is()
	return p
}

func (p planned) is() string {
	return runs.DigestOf(p.operation, p.request, json.RawMessage(p.arguments), p.version)
}

// keep inserts the actions of runs.
func (d *desk) keep(runs []*ent.AgentRun, plans []planned) []*ent.AgentAction {
	d.t.Helper()
	var out []*ent.AgentAction
	require.NoError(d.t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		rows := make([]*ent.AgentActionCreate, len(plans))
		for i, p := range plans {
			rows[i] = tx.AgentAction.Create().SetRunID(runs[i].ID).SetRequestID(p.request).SetStep(2).SetKind(agentaction.KindACTION).SetOperation(p.operation).
				SetArguments(json.RawMessage(p.arguments)).SetChanges(json.RawMessage("[]")).SetRationale("because").SetConfidence(0.9).SetRows([]string{}).
				SetDigest(p.digest).SetRowVersion(p.version)
		}
		out, err = tx.AgentAction.CreateBulk(rows...).Save(ctx)
		return err
	}))
	return out
}

// row reads a request directly from the database.
func (d *desk) row(id string) *ent.Request { return must(d.Store.Reader().Request.Get(d.ctx, id))(d.t) }

func (d *desk) approve(id, digest string) error {
	_, _, err := op.Run(d.staff(), d.Engine, actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: id}, Digest: digest, Decision: "APPROVE"}, nil)
	return err
}

// trace returns everything that a run may have changed, as JSON.
func (d *desk) trace(run *ent.AgentRun) string {
	d.t.Helper()
	db := d.Store.Reader()
	entries := must(db.AuditEntry.Query().Where(auditentry.ResourceID(run.RequestID), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).Count(d.ctx))(d.t)
	raw, err := json.Marshal([]any{d.row(run.RequestID), must(db.AgentRun.Get(d.ctx, run.ID))(d.t), entries,
		must(db.AgentAction.Query().Where(agentaction.RunID(run.ID)).Order(agentaction.ByID()).All(d.ctx))(d.t)})
	require.NoError(d.t, err)
	return string(raw)
}

// stop stops a run and returns its trace after the stop has answered; empty if the run had ended before.
func (d *desk) stop(run *ent.AgentRun) (trace string) {
	d.t.Helper()
	_, _, err := op.Run(d.As(d.A, principal.Admin), d.Engine, runs.Stop, op.ByID{ID: run.ID}, nil)
	if err != nil {
		require.Equal(d.t, apperr.Conflict, code(err), "%v", err)
		return ""
	}
	return d.trace(run)
}

// Nothing is done after stopAgentRun has answered, whether it meets a decision, a call of an agent or an AUTONOMOUS run.
func TestStopAgainstWrites(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		rounds := testkit.Rounds(t, 4*batch)
		robot := d.robot("ACT_WITH_APPROVAL", func(in *agent.CreateInput) { in.Sees = new("agent") })
		hired := d.hire("ACT_WITH_APPROVAL")
		alone := testkit.Run(t, d.World, d.ctx, agent.Create, agent.CreateInput{Name: "Alone", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "SUGGEST"}).Agent
		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: alone.ID}, RunsPerDay: op.SetTo(100_000)})
		alone = testkit.Run(t, d.World, d.ctx, agent.Publish, op.ByID{ID: alone.ID})
		testkit.Run(t, d.World, d.ctx, company.Update, company.UpdateInput{AgentRunsPerDay: op.SetTo(1_000_000)})
		d.free(alone)
		d.work()
		stops := 0
		race := func(run *ent.AgentRun, write func() error) (stopped bool, wrote error) {
			var at string
			var wg sync.WaitGroup
			wg.Go(func() { at = d.stop(run) })
			wg.Go(func() { wrote = write() })
			wg.Wait()
			if at != "" {
				stops++
				require.Equal(t, at, d.trace(run), "after the stop had answered")
			}
			return at != "", wrote
		}
		for done := 0; done < rounds; done += 4 * batch {
			runs := d.standing(hired, 2*batch, waiting)
			plans := make([]planned, len(runs))
			for i, run := range runs {
				plans[i] = d.plan(run)
			}
			for i, a := range d.keep(runs, plans) {
				stopped, err := race(runs[i], func() error { return d.approve(a.ID, a.Digest) })
				require.NotEqual(t, stopped, err == nil, "one of both: %v", err)
				require.Equal(t, stopped, d.row(runs[i].RequestID).TeamID == nil)
			}
			for i, run := range d.standing(robot.agent, batch, func(c *ent.AgentRunCreate) *ent.AgentRunCreate {
				return c.SetStatus(agentrun.StatusRUNNING).SetPlans(1).SetLeaseUntil(d.Clock.Now().Add(time.Hour))
			}) {
				ctx := robot.must(run.ID)
				stopped, err := race(run, func() (err error) {
					if i%2 == 0 {
						_, err = robot.writes(ctx, run.RequestID, d.network)
						return err
					}
					_, _, err = op.Run(ctx, d.Engine, custom.AddStep, custom.StepInput{ByID: op.ByID{ID: run.ID}, Kind: "decide", Operation: "updateRequest", Result: "R"}, nil)
					return err
				})
				require.True(t, stopped)
				if err != nil {
					require.Equal(t, apperr.Conflict, code(err), "%v", err)
				}
			}
			stops += d.stopAtWork(alone)
		}
		t.Logf("%d races, %d of them won by the stop, no commit after its answer", rounds, stops)
	})
}

// stopAtWork stops AUTONOMOUS runs while workers take them, and returns how many it stopped in time.
func (d *desk) stopAtWork(a *ent.Agent) int {
	d.t.Helper()
	runs := d.standing(a, batch, func(c *ent.AgentRunCreate) *ent.AgentRunCreate { return c })
	ids, traces := make([]string, len(runs)), make([]string, len(runs))
	require.NoError(d.t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
		for i, run := range runs {
			ids[i] = run.ID
			if err := d.Queue.InsertManyTx(ctx, tx, runJobs(run, 1)...); err != nil {
				return err
			}
		}
		return nil
	}))
	for i, run := range runs {
		traces[i] = d.stop(run)
	}
	require.Eventually(d.t, func() bool {
		n, err := d.Store.Reader().AgentRun.Query().Where(agentrun.IDIn(ids...), agentrun.EndedAtNotNil()).Count(d.ctx)
		require.NoError(d.t, err)
		return n == len(runs)
	}, patience, tick)
	stopped := 0
	for i, run := range runs {
		if traces[i] != "" {
			stopped++
			require.Equal(d.t, traces[i], d.trace(run), "after the stop had answered")
		}
		require.Equal(d.t, traces[i] != "", d.row(run.RequestID).TeamID == nil, "it was stopped, or it has acted")
	}
	return stopped
}

// An approved action is performed exactly as the person saw it or not at all: with no other arguments, operation or row, and not
// after the request has changed.
func TestNothingButWhatWasApproved(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		rounds, seed := testkit.Rounds(t, 2*batch), rand.Uint64()
		t.Log("seed", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		hired := d.hire("ACT_WITH_APPROVAL")
		other := d.standing(hired, 1, waiting)[0].RequestID // with the same content
		approved := 0
		for done := 0; done < rounds; done += 2 * batch {
			run := d.standing(hired, 1, waiting)[0]
			right := d.plan(run)
			plans, runs := make([]planned, 2*batch), make([]*ent.AgentRun, 2*batch)
			for i := range plans {
				plans[i], runs[i] = right, run
				if i < batch {
					plans[i] = d.tamper(random, right, other)
				}
			}
			said := func() string {
				return string(must(json.Marshal([]*ent.Request{d.row(run.RequestID), d.row(other)}))(t))
			}
			is := said()
			for i, a := range d.keep(runs, plans) {
				if i >= batch {
					d.change(random, run.RequestID, right.version)
					is = said()
				}
				err := d.approve(a.ID, right.digest) // the digest that the person saw
				require.Contains(t, []apperr.Code{apperr.Conflict, apperr.Forbidden}, code(err), "%+v: %v", plans[i], err)
				require.Equal(t, is, said(), "%+v", plans[i])
			}
			last := d.standing(hired, 1, waiting)[0] // an action without tampering is performed
			a := d.keep([]*ent.AgentRun{last}, []planned{d.plan(last)})[0]
			require.NoError(t, d.approve(a.ID, a.Digest))
			require.Equal(t, d.network, *d.row(last.RequestID).TeamID)
			approved++
		}
		n := must(d.Store.Reader().AgentAction.Query().Where(agentaction.StatusEQ(agentaction.StatusAPPLIED)).Count(d.ctx))(t)
		require.Equal(t, approved, n)
		did := must(d.Store.Reader().AuditEntry.Query().Where(auditentry.ActorType("agent"), auditentry.Action("request.updated")).Count(d.ctx))(t)
		require.Equal(t, approved, did)
		t.Logf("%d of %d approvals of something else were used", n-approved, rounds)
	})
}

// tamper returns an action that differs from the approved one.
func (d *desk) tamper(random *rand.Rand, p planned, other string) planned {
	d.t.Helper()
	was := p
	arguments := map[string]any{"teamId": d.network}
	switch random.IntN(6) {
	case 0:
		arguments["teamId"] = d.hardware
	case 1:
		arguments["priority"] = []string{"LOW", "HIGH", "URGENT"}[random.IntN(3)]
	case 2:
		arguments["tags"] = map[string]string{fmt.Sprint("k", random.IntN(1000)): "v"}
	case 3:
		delete(arguments, "teamId")
		arguments["title"] = fmt.Sprint("title ", random.Uint64())
	case 4:
		arguments["assigneeId"] = d.A.Users[principal.Agent].ID
	default: // the arguments stay
	}
	p.arguments = string(must(json.Marshal(arguments))(d.t))
	switch random.IntN(5) {
	case 0:
		p.operation = []string{"acceptRequest", "declineRequest", "createComment", "deleteUser"}[random.IntN(4)]
	case 1:
		p.request = other
	case 2:
		p.version = fmt.Sprintf("%064x", random.Uint64())
	default:
	}
	if p == was {
		p.arguments = fmt.Sprintf(`{"teamId":%q}`, d.hardware)
	}
	if random.IntN(2) == 0 {
		p.digest = p.is() // the attacker has also computed the digest
	}
	return p
}

// change changes a request until its version differs from version.
func (d *desk) change(random *rand.Rand, id, version string) {
	d.t.Helper()
	for is := version; is == version; {
		require.NoError(d.t, d.Store.Write(d.ctx, func(ctx context.Context, tx *store.Tx) error {
			u := tx.Request.UpdateOneID(id)
			switch random.IntN(7) {
			case 0:
				u.SetTitle(fmt.Sprint("title ", random.Uint64()))
			case 1:
				u.SetDescription(fmt.Sprint("text ", random.Uint64()))
			case 2:
				u.SetTags(map[string]string{"k": fmt.Sprint(random.Uint64())})
			case 3:
				u.SetAssigneeID(d.A.Users[principal.Agent].ID)
			case 4:
				u.SetTeamID(d.hardware)
			case 5:
				u.SetSnoozedUntil(d.Clock.Now().Add(time.Duration(random.IntN(1000)) * time.Hour))
			default:
				u.SetStatus([]entrequest.Status{entrequest.StatusIN_PROGRESS, entrequest.StatusCANCELLED}[random.IntN(2)])
			}
			r, err := u.Save(ctx)
			if err != nil {
				return err
			}
			is, err = runs.RequestVersion(r)
			return err
		}))
	}
}

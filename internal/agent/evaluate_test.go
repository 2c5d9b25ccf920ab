package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentevaluation"
	"atrium/ent/agentrun"
	"atrium/ent/auditentry"
	"atrium/internal/agent"
	"atrium/internal/agent/attack"
	"atrium/internal/agent/evaluation"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/test/testkit"
)

// evaluated starts an evaluation and waits until it has ended.
func (d *desk) evaluated(agentID string, cases *evaluation.Cases) (*ent.AgentEvaluation, evaluation.Report) {
	d.t.Helper()
	begun := testkit.Run(d.t, d.World, d.ctx, evaluation.Evaluate, evaluation.EvaluateInput{ByID: op.ByID{ID: agentID}, Cases: cases})
	var e *ent.AgentEvaluation
	require.Eventually(d.t, func() bool { // it tries several hundred attacks: a minute where other tests load the machine
		var err error
		e, err = d.Store.Reader().AgentEvaluation.Get(d.ctx, begun.ID)
		require.NoError(d.t, err)
		return e.Status != agentevaluation.StatusRUNNING
	}, 10*patience, 10*tick)
	var r evaluation.Report
	require.NoError(d.t, json.Unmarshal(e.Report, &r), e.Reason)
	return e, r
}

// An AUTONOMOUS agent can be published only after exactly its draft has passed, and then acts alone.
func TestEvaluationLetsAnAgentActAlone(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for i := range 30 {
			d.finished(d.ctx, fmt.Sprintf("vpn tunnel closes in room %d", i), d.network)
			d.finished(d.ctx, fmt.Sprintf("laptop screen flickers in room %d", i), d.hardware)
		}
		a := testkit.Run(t, d.World, d.ctx, agent.Create, agent.CreateInput{Name: "Alone", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "AUTONOMOUS"})
		_, _, err := op.Run(d.ctx, d.Engine, agent.Publish, op.ByID{ID: a.ID}, nil)
		require.Equal(t, apperr.Conflict, code(err))
		rows := d.rows()
		d.work()
		e, r := d.evaluated(a.ID, nil)
		require.Equal(t, agentevaluation.StatusPASSED, e.Status, "%s %+v", e.Reason, r)
		require.Equal(t, 72, r.Cases)
		require.InDelta(t, 1, r.Fields["teamId"].Agreement, 0.05)
		require.Equal(t, len(attack.Suite()), r.Attacks, "every attack could be tried")
		require.Zero(t, r.AttackSuccess)
		require.Equal(t, rows, d.rows(), "what an evaluation tries is rolled back")

		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: a.ID}, Instructions: op.SetTo("Otherwise.")})
		_, _, err = op.Run(d.ctx, d.Engine, agent.Publish, op.ByID{ID: a.ID}, nil)
		require.Equal(t, apperr.Conflict, code(err), "another draft was not evaluated")
		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: a.ID}, Instructions: op.SetTo("")})
		testkit.Run(t, d.World, d.ctx, agent.Publish, op.ByID{ID: a.ID})
		id := d.file(d.ctx, "my vpn tunnel closes")
		d.run(id, agentrun.StatusCOMPLETED)
		require.Equal(t, d.network, *d.request(id).TeamID)
	})
}

// rows counts the rows that an evaluation must not change.
func (d *desk) rows() [4]int {
	d.t.Helper()
	var n [4]int
	db := d.Store.Reader()
	for i, count := range []func() (int, error){
		func() (int, error) { return db.Request.Query().Count(d.ctx) }, func() (int, error) { return db.Event.Query().Count(d.ctx) },
		func() (int, error) { return db.AgentRun.Query().Count(d.ctx) }, func() (int, error) { return db.Comment.Query().Count(d.ctx) },
	} {
		var err error
		n[i], err = count()
		require.NoError(d.t, err)
	}
	return n
}

// What policies hide from the agent is no case: its model is not told of it.
func TestEvaluationTellsWhatMayBeRead(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.finished(d.ctx, "Top secret", d.network)
		d.finished(d.ctx, "my vpn", d.network)
		m := script(t, says())
		a := d.hireModel(m, "SUGGEST")
		d.policy("Deny", "read", "Request", `{"principal.type": "agent", "resource.title": "Top secret"}`)
		_, r := d.evaluated(a.ID, nil)
		require.Positive(t, r.Cases)
		m.mu.Lock()
		defer m.mu.Unlock()
		require.NotEmpty(t, m.raw)
		require.NotContains(t, strings.Join(m.raw, ""), "Top secret")
	})
}

// A model that does what requests say fails, because of the rows that it leaves.
func TestEvaluationFindsAnObedientModel(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		order := regexp.MustCompile(`Post a public comment that says ([\w-]+)`)
		m := script(t, func(_ int, s sent) (int, any) {
			if found := order.FindStringSubmatch(s.Messages[1].Content); found != nil && s.Messages[len(s.Messages)-1].Role != "tool" {
				return http.StatusOK, told(calls{{"createComment", `{"body":"` + found[1] + `","rationale":"I was told to.","confidence":1}`}})
			}
			return http.StatusOK, told(nil)
		})
		a := d.hireModel(m, "SUGGEST")
		e, r := d.evaluated(a.ID, nil)
		require.Equal(t, agentevaluation.StatusFAILED, e.Status)
		require.Equal(t, "It did what it must not.", e.Reason)
		require.Positive(t, r.AttackSuccess)
		require.Less(t, r.AttackSuccess, 0.2)
		var results []evaluation.Outcome
		require.NoError(t, json.Unmarshal(e.Results, &results))
		for _, o := range results {
			if o.Breach != "" {
				require.True(t, strings.HasPrefix(o.Name, "comment/"), o.Name)
			}
		}
		for _, raw := range m.raw {
			require.NotContains(t, raw, "whsec_")
		}
	})
}

// Given cases are judged by the final rows. The error for an invalid case names its field.
func TestEvaluationOfGivenCases(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		a := d.hire("SUGGEST")
		give := func(text string) *evaluation.Cases {
			var c evaluation.Cases
			require.NoError(t, json.Unmarshal([]byte(text), &c))
			return &c
		}
		for text, field := range map[string]string{
			`{}`:                          "cases",
			`[{"request":{}}]`:            "cases[0].request.title",
			`[{"request":{"title":"x"}}]`: "cases[0]",
			`[{"request":{"title":"x"},"mustNotCall":["deleteUser"]}]`:                 "cases[0]",
			`[{"request":{"title":"x"},"finalState":{"createdBy":"usr_x"}}]`:           "cases[0].finalState.createdBy",
			`[{"request":{"title":"x","company":"co_x"},"mayCall":["updateRequest"]}]`: "cases",
		} {
			_, _, err := op.Run(d.ctx, d.Engine, evaluation.Evaluate, evaluation.EvaluateInput{ByID: op.ByID{ID: a.ID}, Cases: give(text)}, nil)
			require.Equal(t, apperr.Validation, code(err), text)
			require.Equal(t, field, apperr.From(err).Details[0].Field, text)
		}
		d.work()
		e, r := d.evaluated(a.ID, give(`[
			{"name":"right","request":{"title":"my vpn tunnel drops"},"mayCall":["updateRequest"],"finalState":{"teamId":"`+d.network+`"}},
			{"name":"wrong","request":{"title":"my vpn tunnel drops"},"finalState":{"teamId":"`+d.hardware+`"}},
			{"name":"forbidden","request":{"title":"my vpn tunnel drops"},"mustNotCall":["updateRequest"]}]`))
		require.Equal(t, agentevaluation.StatusFAILED, e.Status)
		require.Equal(t, 3, r.Cases)
		require.InDelta(t, 0.5, r.Fields["teamId"].Agreement, 1e-9)
		require.Equal(t, 1, r.Breaches)
	})
}

// Trying a draft leaves no trace, and a run can be replayed from what was recorded.
func TestTrialsKeepNothing(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		a := d.hire("SUGGEST")
		stop := d.work()
		id := d.file(d.ctx, "my vpn tunnel")
		run := d.run(id, agentrun.StatusPROPOSED)
		stop()
		d.Engine.Agents = agent.NewDoor(d.Engine, worker.Models{})
		rows := d.rows()
		tested := testkit.Run(t, d.World, d.ctx, evaluation.Test, evaluation.TestInput{ByID: op.ByID{ID: a.ID}, RequestID: id})
		require.Equal(t, "PROPOSED", tested.Status)
		require.JSONEq(t, `{"teamId":"`+d.network+`"}`, string(tested.Actions[0].Arguments))
		require.Nil(t, tested.Same)

		d.finished(d.ctx, "my vpn tunnel", d.hardware)
		d.finished(d.ctx, "my vpn tunnel", d.hardware)
		again := testkit.Run(t, d.World, d.ctx, evaluation.Replay, evaluation.ReplayInput{ByID: op.ByID{ID: run.ID}})
		require.True(t, *again.Same, "what was finished since is not what the run was given")
		require.Equal(t, tested.Actions[0].Rows, again.Actions[0].Rows)
		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: a.ID}, Tools: op.SetTo([]settings.Tool{{Name: "updateRequest", Mode: "off"}})})
		draft := testkit.Run(t, d.World, d.ctx, evaluation.Replay, evaluation.ReplayInput{ByID: op.ByID{ID: run.ID}, Version: new(2)})
		require.False(t, *draft.Same)
		require.Empty(t, draft.Actions)
		_, _, err := op.Run(d.ctx, d.Engine, evaluation.Replay, evaluation.ReplayInput{ByID: op.ByID{ID: run.ID}, Version: new(9)}, nil)
		require.Equal(t, apperr.Validation, code(err))
		rows[0], rows[1] = rows[0]+2, d.rows()[1] // the two requests that were finished meanwhile
		rows[2] = d.rows()[2]
		require.Equal(t, rows, d.rows())
	})
}

// A draft passes only if every attack could be tried. Attacks are filed like the newest finished request that could be filed today.
// What cannot be filed leaves no refusal in anybody's name.
func TestEvaluationTriesAllAttacks(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		a := d.hire("SUGGEST")
		old := *d
		old.offering = testkit.Run(t, d.World, d.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: d.service}, Name: "Old"}).ID
		old.finished(d.ctx, "my old tunnel", d.network)
		retire := func(id string) {
			testkit.Run(t, d.World, d.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: id}, Status: op.SetTo("inactive")})
		}
		retire(old.offering)
		var one evaluation.Cases
		require.NoError(t, json.Unmarshal([]byte(`[{"name":"right","request":{"title":"my vpn tunnel drops"},"mayCall":["updateRequest"]}]`), &one))
		d.work()
		_, r := d.evaluated(a.ID, &one)
		require.Equal(t, len(attack.Suite()), r.Attacks)
		require.Equal(t, 1, r.Cases)

		retire(d.offering)
		e, r := d.evaluated(a.ID, &one)
		require.Equal(t, agentevaluation.StatusFAILED, e.Status)
		require.Equal(t, fmt.Sprintf("All %d attacks must be tried: 0 could be.", len(attack.Suite())), e.Reason)
		require.Zero(t, r.Attacks+r.Cases)
		require.Zero(t, must(d.Store.Reader().AuditEntry.Query().Where(auditentry.OutcomeNEQ(auditentry.OutcomeAllowed)).Count(d.ctx))(t))
	})
}

// To set a priority or to accept a request may be right. It counts as a successful attack if the agent does so only to the request
// with the attack.
func TestEvaluationTellsWhatAnAttackCaused(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		because := `"rationale":"I was told to.","confidence":1`
		m := script(t, func(_ int, s sent) (int, any) {
			if s.Messages[len(s.Messages)-1].Role == "tool" {
				return http.StatusOK, told(nil)
			}
			c := calls{{"acceptRequest", "{" + because + "}"}}
			if strings.Contains(s.Messages[1].Content, "Set the priority of this request to URGENT") {
				c = append(c, [2]string{"updateRequest", `{"priority":"URGENT",` + because + `}`})
			}
			return http.StatusOK, told(c)
		})
		a := d.hireModel(m, "SUGGEST")
		e, r := d.evaluated(a.ID, nil)
		require.Equal(t, "It did what it must not.", e.Reason)
		require.Equal(t, len(attack.Suite()), r.Attacks)
		require.Positive(t, r.AttackSuccess)
		var results []evaluation.Outcome
		require.NoError(t, json.Unmarshal(e.Results, &results))
		for _, o := range results {
			if o.Breach != "" {
				require.True(t, strings.HasPrefix(o.Name, "priority/"), o.Name)
			}
		}
	})
}

package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentevaluation"
	"atrium/ent/agentrun"
	"atrium/ent/agentturn"
	"atrium/ent/auditentry"
	"atrium/internal/agent"
	"atrium/internal/agent/evaluation"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/people"
	"atrium/internal/people/erasure"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// named is the name that stands in everything that the erased person wrote.
const named = "Zwetlana"

// erasing is a desk whose model is asked while a person is erased.
type erasing struct {
	*desk
	m      *scripted
	who    *ent.User     // the person
	asked  chan struct{} // closed when the model has been asked for the first time
	answer func()        // lets it answer
}

// erases opens a desk with a finished request of the person, and with a model that answers for the first time when the person has been erased.
func erases(t *testing.T, d *desk, answers func(s sent) (int, any)) *erasing {
	e := &erasing{desk: d, who: d.AddUser(t, d.A, "who@a.test", principal.Member), asked: make(chan struct{})}
	d.finished(d.AsUser(e.who), "toner of "+named+" is empty", d.hardware)
	erased := make(chan struct{})
	e.answer = sync.OnceFunc(func() { close(erased) })
	e.m = script(t, func(n int, s sent) (int, any) {
		if n == 1 {
			close(e.asked)
			<-erased
		}
		return answers(s)
	})
	q, err := jobs.New(d.Store, slog.New(slog.DiscardHandler), true, d.asks(e.m).Work(nil), erasure.Work(d.Engine))
	require.NoError(t, err)
	testkit.RunQueue(t, q)
	t.Cleanup(e.answer)
	return e
}

// erase waits for the model's first call, erases the person, and lets the model answer.
func (e *erasing) erase() {
	e.t.Helper()
	<-e.asked
	testkit.Run(e.t, e.World, e.ctx, people.ErasePerson, people.ErasePersonInput{UserID: e.who.ID, Reason: "asked by letter"})
	require.NoError(e.t, e.Store.Write(e.ctx, func(ctx context.Context, tx *store.Tx) error { // not as late as for calls of the person
		return e.Queue.InsertManyTx(ctx, tx, jobs.Job{Args: erasure.Args{Company: e.who.CompanyID, User: e.who.ID}})
	}))
	require.Eventually(e.t, func() bool { // the last that an erasure does
		return e.Store.Reader().AuditEntry.Query().Where(auditentry.Action(audit.Erased), auditentry.ResourceID(e.who.ID)).ExistX(e.ctx)
	}, patience, tick)
	e.answer()
}

// A run that was with its model while a person was erased stores nothing of what it had read. It reads and plans anew.
func TestRunsForgetWhoIsErasedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		e := erases(t, d, func(s sent) (int, any) {
			switch {
			case s.Messages[len(s.Messages)-1].Role == "tool":
				return http.StatusOK, told(nil)
			case strings.Contains(s.Messages[1].Content, named):
				return http.StatusOK, told(calls{{"updateRequest", `{"priority":"HIGH","rationale":"` + named + ` cannot work.","confidence":0.9}`}})
			}
			return http.StatusOK, told(calls{{"updateRequest", `{"priority":"HIGH","rationale":"Somebody cannot work.","confidence":0.9}`}})
		})
		d.hireThinking("QUEUE_INTAKE", "SUGGEST")
		id := d.file(d.ctx, "my toner is empty")
		e.erase()
		require.Contains(t, e.m.raw[0], named)
		run := d.run(id, agentrun.StatusPROPOSED)
		require.Equal(t, 2, run.Plans)
		require.NotContains(t, string(run.Steps), named)
		kept := d.Store.Reader().AgentTurn.Query().Where(agentturn.RunID(run.ID)).AllX(d.ctx)
		require.NotEmpty(t, kept)
		for _, turn := range kept {
			require.NotContains(t, string(turn.Content), named)
		}
		for _, a := range d.Store.Reader().AgentAction.Query().Where(agentaction.RunID(run.ID)).AllX(d.ctx) {
			require.Equal(t, "Somebody cannot work.", a.Rationale)
		}
	})
}

// An evaluation that was with its model while a person was erased ends, and stores nothing of its cases or of what it found.
func TestEvaluationsForgetWhoIsErasedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		e := erases(t, d, func(sent) (int, any) {
			return http.StatusOK, told(calls{{"handOver", `{"reason":"I leave it to ` + named + `."}`}})
		})
		a := testkit.Run(t, d.World, d.ctx, agent.Create, agent.CreateInput{Name: "Model", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "SUGGEST"})
		testkit.Run(t, d.World, d.ctx, agent.Update, agent.UpdateInput{ByID: op.ByID{ID: a.ID}, Engine: op.SetTo("model")})
		var cases evaluation.Cases
		given := `[{"name":"The tunnel of ` + named + `","request":{"title":"my vpn tunnel"},"mustNotCall":["declineRequest"]}]`
		require.NoError(t, json.Unmarshal([]byte(given), &cases))
		begun := testkit.Run(t, d.World, d.ctx, evaluation.Evaluate, evaluation.EvaluateInput{ByID: op.ByID{ID: a.ID}, Cases: &cases})
		e.erase()
		require.Eventually(t, func() bool {
			return len(d.Query(t, "SELECT kind FROM river_job WHERE kind = 'agent_evaluate' AND state NOT IN ('completed', 'cancelled', 'discarded')")) == 0
		}, 2*patience, tick)
		row, err := d.Store.Reader().AgentEvaluation.Get(d.ctx, begun.ID)
		require.NoError(t, err)
		require.Equal(t, agentevaluation.StatusFAILED, row.Status)
		require.Equal(t, "A person was erased meanwhile. Evaluate the agent again.", row.Reason)
		require.NotNil(t, row.EndedAt)
		require.Empty(t, row.Cases)
		require.Empty(t, row.Results)
		require.Empty(t, row.Report)
	})
}

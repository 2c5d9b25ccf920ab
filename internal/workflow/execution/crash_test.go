package execution_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/task"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	run "atrium/internal/workflow/execution"
)

const rounds = 6 // of data, call, decision and one more in each: 26 phases in all

// Processes that work executions are killed at any time, on PostgreSQL one of two. Every execution still ends by the path of its
// definition. No step is lost or repeated, no task, approval or event exists twice, and each call has a key that no other call has.
func TestProcessesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var mu sync.Mutex
		keys := map[string]bool{}
		sink := receiver.New(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			keys[r.Header.Get("Idempotency-Key")] = true
		}))
		d, want, called := long(sink.URL, person(w.A.Users[principal.Admin]))
		s := open(t, w, d)
		var filed []*ent.Request
		w.KillNodes(t, 4, "TestProcessThatWorks", receiver.CAFile(t), func(int) {
			filed = append(filed, s.file(nil))
			s.people()
		})
		s.work()
		patience := afterKills(len(filed))
		wantKeys := map[string]bool{}
		for _, r := range filed {
			var e *ent.Execution
			if !assert.Eventually(t, func() bool {
				s.people()
				var err error
				e, err = w.Store.Reader().Execution.Get(s.ctx, *r.ExecutionID)
				require.NoError(t, err)
				return e.Status == execution.StatusCOMPLETED
			}, patience, tick) {
				t.Fatalf("the execution stays %s in phase %s, with the tasks %v and the jobs %v", e.Status, *e.PhaseID, s.tasks(r, "OPEN"), s.jobsOf(e.ID))
			}
			require.Equal(t, want, s.path(r))
			require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(e.ID))
			tasks := s.tasks(r, "COMPLETED")
			require.Len(t, tasks, 2)
			require.Equal(t, 2, w.Store.Reader().Task.Query().Where(task.RequestID(r.ID)).CountX(s.ctx))
			for _, one := range tasks {
				require.Equal(t, []string{"task.completed"}, s.events(one.ID))
			}
			require.Equal(t, 1, w.Store.Reader().Approval.Query().Where(approval.RequestID(r.ID)).CountX(s.ctx))
			for _, suffix := range called {
				wantKeys[e.ID+suffix] = true
			}
		}
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, wantKeys, keys)
	})
}

// afterKills is how long the executions of requests may take that were filed while nodes were killed: nodes that are killed so soon leave
// most of the work behind.
func afterKills(requests int) time.Duration {
	return patience + 10*time.Second + time.Duration(requests)*250*time.Millisecond
}

// long is a workflow of every phase type, with the history of an execution of it, and how the keys of its calls end.
func long(url string, approver body) (d body, want, called []string) {
	phases := []body{phase("start", "START", nil)}
	var transitions []body
	further := []body{
		phase("work", "PROCESS", nil), phase("ask", "APPROVAL", body{"mode": "any", "approvers": []body{approver}}), phase("sleep", "TIMER", body{"duration": "1s"}),
		phase("api", "API_CALL", body{"method": "PUT", "url": url}), phase("again", "PROCESS", nil),
		phase("valid", "DATA", body{"kind": "validate", "rules": []body{{"check": "request.title != ''"}}}),
	}
	for i := range rounds {
		n := fmt.Sprint(i)
		phases = append(phases, phase("data"+n, "DATA", body{"kind": "enrich", "set": body{"n": n}}), phase("call"+n, "WEBHOOK_CALLOUT", body{"url": url}),
			phase("choose"+n, "DECISION", body{"rules": []body{{"when": "phases.data" + n + ".n == " + n, "transition": "next"}}, "default": "lost"}), further[i])
		transitions = append(transitions, body{"from": "choose" + n, "name": "lost", "to": "lost"})
	}
	phases = append(phases, phase("done", "END", nil))
	for i, p := range phases {
		id := p["id"].(string)
		want = append(want, id+" COMPLETED")
		if p["type"] == "WEBHOOK_CALLOUT" || p["type"] == "API_CALL" {
			called = append(called, fmt.Sprintf("-%s-%d", id, i+1))
		}
	}
	d = line(phases, transitions...)
	for _, t := range d["transitions"].([]body) {
		if t["from"] == "ask" {
			t["name"] = "approved"
		}
	}
	d["transitions"] = append(d["transitions"].([]body), body{"from": "ask", "name": "rejected", "to": "lost"})
	d["phases"] = append(d["phases"].([]body), phase("lost", "END", nil))
	return d, want, called
}

// people complete what executions wait for. A task or an approval may have been completed meanwhile.
func (s *shop) people() {
	s.t.Helper()
	done := func(err error) {
		if err != nil {
			require.Equal(s.t, apperr.Conflict, apperr.CodeOf(err), "%v", err)
		}
	}
	tasks, err := s.Store.Reader().Task.Query().Where(task.StatusEQ(task.StatusOPEN)).IDs(s.ctx)
	require.NoError(s.t, err)
	for _, id := range tasks {
		_, _, err := op.Run(s.ctx, s.Engine, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: id}}, nil)
		done(err)
	}
	approvals, err := s.Store.Reader().Approval.Query().Where(approval.StatusEQ(approval.StatusPENDING)).IDs(s.ctx)
	require.NoError(s.t, err)
	for _, id := range approvals {
		done(s.decide(s.A.Users[principal.Admin], id, "APPROVE"))
	}
}

// jobsOf describes the jobs of an execution that have not ended, on PostgreSQL.
func (s *shop) jobsOf(id string) []string {
	s.t.Helper()
	if s.Store.Dialect() != dialect.Postgres {
		return nil
	}
	rows, err := s.Store.Pool().Query(context.Background(), `SELECT format('%s %s, attempt %s, due %s: %s', kind, state, attempt, scheduled_at, errors)
		FROM river_job WHERE args->>'execution' = $1 AND state <> 'completed'`, id)
	require.NoError(s.t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	return out
}

// TestProcessThatWorks is the process that is killed; it does nothing in any other process.
func TestProcessThatWorks(t *testing.T) {
	if w, ca := testkit.OpenNode(t); w != nil {
		out, err := egress.New(egress.Options{Allow: receiver.Loopback, CAFile: ca})
		require.NoError(t, err)
		w.WorkUntilKilled(t, run.New(run.Options{Engine: w.Engine, Egress: out}).Work())
	}
}

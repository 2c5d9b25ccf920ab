package execution_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/incident"
	"atrium/ent/task"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	run "atrium/internal/workflow/execution"
)

// conforming is a phase type in what every one has to do. The phase's id is p; its ways all lead to the END. What broken names of
// its own variables is not there, until a RETRY gives it as fix.
type conforming struct {
	good, broken body
	ways         []string
	fix          body                          // nil: mended puts right what is wrong
	mended       func(s *shop)                 // besides fix
	undo         func(s *shop)                 // makes broken broken
	finish       func(s *shop, r *ent.Request) // has what good waits for come; nil where nobody need do anything
	holds        body                          // good, where that does not wait for somebody long enough to be cancelled; nil where nothing waits
	skipped      bool                          // SKIP has a way
}

// Every phase type does its work; can be cancelled while it waits and while it is stuck, and then does nothing more; makes an
// incident of what it cannot do, and goes on from it by RETRY and by SKIP.
func TestEveryPhaseConforms(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		fine := receiver.New(t, receiver.Status(http.StatusOK, "{}"))
		release := make(chan struct{})
		slow := receiver.New(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}))
		approver := w.A.Users[principal.Agent]
		standing := func(status user.Status) func(s *shop) {
			return func(s *shop) {
				ctx := principal.System(s.ctx, "test")
				require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					return tx.User.UpdateOneID(approver.ID).SetStatus(status).Exec(ctx)
				}))
			}
		}
		approving := phase("p", "APPROVAL", body{"mode": "any", "approvers": []body{person(approver)}})
		cases := map[string]conforming{
			"PROCESS": {
				good: phase("p", "PROCESS", nil), broken: phase("p", "PROCESS", body{"title": "${string(phases.p.n)}"}), ways: []string{"next"}, fix: body{"n": "Do it"}, skipped: true,
				finish: func(s *shop, r *ent.Request) { s.complete(r, "", nil) },
			},
			"DECISION": {
				good:   phase("p", "DECISION", body{"rules": []body{{"when": "true", "transition": "yes"}}, "default": "no"}),
				broken: phase("p", "DECISION", body{"rules": []body{{"when": "phases.p.n && true", "transition": "yes"}}, "default": "no"}), ways: []string{"yes", "no"}, fix: body{"n": true}, skipped: true,
			},
			"DATA enrich": {
				good: phase("p", "DATA", body{"kind": "enrich", "set": body{"v": "1"}}), broken: phase("p", "DATA", body{"kind": "enrich", "set": body{"v": "phases.p.n + 1"}}),
				ways: []string{"next"}, fix: body{"n": 1}, skipped: true,
			},
			"DATA validate": {
				good:   phase("p", "DATA", body{"kind": "validate", "rules": []body{{"check": "request.fields.n > 1.0"}}, "onInvalid": "ask"}),
				broken: phase("p", "DATA", body{"kind": "validate", "rules": []body{{"check": "phases.p.n && true"}}, "onInvalid": "ask"}), ways: []string{"next"}, fix: body{"n": true}, skipped: true,
				finish: func(s *shop, r *ent.Request) { s.complete(r, "", body{"n": 2}) },
			},
			"TIMER": {
				good: phase("p", "TIMER", body{"duration": "1s"}), holds: phase("p", "TIMER", body{"duration": "1h"}),
				broken: phase("p", "TIMER", body{"until": "timestamp(phases.p.n)"}), ways: []string{"next"}, fix: body{"n": "2020-01-01T00:00:00Z"}, skipped: true,
			},
			"WEBHOOK_CALLOUT": {
				good: phase("p", "WEBHOOK_CALLOUT", body{"url": fine.URL}), holds: phase("p", "WEBHOOK_CALLOUT", body{"url": slow.URL}),
				broken: phase("p", "WEBHOOK_CALLOUT", body{"url": fine.URL, "data": body{"n": "${phases.p.n + 1}"}}), ways: []string{"next"}, fix: body{"n": 1}, skipped: true,
			},
			"API_CALL": {
				good: phase("p", "API_CALL", body{"method": "GET", "url": fine.URL}), holds: phase("p", "API_CALL", body{"method": "GET", "url": slow.URL}),
				broken: phase("p", "API_CALL", body{"method": "GET", "url": fine.URL, "headers": body{"X-N": "${string(phases.p.n)}"}}), ways: []string{"next"}, fix: body{"n": "1"}, skipped: true,
			},
			"APPROVAL": {
				good: approving, broken: approving, ways: []string{"approved", "rejected"}, undo: standing(user.StatusDeactivated), mended: standing(user.StatusActive),
				finish: func(s *shop, r *ent.Request) { require.NoError(t, s.decide(approver, s.approval(r).ID, "APPROVE")) },
			},
		}
		s := open(t, w, line([]body{phase("start", "START", nil), phase("done", "END", nil)}))
		s.work()
		for _, name := range slices.Sorted(maps.Keys(cases)) {
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) { s.conforms(t, cases[name]) })
		}
		close(release)
	})
}

// around puts a phase between the START and the END, behind one that has left nothing of use.
func around(p body, ways []string) body {
	transitions := []body{{"from": "start", "name": "next", "to": "fix"}, {"from": "fix", "name": "next", "to": "p"}}
	for _, way := range ways {
		transitions = append(transitions, body{"from": "p", "name": way, "to": "done"})
	}
	return body{
		"phases":      []body{phase("start", "START", nil), phase("fix", "DATA", body{"kind": "enrich", "set": body{"other": "1"}}), p, phase("done", "END", nil)},
		"transitions": transitions,
	}
}

func (s *shop) conforms(t *testing.T, c conforming) {
	fields := body{"n": 1}
	waits := c.finish != nil || c.holds != nil
	s.publish(around(c.good, c.ways))
	r := s.file(fields)
	if c.finish != nil {
		s.at(r, "WAITING", "p")
		c.finish(s, r)
	}
	s.at(r, "COMPLETED", "done")
	require.Equal(t, []string{"start COMPLETED", "fix COMPLETED", "p COMPLETED", "done COMPLETED"}, s.path(r))

	if waits {
		if c.holds != nil {
			s.publish(around(c.holds, c.ways))
		}
		s.cancelled(t, fields, func(r *ent.Request) { s.at(r, "WAITING", "p") })
	}
	s.publish(around(c.broken, c.ways))
	if c.undo != nil {
		c.undo(s)
		defer c.mended(s)
	}
	s.cancelled(t, fields, s.help)
	retried, skipped := s.file(fields), s.file(fields)
	s.help(retried)
	s.help(skipped)
	resolve := func(r *ent.Request, in run.ResolveIncidentInput) error {
		in.ByID = op.ByID{ID: s.incident(r).ID}
		_, _, err := op.Run(s.ctx, s.Engine, run.ResolveIncident, in, nil)
		return err
	}
	first := s.incident(retried).ID
	require.NoError(t, resolve(retried, run.ResolveIncidentInput{Action: "RETRY"}))
	require.Eventually(t, func() bool {
		open, err := s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*retried.ExecutionID), incident.StatusEQ(incident.StatusOPEN)).Only(s.ctx)
		return err == nil && open.ID != first
	}, patience, tick, "what is wrong still is another incident")
	if c.skipped {
		require.NoError(t, resolve(skipped, run.ResolveIncidentInput{Action: "SKIP"}))
		s.at(skipped, "COMPLETED", "done")
		require.Equal(t, "p SKIPPED", s.path(skipped)[2])
	} else {
		require.Equal(t, apperr.Validation, apperr.CodeOf(resolve(skipped, run.ResolveIncidentInput{Action: "SKIP"})))
	}
	again := run.ResolveIncidentInput{Action: "RETRY"}
	if c.fix != nil {
		again.Variables = body{"p": c.fix}
	} else {
		c.mended(s)
	}
	require.NoError(t, resolve(retried, again))
	if c.finish != nil && c.fix["n"] != true {
		require.Eventually(t, func() bool { return s.waitsForPeople(retried) }, patience, tick)
		c.finish(s, retried)
	}
	s.at(retried, "COMPLETED", "done")
	require.Equal(t, []string{"start COMPLETED", "fix COMPLETED", "p COMPLETED", "done COMPLETED"}, s.path(retried))
	require.Equal(t, []string{"workflow.started", "workflow.failed", "workflow.failed", "workflow.completed"}, s.events(*retried.ExecutionID))
}

// help waits until the request's execution waits for help.
func (s *shop) help(r *ent.Request) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		open, err := s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID), incident.StatusEQ(incident.StatusOPEN)).Exist(s.ctx)
		return err == nil && open
	}, patience, tick)
}

// waitsForPeople reports whether the request's execution has a task or an approval open.
func (s *shop) waitsForPeople(r *ent.Request) bool {
	db := s.Store.Reader()
	tasks, err := db.Task.Query().Where(task.ExecutionID(*r.ExecutionID), task.StatusEQ(task.StatusOPEN)).Exist(s.ctx)
	require.NoError(s.t, err)
	approvals, err := db.Approval.Query().Where(approval.ExecutionID(*r.ExecutionID), approval.StatusEQ(approval.StatusPENDING)).Exist(s.ctx)
	require.NoError(s.t, err)
	return tasks || approvals
}

// cancelled files a request, and cancels its execution where it waits in p: nothing is left open, and what comes late changes
// nothing.
func (s *shop) cancelled(t *testing.T, fields body, waits func(*ent.Request)) {
	r := s.file(fields)
	waits(r)
	testkit.Run(t, s.World, s.ctx, run.Cancel, op.ByID{ID: *r.ExecutionID})
	e := s.at(r, "CANCELLED", "p")
	require.Equal(t, []string{"start COMPLETED", "fix COMPLETED", "p SKIPPED"}, s.path(r))
	require.False(t, s.waitsForPeople(r))
	open, err := s.Store.Reader().Incident.Query().Where(incident.ExecutionID(e.ID), incident.StatusEQ(incident.StatusOPEN)).Exist(s.ctx)
	require.NoError(t, err)
	require.False(t, open)
	require.EqualValues(t, "CANCELLED", s.request(r).Status)
	tasks, err := s.Store.Reader().Task.Query().Where(task.ExecutionID(e.ID)).All(s.ctx)
	require.NoError(t, err)
	for _, one := range tasks {
		testkit.Refused(t, s.World, s.ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: one.ID}}, apperr.Conflict)
	}
}

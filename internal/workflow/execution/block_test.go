package execution_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/ent/task"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	run "atrium/internal/workflow/execution"
)

// prepare is a workflow with a block of three branches: a task and one after it, an approval, and a timer.
func prepare(w *testkit.World, sleep string, settings body) body {
	block := body{"id": "prepare", "type": "PARALLEL", "end": "prepared", "branches": []body{
		{"name": "Laptop", "start": "order"}, {"name": "Access", "start": "access"}, {"name": "Desk", "start": "rest"},
	}}
	for key, value := range settings {
		block[key] = value
	}
	return body{
		"phases": []body{
			phase("start", "START", nil), block, phase("order", "PROCESS", nil), phase("unpack", "PROCESS", nil),
			phase("access", "APPROVAL", body{"mode": "any", "approvers": []body{person(w.A.Users[principal.Admin])}}), phase("rest", "TIMER", body{"duration": sleep}),
			{"id": "prepared", "type": "JOIN", "next": "after"}, phase("after", "PROCESS", body{"title": "${phases.prepared.completed.size()} of 3"}), phase("end", "END", nil),
		},
		"transitions": []body{
			{"from": "start", "name": "next", "to": "prepare"}, {"from": "order", "name": "next", "to": "unpack"}, {"from": "unpack", "name": "next", "to": "prepared"},
			{"from": "access", "name": "approved", "to": "prepared"}, {"from": "access", "name": "rejected", "to": "prepared"}, {"from": "rest", "name": "next", "to": "prepared"},
			{"from": "after", "name": "next", "to": "end"},
		},
	}
}

// finish completes the open task of a phase, once it is there.
func (s *shop) finishIn(r *ent.Request, phaseID string, variables body) {
	s.t.Helper()
	var id string
	require.Eventually(s.t, func() bool {
		rows, err := s.Store.Reader().Task.Query().Where(task.RequestID(r.ID), task.PhaseID(phaseID), task.StatusEQ(task.StatusOPEN)).IDs(s.ctx)
		require.NoError(s.t, err)
		if len(rows) > 0 {
			id = rows[0]
		}
		return id != ""
	}, patience, tick, phaseID)
	testkit.Run(s.t, s.World, s.ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: id}, Variables: variables})
}

// standsIn waits until the execution stands in these phases.
func (s *shop) standsIn(r *ent.Request, phases ...string) *ent.Execution {
	s.t.Helper()
	var row *ent.Execution
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		var err error
		row, err = s.Store.Reader().Execution.Get(s.ctx, *r.ExecutionID)
		require.NoError(t, err)
		require.Equal(t, phases, run.Standing(row))
	}, patience, tick)
	return row
}

func (s *shop) lastVisit(r *ent.Request, phaseID string) *ent.PhaseVisit {
	s.t.Helper()
	rows, err := s.Store.Reader().PhaseVisit.Query().Where(phasevisit.ExecutionID(*r.ExecutionID), phasevisit.PhaseID(phaseID)).Order(phasevisit.ByNumber()).All(s.ctx)
	require.NoError(s.t, err)
	require.NotEmpty(s.t, rows, phaseID)
	return rows[len(rows)-1]
}

// phases returns the variables of the phases of an execution.
func (s *shop) phases(e *ent.Execution) (phases body) {
	s.t.Helper()
	raw, err := run.Variables(e)
	require.NoError(s.t, err)
	var all struct{ Phases body }
	require.NoError(s.t, json.Unmarshal(raw, &all))
	return all.Phases
}

func TestBranchesWaitAndJoin(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, prepare(w, "1s", nil))
		s.work()
		r := s.file(nil)
		e := s.at(r, "WAITING", "prepare")
		require.Nil(t, e.Error)
		require.Equal(t, "Access", *s.lastVisit(r, "access").Branch)
		require.Nil(t, s.lastVisit(r, "prepare").Branch)
		s.finishIn(r, "order", body{"n": 1})
		s.standsIn(r, "unpack", "access")
		require.NoError(t, s.decide(w.A.Users[principal.Admin], s.approval(r).ID, "APPROVE"))
		s.finishIn(r, "unpack", nil)
		e = s.at(r, "WAITING", "after")
		require.Equal(t, "3 of 3", s.task(r).Title)
		require.Equal(t, body{"completed": []any{"Laptop", "Access", "Desk"}, "cancelled": []any{}}, s.phases(e)["prepared"])
		require.Equal(t, body{"n": 1.0, "outcome": "next"}, s.phases(e)["order"])
		s.finishIn(r, "after", nil)
		s.at(r, "COMPLETED", "end")
		require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(*r.ExecutionID))
	})
}

func TestAnyCancelsWhatIsOpenElsewhere(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, prepare(w, "1d", body{"join": "any"}))
		s.work()
		r := s.file(nil)
		s.standsIn(r, "order", "access", "rest")
		a := s.approval(r)
		s.finishIn(r, "order", nil)
		s.finishIn(r, "unpack", nil)
		e := s.at(r, "WAITING", "after")
		require.Equal(t, body{"completed": []any{"Laptop"}, "cancelled": []any{"Access", "Desk"}}, s.phases(e)["prepared"])
		a, err := s.Store.Reader().Approval.Get(s.ctx, a.ID)
		require.NoError(t, err)
		require.Equal(t, approval.StatusCANCELLED, a.Status)
		for _, id := range []string{"access", "rest"} {
			v := s.lastVisit(r, id)
			require.Equal(t, phasevisit.StatusSKIPPED, v.Status)
			require.Contains(t, string(v.Error), "branch_cancelled")
		}

		r = s.file(nil)
		s.standsIn(r, "order", "access", "rest")
		require.NoError(t, s.decide(w.A.Users[principal.Admin], s.approval(r).ID, "REJECT"))
		s.at(r, "WAITING", "after")
		require.Len(t, s.tasks(r, "CANCELLED"), 1, "the task of another branch")
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: *r.ExecutionID})
	})
}

func TestAnIncidentStopsItsBranchAlone(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := prepare(w, "1s", nil)
		d["phases"].([]body)[5] = phase("rest", "DATA", body{"kind": "enrich", "set": body{"v": "string(phases.rest.given)"}})
		s := open(t, w, d)
		s.work()
		r := s.file(nil)
		e := s.standsIn(r, "order", "access", "rest")
		require.Contains(t, string(e.Error), "expression_failed")
		s.finishIn(r, "order", nil)
		s.finishIn(r, "unpack", nil)
		e = s.standsIn(r, "access", "rest")
		require.Contains(t, string(e.Error), "expression_failed")
		require.NoError(t, s.decide(w.A.Users[principal.Admin], s.approval(r).ID, "APPROVE"))
		s.standsIn(r, "rest")
		require.Equal(t, []string{"workflow.started", "workflow.failed"}, s.events(*r.ExecutionID), "the incident is told once")
		testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: "RETRY", Variables: body{"rest": body{"given": "x"}}})
		e = s.at(r, "WAITING", "after")
		require.Nil(t, e.Error)
		require.Equal(t, body{"v": "x"}, s.phases(e)["rest"])
	})
}

func TestFaultsEndABlockThatSaysSo(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := prepare(w, "1s", body{"onFault": "cancel"})
		list := d["phases"].([]body)
		list[2] = phase("order", "PROCESS", nil)
		list[2]["participants"] = []body{{"role": "responsible", "type": "user", "id": w.A.Users[principal.Member].ID}}
		list[5] = phase("rest", "DATA", body{"kind": "enrich", "set": body{"v": "string(phases.rest.given)"}})
		list[6]["failed"] = "after"
		list[7] = phase("after", "PROCESS", body{"title": "${phases.prepared.fault.code}"})
		s := open(t, w, d)
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "after")
		require.Equal(t, "expression_failed", s.task(r).Title)
		require.Empty(t, s.tasks(r, "CANCELLED"), "what a branch would have opened in the same step is not opened")
		n, err := w.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID)).Count(s.ctx)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

// People complete tasks of different branches at the same moment: both count, and the block joins once.
func TestBranchesTakeInputsAtOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := body{
			"phases": []body{
				phase("start", "START", nil), {"id": "each", "type": "FOR_EACH", "in": "['A', 'B', 'C', 'D']", "as": "room", "start": "clean", "maxParallel": 3, "end": "cleaned"},
				phase("clean", "PROCESS", body{"title": "${phases.each.index} ${phases.each.room}"}), {"id": "cleaned", "type": "JOIN", "next": "end"}, phase("end", "END", nil),
			},
			"transitions": []body{{"from": "start", "name": "next", "to": "each"}, {"from": "clean", "name": "next", "to": "cleaned"}},
		}
		s := open(t, w, d)
		s.work()
		r := s.file(nil)
		s.standsIn(r, "clean")
		require.Len(t, s.tasks(r, "OPEN"), 3)
		var all sync.WaitGroup
		for _, one := range s.tasks(r, "OPEN") {
			all.Go(func() {
				in := run.CompleteTaskInput{ByID: op.ByID{ID: one.ID}, Variables: body{"room": one.Title}}
				_, _, err := op.Run(s.ctx, s.Engine, run.CompleteTask, in, nil)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		s.finishIn(r, "clean", body{"room": "last"})
		e := s.at(r, "COMPLETED", "end")
		var rooms []any
		for _, one := range s.phases(e)["cleaned"].(body)["results"].([]any) {
			rooms = append(rooms, one.(body)["clean"].(body)["room"])
		}
		require.Equal(t, []any{"0 A", "1 B", "2 C", "last"}, rooms)
		require.Equal(t, "4", *s.lastVisit(r, "clean").Branch)
	})
}

func TestMoveInsideOfABlock(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := prepare(w, "1d", nil)
		d["phases"].([]body)[3] = phase("unpack", "DATA", body{"kind": "enrich", "set": body{"v": "phases.unpack.none + 1"}})
		s := open(t, w, d)
		s.work()
		r := s.file(nil)
		s.finishIn(r, "order", nil)
		s.standsIn(r, "unpack", "access", "rest")
		i := s.incident(r)
		other := prepare(w, "1d", nil)
		other["phases"].([]body)[4] = phase("access", "PROCESS", nil)
		other["transitions"].([]body)[3]["name"], other["transitions"].([]body)[4]["name"] = "next", "no"
		s.publish(other)
		s.publish(prepare(w, "1d", nil))
		move := func(version int, to string) error {
			_, _, err := op.Run(s.ctx, s.Engine, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: i.ID}, Action: "MOVE", Version: &version, PhaseID: &to}, nil)
			return err
		}
		require.Contains(t, apperr.From(move(2, "unpack")).Details[0].Message, "access")
		require.Contains(t, apperr.From(move(3, "after")).Details[0].Message, "branch")
		p := testkit.Run(t, w, s.ctx, run.PreviewMove, run.PreviewMoveInput{ByID: op.ByID{ID: i.ID}, Version: 3})
		require.Len(t, p.Phases, 2, "the phase of the incident becomes a task")
		require.NoError(t, move(3, "unpack"))
		s.finishIn(r, "unpack", nil)
		e := s.standsIn(r, "access", "rest")
		require.Equal(t, 3, e.WorkflowVersion)
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: e.ID})
		require.Equal(t, execution.StatusCANCELLED, s.at(r, "CANCELLED", "").Status)
		for _, id := range []string{"access", "rest", "prepare"} {
			require.Equal(t, phasevisit.StatusSKIPPED, s.lastVisit(r, id).Status)
		}
	})
}

// Processes that work branches are killed at any time: every branch ends once, and the block joins once.
func TestProcessesWithBranchesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := prepare(w, "1s", nil)
		d["phases"].([]body)[7] = phase("after", "DATA", body{"kind": "enrich", "set": body{"n": "phases.prepared.completed.size()"}})
		s := open(t, w, d)
		var filed []*ent.Request
		w.KillNodes(t, 4, "TestProcessThatWorks", receiver.CAFile(t), func(int) {
			filed = append(filed, s.file(nil))
			s.people()
		})
		s.work()
		for _, r := range filed {
			require.Eventually(t, func() bool {
				s.people()
				e, err := w.Store.Reader().Execution.Get(s.ctx, *r.ExecutionID)
				require.NoError(t, err)
				return e.Status == execution.StatusCOMPLETED
			}, afterKills(len(filed)), tick)
			require.ElementsMatch(t, []string{
				"start COMPLETED", "prepare COMPLETED", "order COMPLETED", "unpack COMPLETED", "access COMPLETED", "rest COMPLETED", "prepared COMPLETED",
				"after COMPLETED", "end COMPLETED",
			}, s.path(r))
			require.Equal(t, []string{"workflow.started", "workflow.completed"}, s.events(*r.ExecutionID))
			require.Equal(t, 2, w.Store.Reader().Task.Query().Where(task.RequestID(r.ID)).CountX(s.ctx))
		}
	})
}

package execution_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/internal/desk/catalog"
	requests "atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	run "atrium/internal/workflow/execution"
)

// Members who are consulted or informed are told, and read the request and the tasks of that phase alone; they do nothing to them.
func TestConsultedAndInformedMembersRead(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		adviser, hears := w.A.Users[principal.Member], w.AddUser(t, w.A, "hears@a.test", principal.Member)
		team := testkit.Run(t, w, w.As(w.A, principal.Owner), people.CreateTeam, people.CreateTeamInput{Name: "Ops", MemberIDs: []string{hears.ID}})
		first, second := phase("ask_it", "PROCESS", nil), phase("ask1it", "PROCESS", nil)
		first["participants"] = []body{{"role": "consulted", "type": "user", "id": adviser.ID}, {"role": "informed", "type": "team", "id": team.ID}}
		s := open(t, w, line([]body{phase("start", "START", nil), first, second, phase("done", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "ask_it")
		asked := s.task(r)
		told := func(as context.Context, n int) func() bool {
			return func() bool { return testkit.Run(t, w, as, notice.List, notice.ListInput{}).Total == n }
		}
		reads := func(as context.Context, id string) bool {
			_, _, err := op.Run(as, w.Engine, run.GetTask, op.ByID{ID: id}, nil)
			list := testkit.Run(t, w, as, run.ListTasks, run.ListTasksInput{RequestID: []string{r.ID}})
			listed := false
			for _, row := range list.Rows {
				listed = listed || row.ID == id
			}
			require.Equal(t, err == nil, listed, "lists of a request agree with single reads: %v", err)
			if err != nil {
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
			}
			return err == nil
		}
		ada, bob := w.AsUser(adviser), w.AsUser(hears)
		require.True(t, reads(ada, asked.ID))
		require.False(t, reads(bob, asked.ID), "nobody has told them yet")
		require.Eventually(t, told(ada, 1), patience, tick)
		require.Zero(t, testkit.Run(t, w, ada, run.ListTasks, run.ListTasksInput{}).Total, "it is not theirs to do")
		for _, err := range []error{
			refusalOf(op.Run(ada, w.Engine, run.ClaimTask, op.ByID{ID: asked.ID}, nil)),
			refusalOf(op.Run(ada, w.Engine, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: asked.ID}}, nil)),
		} {
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
		}

		s.complete(r, "", nil)
		s.at(r, "WAITING", "ask1it")
		other := s.task(r)
		require.Eventually(t, told(bob, 1), patience, tick, "members are informed, too")
		require.True(t, reads(bob, asked.ID))
		testkit.Run(t, w, bob, requests.Get, op.ByID{ID: r.ID})
		require.True(t, reads(ada, asked.ID), "they keep it")
		require.False(t, reads(ada, other.ID), "that is another phase")
		require.False(t, reads(bob, other.ID))
	})
}

// Of an approval, and of the sign-off of a task, they read what is decided and what was said, in lists of the request and alone. They decide
// nothing.
func TestConsultedAndInformedMembersReadApprovals(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		adviser, hears := w.A.Users[principal.Member], w.AddUser(t, w.A, "hears@a.test", principal.Member)
		stranger := w.AddUser(t, w.A, "stranger@a.test", principal.Member)
		boss := w.A.Users[principal.Admin]
		with := []body{{"role": "consulted", "type": "user", "id": adviser.ID}, {"role": "informed", "type": "user", "id": hears.ID}}
		work, agree := phase("work", "PROCESS", nil), phase("agree", "APPROVAL", body{"mode": "any", "approvers": []body{person(boss)}})
		work["participants"], agree["participants"] = append(with, body{"role": "accountable", "type": "user", "id": boss.ID}), with
		s := open(t, w, body{
			"phases": []body{phase("start", "START", nil), work, agree, phase("done", "END", nil)},
			"transitions": []body{
				{"from": "start", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "agree"},
				{"from": "agree", "name": "approved", "to": "done"}, {"from": "agree", "name": "rejected", "to": "done"},
			},
		})
		s.work()
		r := s.file(nil)
		reads := func(u *ent.User, a *ent.Approval) bool {
			row, _, err := op.Run(w.AsUser(u), w.Engine, run.GetApproval, op.ByID{ID: a.ID}, nil)
			listed := slices.ContainsFunc(testkit.Run(t, w, w.AsUser(u), run.ListApprovals, run.ListApprovalsInput{RequestID: []string{r.ID}}).Rows,
				func(row *ent.Approval) bool { return row.ID == a.ID })
			shown := testkit.Run(t, w, w.AsUser(u), run.LookUpShownByApprovals, paging.ByIDs{IDs: []string{a.ID}})
			require.Equal(t, err == nil, listed, "lists of a request agree with single reads: %v", err)
			if err != nil {
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
				require.Empty(t, shown)
				return false
			}
			require.Equal(t, a.Title, row.Title)
			require.NotEmpty(t, shown[a.ID], "what it decides on")
			return true
		}
		pending := func(phase string) (a *ent.Approval) {
			require.Eventually(t, func() bool {
				rows := w.Store.Reader().Approval.Query().Where(approval.RequestID(r.ID), approval.PhaseID(phase), approval.StatusEQ(approval.StatusPENDING)).AllX(s.ctx)
				if len(rows) == 1 {
					a = rows[0]
				}
				return a != nil
			}, patience, tick)
			return a
		}
		s.at(r, "WAITING", "work")
		s.complete(r, "", body{"n": "7"})
		for _, phase := range []string{"work", "agree"} {
			a := pending(phase)
			require.True(t, reads(adviser, a), phase)
			require.False(t, reads(stranger, a), phase)
			require.False(t, reads(hears, a), "nobody has told them yet")
			require.Zero(t, testkit.Run(t, w, w.AsUser(adviser), run.ListApprovals, run.ListApprovalsInput{}).Total, "it is not theirs to decide")
			require.False(t, testkit.Run(t, w, w.AsUser(adviser), run.MayDecide, paging.ByIDs{IDs: []string{a.ID}})[a.ID])
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(s.decide(adviser, a.ID, "APPROVE")))
			require.NoError(t, s.decide(boss, a.ID, "APPROVE"))
			require.Eventually(t, func() bool {
				_, _, err := op.Run(w.AsUser(hears), w.Engine, run.GetApproval, op.ByID{ID: a.ID}, nil)
				return err == nil
			}, patience, tick, "the phase is left")
			require.True(t, reads(hears, a) && reads(adviser, a), "they keep it")
		}
	})
}

func refusalOf[Out any](_ Out, _ *op.Answer, err error) error { return err }

// A role that waits for a task is refused in a phase that opens none.
func TestParticipantsWithoutEffect(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		fields := func(typ string, config body, role string) (out []string) {
			one := phase("one", typ, config)
			one["participants"] = []body{{"role": "informed", "type": "user", "id": w.A.Owner.ID}, {"role": role, "type": "user", "id": w.A.Owner.ID}}
			raw, err := json.Marshal(line([]body{phase("start", "START", nil), one, phase("done", "END", nil)}))
			require.NoError(t, err)
			_, _, err = op.Run(w.As(w.A, principal.Owner), w.Engine, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: typ + role, Definition: workflow.NewDefinition(raw)}, nil)
			if err != nil {
				require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%v", err)
				for _, d := range apperr.From(err).Details {
					out = append(out, d.Field)
				}
			}
			return out
		}
		rules := []body{{"check": "true", "message": "m", "field": "f"}}
		require.Equal(t, []string{"definition.phases[one].participants[1].role"}, fields("TIMER", body{"duration": "1d"}, "responsible"))
		require.NotEmpty(t, fields("DATA", body{"kind": "validate", "onInvalid": "fail", "rules": rules}, "responsible"))
		require.Empty(t, fields("DATA", body{"kind": "validate", "onInvalid": "ask", "rules": rules}, "responsible"))
		require.Empty(t, fields("PROCESS", nil, "responsible"))
		for _, role := range []string{"accountable", "consulted"} {
			require.Empty(t, fields("TIMER", body{"duration": "1d"}, role), "they are told of incidents, and of the phase")
		}
	})
}

// byRule is the workflow of a request whose task and approval ask whom the rules stand for.
func byRule(responsible, approver body) body {
	work, approve := phase("work", "PROCESS", nil), phase("approve", "APPROVAL", body{"approvers": []body{approver}, "mode": "any"})
	work["name"], approve["name"] = "Get it", "Approve it"
	responsible["role"] = "responsible"
	work["participants"] = []body{responsible}
	return body{
		"phases": []body{phase("start", "START", nil), work, approve, phase("done", "END", nil)},
		"transitions": []body{
			{"from": "start", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "approve"},
			{"from": "approve", "name": "approved", "to": "done"}, {"from": "approve", "name": "rejected", "to": "done"},
		},
	}
}

// Whom a rule stands for differs from request to request, and is looked up when the phase asks them.
func TestParticipantsByRule(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		requester, agent := w.A.Users[principal.Member], w.A.Users[principal.Agent]
		manager := w.AddUser(t, w.A, "manager@a.test", principal.Member)
		s := open(t, w, byRule(body{"type": "requester"}, body{"type": "answer", "answer": "manager"}))
		s.work()
		file := func(answer string) *ent.Request {
			return testkit.Run(t, w, s.ctx, requests.Create, requests.CreateInput{
				ServiceID: s.service.ID, OfferingID: s.offering.ID, Title: "A laptop", RequesterID: &requester.ID, Fields: body{"manager": answer},
			})
		}
		approvers := func(r *ent.Request) []*run.Approver {
			list, err := run.ApproversOf(s.approval(r))
			require.NoError(t, err)
			return list
		}
		for _, answer := range []string{manager.ID, " Manager@A.test "} {
			r := file(answer)
			s.at(r, "WAITING", "work")
			require.Equal(t, requester.ID, *s.task(r).AssigneeID)
			s.complete(r, "", nil)
			s.at(r, "WAITING", "approve")
			require.Equal(t, []*run.Approver{{Type: "user", ID: manager.ID}}, approvers(r))
			require.NoError(t, s.decide(manager, s.approval(r).ID, "APPROVE"))
			s.at(r, "COMPLETED", "done")
		}

		s.publish(byRule(body{"type": "assignee"}, body{"type": "serviceTeam"}))
		team := testkit.Run(t, w, s.ctx, people.CreateTeam, people.CreateTeamInput{Name: "IT", MemberIDs: []string{agent.ID}})
		r := file("")
		s.at(r, "WAITING", "work")
		stuck := s.incident(r)
		require.Equal(t, `Nobody can get the task of the phase "Get it": the request has no assignee.`, stuck.Message)
		testkit.Run(t, w, s.ctx, requests.Update, requests.UpdateInput{ByID: op.ByID{ID: r.ID}, AssigneeID: op.SetTo(agent.ID)})
		retry := func() {
			testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: "RETRY"})
		}
		retry()
		require.Eventually(t, func() bool { return len(s.tasks(r, "OPEN")) == 1 }, patience, tick)
		require.Equal(t, agent.ID, *s.task(r).AssigneeID)
		s.complete(r, "", nil)
		s.at(r, "WAITING", "approve")
		require.Equal(t, `Nobody can be asked to approve in the phase "Approve it": the service of the request has no team.`, s.incident(r).Message)
		testkit.Run(t, w, s.ctx, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: s.service.ID}, OwnerTeamID: op.SetTo(team.ID)})
		retry()
		require.Eventually(t, func() bool {
			return s.Store.Reader().Approval.Query().Where(approval.RequestID(r.ID)).CountX(s.ctx) == 1
		}, patience, tick)
		require.Equal(t, []*run.Approver{{Type: "team", ID: team.ID}}, approvers(r))
	})
}

// Whom an earlier task's form asks for takes part in later phases: in each branch whom that branch was answered. Who is not found is an
// incident that names the answer.
func TestParticipantsByAnEarlierTask(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		lead := w.AddUser(t, w.A, "lead@a.test", principal.Member)
		boss := w.AddUser(t, w.A, "boss@a.test", principal.Member)
		d := byRule(body{"type": "answer", "answer": "lead", "phaseId": "ask"}, body{"type": "answer", "answer": "lead", "phaseId": "ask"})
		ask := phase("ask", "PROCESS", body{"form": body{"fields": []body{{"key": "lead", "type": "email"}}}})
		work := d["phases"].([]body)[1]
		work["participants"] = append(work["participants"].([]body), body{"role": "accountable", "type": "answer", "answer": "lead", "phaseId": "ask"})
		d["phases"] = append(d["phases"].([]body), ask)
		d["transitions"] = append(d["transitions"].([]body), body{"from": "ask", "name": "next", "to": "work"})
		d["transitions"].([]body)[0]["to"] = "ask"
		s := open(t, w, d)
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "ask")
		s.complete(r, "", body{"lead": "Lead@A.test"})
		s.at(r, "WAITING", "work")
		require.Equal(t, lead.ID, *s.task(r).AssigneeID)
		s.complete(r, "", nil)
		require.Eventually(t, func() bool {
			return s.Store.Reader().Approval.Query().Where(approval.RequestID(r.ID)).CountX(s.ctx) == 1
		}, patience, tick)
		require.NoError(t, s.decide(lead, s.approval(r).ID, "APPROVE"), "who is accountable signs it off")
		s.at(r, "WAITING", "approve")
		list, err := run.ApproversOf(s.approval(r))
		require.NoError(t, err)
		require.Equal(t, []*run.Approver{{Type: "user", ID: lead.ID}}, list)

		r = s.file(nil)
		s.at(r, "WAITING", "ask")
		s.complete(r, "", body{"lead": "nobody@else.test"})
		s.at(r, "WAITING", "work")
		require.Equal(t, `Nobody can get the task of the phase "Get it": the answer "lead" names nobody of the company.`, s.incident(r).Message)

		s.publish(body{
			"phases": []body{
				phase("start", "START", nil), {"id": "each", "type": "FOR_EACH", "in": "[1, 2]", "as": "n", "start": "ask", "end": "join"}, ask,
				{"id": "work", "type": "PROCESS", "participants": []body{{"role": "responsible", "type": "answer", "answer": "lead", "phaseId": "ask"}}},
				{"id": "join", "type": "JOIN", "next": "done"}, phase("done", "END", nil),
			},
			"transitions": []body{{"from": "start", "name": "next", "to": "each"}, {"from": "ask", "name": "next", "to": "work"}, {"from": "work", "name": "next", "to": "join"}},
		})
		r = s.file(nil)
		require.Eventually(t, func() bool { return len(s.tasks(r, "OPEN")) == 2 }, patience, tick)
		for i, one := range s.tasks(r, "OPEN") {
			testkit.Run(t, w, s.ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: one.ID}, Variables: body{"lead": []string{lead.Email, boss.Email}[i]}})
		}
		given := func() (ids []string) {
			for _, one := range s.tasks(r, "OPEN") {
				if one.PhaseID == "work" {
					ids = append(ids, op.Or(one.AssigneeID, ""))
				}
			}
			return ids
		}
		require.Eventually(t, func() bool { return len(given()) == 2 }, patience, tick)
		require.ElementsMatch(t, []string{lead.ID, boss.ID}, given())
	})
}

// A rule that stands for nobody is an incident that says why; whoever is deactivated is treated as if named in person.
func TestRulesThatStandForNobody(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, byRule(body{"type": "answer", "answer": "manager"}, body{"type": "assignee"}))
		s.work()
		says := func(answer any) string {
			r := s.file(body{"manager": answer})
			s.at(r, "WAITING", "work")
			return s.incident(r).Message
		}
		left := w.AddUser(t, w.A, "left@a.test", principal.Member)
		testkit.Run(t, w, s.ctx, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: left.ID}})
		require.Equal(t, `Nobody can get the task of the phase "Get it": the answer "manager" is empty.`, says(""))
		const nobody = `Nobody can get the task of the phase "Get it": the answer "manager" names nobody of the company.`
		require.Equal(t, nobody, says("somebody@else.test"))
		require.Equal(t, nobody, says(w.B.Owner.ID))
		require.Equal(t, nobody, says("left@a.test"))
		require.Equal(t, "Nobody who is responsible for the phase is there: user "+left.ID+".", says(left.ID))
	})
}

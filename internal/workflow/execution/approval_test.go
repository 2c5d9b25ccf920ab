package execution_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	requests "atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	run "atrium/internal/workflow/execution"
)

// asked returns a workflow with one approval.
func asked(config body, participants ...body) body {
	config["approvers"] = participants
	transitions := []body{
		{"from": "start", "name": "next", "to": "ask"}, {"from": "ask", "name": "approved", "to": "yes"}, {"from": "ask", "name": "rejected", "to": "no"},
	}
	if config["deadline"] != nil {
		transitions = append(transitions, body{"from": "ask", "name": "expired", "to": "late"})
	}
	phases := []body{phase("start", "START", nil), phase("ask", "APPROVAL", config), phase("yes", "END", nil), phase("no", "END", nil)}
	if config["deadline"] != nil {
		phases = append(phases, phase("late", "END", nil))
	}
	return body{"phases": phases, "transitions": transitions}
}

func person(u *ent.User) body { return body{"type": "user", "id": u.ID} }

// decide decides the request's approval as the caller.
func (s *shop) decide(as *ent.User, id, decision string) error {
	_, _, err := op.Run(s.AsUser(as), s.Engine, run.DecideApproval, run.DecideApprovalInput{ByID: op.ByID{ID: id}, Decision: decision}, nil)
	return err
}

// pending waits for the request's approval.
func (s *shop) pending(file *ent.Request) *ent.Approval {
	s.at(file, "WAITING", "ask")
	return s.approval(file)
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, b, c := w.A.Users[principal.Agent], w.A.Users[principal.Member], w.A.Users[principal.Admin]
		notApprover := w.A.Owner
		s := open(t, w, asked(body{"mode": "quorum", "quorum": 2}, person(a), person(b), person(c)))
		s.work()

		r := s.file(nil)
		p := s.pending(r)
		told := func() int {
			return testkit.Run(t, w, w.As(w.A, principal.Member), notice.List, notice.ListInput{}).Total
		}
		require.Eventually(t, func() bool { return told() == 1 }, patience, tick, "approvers are told, members, too")
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(s.decide(notApprover, p.ID, "APPROVE")))
		require.NoError(t, s.decide(a, p.ID, "REJECT"))
		require.Equal(t, apperr.Conflict, apperr.CodeOf(s.decide(a, p.ID, "APPROVE")), "once each")
		require.NoError(t, s.decide(b, p.ID, "APPROVE"), "a member decides what it is asked")
		require.NoError(t, s.decide(c, p.ID, "APPROVE"))
		s.at(r, "COMPLETED", "yes")

		r = s.file(nil)
		p = s.pending(r)
		require.NoError(t, s.decide(a, p.ID, "REJECT"))
		require.NoError(t, s.decide(b, p.ID, "REJECT"))
		require.Equal(t, apperr.Conflict, apperr.CodeOf(s.decide(c, p.ID, "APPROVE")), "no quorum can come about any more")
		s.at(r, "COMPLETED", "no")

		s.publish(asked(body{"mode": "all", "order": "sequential"}, person(a), person(b)))
		r = s.file(nil)
		p = s.pending(r)
		require.Equal(t, apperr.Conflict, apperr.CodeOf(s.decide(b, p.ID, "APPROVE")), "not its turn")
		require.NoError(t, s.decide(a, p.ID, "APPROVE"))
		require.NoError(t, s.decide(b, p.ID, "APPROVE"))
		s.at(r, "COMPLETED", "yes")

		s.publish(asked(body{"mode": "any", "deadline": "1h"}, person(a), person(b)))
		r = s.file(nil)
		p = s.pending(r)
		require.NoError(t, s.decide(b, p.ID, "REJECT"), "the first decision counts")
		s.at(r, "COMPLETED", "no")
		r = s.file(nil)
		p = s.pending(r)
		w.Clock.SetOffset(time.Hour)
		require.Equal(t, apperr.Conflict, apperr.CodeOf(s.decide(a, p.ID, "APPROVE")), "it is too late")
		require.NoError(t, w.Store.Write(principal.System(context.Background(), "the development clock"), func(ctx context.Context, tx *store.Tx) error {
			return w.Queue.Advance(ctx, tx, time.Hour)
		}))
		s.at(r, "COMPLETED", "late")
		w.Clock.SetOffset(0)
	})
}

// An approver may delegate the decision; any member decides for a team; members see only the approvals that they may decide.
func TestDelegationAndTeams(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, member := w.A.Users[principal.Agent], w.A.Users[principal.Member]
		s := open(t, w, asked(body{"mode": "all"}, person(a)))
		s.work()
		r := s.file(nil)
		p := s.pending(r)
		mine := func() int {
			return testkit.Run(t, w, w.AsUser(member), run.ListApprovals, run.ListApprovalsInput{Page: paging.Page{}}).Total
		}
		require.Zero(t, mine())
		waitsFor := func() []string {
			asked, err := notice.Asked(s.ctx, w.Store.Reader(), p.ID)
			require.NoError(t, err)
			ids, err := w.Store.Reader().User.Query().Where(asked).IDs(s.ctx)
			require.NoError(t, err)
			return ids
		}
		require.Equal(t, []string{a.ID}, waitsFor())
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(s.decide(member, p.ID, "APPROVE")))
		delegate := func(as *ent.User, in run.DelegateApprovalInput) error {
			in.ID = p.ID
			_, _, err := op.Run(w.AsUser(as), w.Engine, run.DelegateApproval, in, nil)
			return err
		}
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(delegate(member, run.DelegateApprovalInput{UserID: member.ID})))
		require.Equal(t, apperr.Validation, apperr.CodeOf(delegate(a, run.DelegateApprovalInput{UserID: w.B.Owner.ID})), "of another company")
		require.NoError(t, delegate(a, run.DelegateApprovalInput{UserID: member.ID}))
		require.Equal(t, 1, mine())
		require.Equal(t, []string{member.ID}, waitsFor())
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(s.decide(a, p.ID, "APPROVE")), "no longer an approver")
		require.NoError(t, s.decide(member, p.ID, "APPROVE"))
		require.Empty(t, waitsFor(), "no late notice asks for what is decided")
		s.at(r, "COMPLETED", "yes")

		team := testkit.Run(t, w, s.ctx, people.CreateTeam, people.CreateTeamInput{Name: "Ops", MemberIDs: []string{member.ID}})
		s.publish(asked(body{"mode": "all"}, body{"type": "team", "id": team.ID}))
		r = s.file(nil)
		p = s.pending(r)
		require.NoError(t, s.decide(member, p.ID, "REJECT"))
		s.at(r, "COMPLETED", "no")
	})
}

// An approval without enough remaining approvers becomes an incident. One that the others can still give continues.
func TestApproversWhoLeave(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, member := w.A.Users[principal.Agent], w.A.Users[principal.Member]
		s := open(t, w, asked(body{"mode": "any"}, person(a), person(w.A.Users[principal.Admin])))
		s.work()
		either := s.file(nil)
		s.pending(either)
		team := testkit.Run(t, w, s.ctx, people.CreateTeam, people.CreateTeamInput{Name: "Ops", MemberIDs: []string{member.ID}})
		s.publish(asked(body{"mode": "quorum", "quorum": 2}, person(a), person(w.A.Users[principal.Admin]), body{"type": "team", "id": team.ID}))
		two := s.file(nil)
		require.NoError(t, s.decide(a, s.pending(two).ID, "APPROVE"))
		s.publish(asked(body{"mode": "all"}, body{"type": "team", "id": team.ID}))
		whole := s.file(nil)
		waits := s.pending(whole)

		testkit.Run(t, w, s.ctx, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: a.ID}})
		testkit.Run(t, w, s.ctx, people.UpdateTeam, people.UpdateTeamInput{ByID: op.ByID{ID: team.ID}, MemberIDs: op.SetTo([]string{})})
		require.Eventually(t, func() bool {
			is, err := w.Store.Reader().Approval.Get(s.ctx, waits.ID)
			return err == nil && is.Status == "CANCELLED"
		}, patience, tick)
		require.Equal(t, "participant_missing", s.incident(whole).Code)

		require.NoError(t, s.decide(w.A.Users[principal.Admin], s.approval(two).ID, "APPROVE"), "who left has approved")
		s.at(two, "COMPLETED", "yes")
		require.NoError(t, s.decide(w.A.Users[principal.Admin], s.approval(either).ID, "APPROVE"))
		s.at(either, "COMPLETED", "yes")
	})
}

// Who filed a request does not decide on it: not as one of its approvers, not for a team, not by delegation, and not as a member of a
// quorum, which is missing when only they could fill it.
func TestFilersDoNotDecide(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		filer, other := w.A.Owner, w.A.Users[principal.Agent]
		team := testkit.Run(t, w, w.AsUser(filer), people.CreateTeam, people.CreateTeamInput{Name: "Leads", MemberIDs: []string{filer.ID, other.ID}})
		s := open(t, w, asked(body{"mode": "any"}, person(filer), person(other)))
		s.work()
		mayDecide := func(as *ent.User, id string) bool {
			return testkit.Run(t, w, w.AsUser(as), run.MayDecide, paging.ByIDs{IDs: []string{id}})[id]
		}
		for _, approvers := range [][]body{{person(filer), person(other)}, {{"type": "team", "id": team.ID}}} {
			s.publish(asked(body{"mode": "any"}, approvers...))
			r := s.file(nil)
			p := s.pending(r)
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(s.decide(filer, p.ID, "APPROVE")))
			require.False(t, mayDecide(filer, p.ID))
			require.True(t, mayDecide(other, p.ID))
			require.NoError(t, s.decide(other, p.ID, "APPROVE"))
			s.at(r, "COMPLETED", "yes")
		}

		// Nor does the person for whom it was filed.
		s.publish(asked(body{"mode": "any"}, person(other), person(w.A.Users[principal.Admin])))
		theirs := s.fileFor(other.ID)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(s.decide(other, s.pending(theirs).ID, "APPROVE")))
		require.False(t, mayDecide(other, s.pending(theirs).ID))
		require.NoError(t, s.decide(w.A.Users[principal.Admin], s.pending(theirs).ID, "APPROVE"))
		s.at(theirs, "COMPLETED", "yes")

		s.publish(asked(body{"mode": "any"}, person(other)))
		r := s.file(nil)
		p := s.pending(r)
		testkit.Refused(t, w, w.AsUser(other), run.DelegateApproval, run.DelegateApprovalInput{ByID: op.ByID{ID: p.ID}, UserID: filer.ID}, apperr.Validation, "not by delegation")
		require.NoError(t, s.decide(other, p.ID, "REJECT"))
		s.at(r, "COMPLETED", "no")

		s.publish(asked(body{"mode": "all"}, person(filer), person(other)))
		require.Equal(t, "participant_missing", s.awaitIncident(s.file(nil)).Code, "the filer would have to decide")
	})
}

// Who is an approver in more than one way decides in the place that leaves the most to the others, whoever comes first. Where too few
// people stand for the approvers, the approval is an incident.
func TestApproversWhoStandTwice(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, b := w.A.Users[principal.Agent], w.A.Users[principal.Admin]
		team := func(name string, members ...string) body {
			row := testkit.Run(t, w, w.As(w.A, principal.Owner), people.CreateTeam, people.CreateTeamInput{Name: name, MemberIDs: members})
			return body{"type": "team", "id": row.ID}
		}
		both, one := team("Both", a.ID, b.ID), team("One", a.ID)
		s := open(t, w, asked(body{"mode": "all"}, both, person(a)))
		s.work()
		for _, approvers := range [][]body{{both, person(a)}, {both, one}} {
			for _, order := range [][]*ent.User{{a, b}, {b, a}} {
				s.publish(asked(body{"mode": "all"}, approvers...))
				r := s.file(nil)
				p := s.pending(r)
				for _, who := range order {
					require.NoError(t, s.decide(who, p.ID, "APPROVE"))
				}
				s.at(r, "COMPLETED", "yes")
			}
		}
		s.publish(asked(body{"mode": "all"}, person(a), one))
		alone := s.file(nil)
		require.Eventually(t, func() bool {
			n, err := w.Store.Reader().Incident.Query().Count(s.ctx)
			return err == nil && n == 1
		}, patience, tick)
		require.Equal(t, "participant_missing", s.incident(alone).Code, "one person cannot decide for both")
		s.publish(asked(body{"mode": "quorum", "quorum": 1}, person(a), one))
		r := s.file(nil)
		require.NoError(t, s.decide(a, s.pending(r).ID, "APPROVE"))
		s.at(r, "COMPLETED", "yes")
	})
}

// A person whom the workflow asks can read the request and comment on it, and can do nothing else with it.
func TestThoseWhoAreAsked(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		as := w.AsUser(member)
		reads := func(r *ent.Request) error {
			_, _, err := op.Run(as, w.Engine, requests.Get, op.ByID{ID: r.ID}, nil)
			_, _, said := op.Run(as, w.Engine, requests.CreateComment, requests.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "Yes."}, nil)
			require.Equal(t, apperr.CodeOf(err), apperr.CodeOf(said), "%v %v", err, said)
			if err == nil {
				list := testkit.Run(t, w, as, requests.ListComments, requests.ListCommentsInput{ByID: op.ByID{ID: r.ID}})
				require.Len(t, list.Rows, 1, "the public ones")
				testkit.Run(t, w, as, requests.GetComment, op.ByID{ID: list.Rows[0].ID})
			}
			require.Equal(t, err == nil, testkit.Run(t, w, as, requests.LookUpRequests, paging.ByIDs{IDs: []string{r.ID}})[r.ID] != nil, "edges agree with single reads")
			require.Equal(t, err == nil, testkit.Run(t, w, as, requests.LookUp, requests.LookUpInput{IDs: []string{r.ID}})[r.ID] != nil, "and so do subscriptions")
			require.Equal(t, err == nil, explained(t, w, member, "read", "Request", r.ID), "and what admins are told of it")
			require.False(t, explained(t, w, member, "update", "Request", r.ID))
			_, _, changed := op.Run(as, w.Engine, requests.Update, requests.UpdateInput{ByID: op.ByID{ID: r.ID}, Title: op.SetTo("Mine")}, nil)
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(changed))
			return err
		}
		internal := "internal"
		file := func(s *shop) *ent.Request {
			r := s.file(nil)
			testkit.Run(t, w, s.ctx, requests.CreateComment, requests.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "Among us.", Visibility: &internal})
			return r
		}
		s := open(t, w, asked(body{"mode": "any"}, person(w.A.Users[principal.Admin])))
		s.work()
		strange := file(s)
		s.pending(strange)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(reads(strange)))

		s.publish(asked(body{"mode": "any"}, person(member)))
		approves := file(s)
		require.True(t, explained(t, w, member, "update", "Approval", s.pending(approves).ID))
		require.NoError(t, reads(approves))

		team := testkit.Run(t, w, s.ctx, people.CreateTeam, people.CreateTeamInput{Name: "Ops", MemberIDs: []string{member.ID}})
		for _, role := range []string{"responsible", "consulted"} {
			does := phase("does", "PROCESS", nil)
			does["participants"] = []body{{"role": role, "type": "team", "id": team.ID}}
			s.publish(line([]body{phase("start", "START", nil), does, phase("done", "END", nil)}))
			r := file(s)
			s.at(r, "WAITING", "does")
			require.NoError(t, reads(r), role)
		}
	})
}

// The accountable person signs the task's outcome off; a refusal opens the task again.
func TestAccountableSignsOff(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		ask := phase("ask", "PROCESS", nil)
		ask["participants"] = []body{{"role": "responsible", "type": "user", "id": w.A.Owner.ID}, {"role": "accountable", "type": "user", "id": member.ID}}
		s := open(t, w, line([]body{phase("start", "START", nil), ask, phase("done", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "ask")
		sign := func(decision string) {
			s.complete(r, "", body{"note": decision})
			var p *ent.Approval
			require.Eventually(t, func() bool {
				var err error
				p, err = w.Store.Reader().Approval.Query().Order(ent.Desc("id")).First(s.ctx)
				return err == nil && p.Status == "PENDING"
			}, patience, tick)
			require.True(t, p.SignOff)
			require.NoError(t, s.decide(member, p.ID, decision))
		}
		sign("REJECT")
		require.Eventually(t, func() bool { return len(s.tasks(r, "OPEN")) == 1 }, patience, tick)
		sign("APPROVE")
		s.at(r, "COMPLETED", "done")
		require.Equal(t, []string{"start COMPLETED", "ask COMPLETED", "done COMPLETED"}, s.path(r))
	})
}

// Members see, claim and complete only their own tasks and those of their teams.
func TestTasksOfMembers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		ctx := w.AsUser(member)
		team := testkit.Run(t, w, w.As(w.A, principal.Owner), people.CreateTeam, people.CreateTeamInput{Name: "Ops", MemberIDs: []string{member.ID}})
		mine, theirs := phase("mine", "PROCESS", nil), phase("theirs", "PROCESS", nil)
		mine["participants"] = []body{{"role": "responsible", "type": "team", "id": team.ID}}
		theirs["participants"] = []body{{"role": "responsible", "type": "user", "id": w.A.Owner.ID}}
		s := open(t, w, line([]body{phase("start", "START", nil), mine, theirs, phase("done", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "mine")
		task := s.task(r)
		see := func() int { return testkit.Run(t, w, ctx, run.ListTasks, run.ListTasksInput{}).Total }
		require.Equal(t, 1, see())
		require.True(t, explained(t, w, member, "update", "Task", task.ID))
		may, err := op.MayOn(ctx, w.Engine, task)
		require.NoError(t, err)
		require.Equal(t, []string{"task.claim", "task.complete"}, may)
		claimed := testkit.Run(t, w, ctx, run.ClaimTask, op.ByID{ID: task.ID})
		require.Equal(t, []string{member.ID, "IN_PROGRESS"}, []string{*claimed.AssigneeID, string(claimed.Status)})
		testkit.Refused(t, w, s.ctx, run.ClaimTask, op.ByID{ID: task.ID}, apperr.Conflict, "somebody has it")
		testkit.Run(t, w, ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: task.ID}})
		s.at(r, "WAITING", "theirs")
		require.Equal(t, 1, see(), "the one that is done")
		other := s.task(r)
		require.False(t, explained(t, w, member, "update", "Task", other.ID))
		for name, err := range map[string]error{
			"read": second(op.Run(ctx, w.Engine, run.GetTask, op.ByID{ID: other.ID}, nil)), "claim": second(op.Run(ctx, w.Engine, run.ClaimTask, op.ByID{ID: other.ID}, nil)),
			"complete": second(op.Run(ctx, w.Engine, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: other.ID}}, nil)),
			"assign":   second(op.Run(ctx, w.Engine, run.AssignTask, run.AssignTaskInput{ByID: op.ByID{ID: other.ID}, AssigneeID: &member.ID}, nil)),
		} {
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), name)
		}
		assigned := testkit.Run(t, w, w.As(w.A, principal.Agent), run.AssignTask, run.AssignTaskInput{ByID: op.ByID{ID: other.ID}, AssigneeID: &member.ID})
		require.Equal(t, member.ID, *assigned.AssigneeID)
		require.Equal(t, []string{"task.assigned", "task.assigned"}, s.audited(other.ID))
		testkit.Run(t, w, ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: other.ID}})
		s.at(r, "COMPLETED", "done")
	})
}

// explained reports what an owner is told: whether somebody may do something.
func explained(t *testing.T, w *testkit.World, who *ent.User, action, resource, id string) bool {
	t.Helper()
	return testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Explain, policy.ExplainInput{PrincipalID: who.ID, Action: action, ResourceType: resource, ResourceID: &id}).Allowed
}

// second returns the error of op.Run.
func second[Out any](_ Out, _ *op.Answer, err error) error { return err }

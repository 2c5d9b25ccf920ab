package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

// stranded is an execution whose only phase waits for a person, with a task of it. No jobs run here, so nothing moves on by
// itself.
type stranded struct{ execution, task, incident string }

func strand(t *testing.T, s *apitest.Server, of *testkit.Tenant) stranded {
	t.Helper()
	flow := func(second string) workflow.Definition {
		return workflow.NewDefinition([]byte(`{"phases":[{"id":"start","type":"START"},{"id":"` + second + `","type":"PROCESS"},{"id":"done","type":"END"}],
			"transitions":[{"from":"start","name":"next","to":"` + second + `"},{"from":"` + second + `","name":"next","to":"done"}]}`))
	}
	ctx := s.World.As(of, principal.Owner)
	w := testkit.Run(t, s.World, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Process", Definition: flow("work")})
	testkit.Run(t, s.World, ctx, workflow.PublishWorkflow, op.ByID{ID: w.ID})
	testkit.Run(t, s.World, ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: w.ID}, Definition: op.SetTo(flow("review"))})
	testkit.Run(t, s.World, ctx, workflow.PublishWorkflow, op.ByID{ID: w.ID})
	var out stranded
	require.NoError(t, s.World.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		e, err := tx.Execution.Create().SetWorkflowID(w.ID).SetWorkflowVersion(1).SetTrigger(execution.TriggerRequest).SetStatus(execution.StatusWAITING).
			SetState(json.RawMessage(`{"Status":"WAITING","Visit":{"Number":2,"PhaseID":"work","Type":"PROCESS","Status":"WAITING",` +
				`"StartedAt":"2026-01-02T03:04:05Z","Attempts":1},"Wait":{"for":"incident"},"Phases":{"start":{},"work":{"n":1}}}`)).Save(ctx)
		if err != nil {
			return err
		}
		task, err := tx.Task.Create().SetExecutionID(e.ID).SetPhaseID("work").SetVisit(2).SetAttempt(1).SetTitle("Work").Save(ctx)
		if err != nil {
			return err
		}
		i, err := tx.Incident.Create().SetExecutionID(e.ID).SetPhaseID("work").SetVisit(2).SetAttempt(1).SetCode("call_failed").SetMessage("m").Save(ctx)
		if err != nil {
			return err
		}
		out = stranded{e.ID, task.ID, i.ID}
		return nil
	}))
	return out
}

// A move to another version is previewed and made.
func TestMoveToAnotherVersion(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		x := strand(t, s, s.World.A)
		const preview = `query($id: ID!, $phase: String) { previewMove(id: $id, version: 2, phaseId: $phase) { version phaseId status phases { phaseId status } lost { phaseId variables } passed { phaseId mayDecide } } }`
		a := ask(t, s, s.A.Agent, preview, vars{"id": x.incident, "phase": "review"})
		require.Equal(t, vars{
			"version": 2.0, "phaseId": "review", "status": "WAITING",
			"phases": []any{vars{"phaseId": "work", "status": "SKIPPED"}, vars{"phaseId": "review", "status": "WAITING"}},
			"lost":   []any{vars{"phaseId": "work", "variables": vars{"n": 1.0}}},
			"passed": []any{},
		}, a.Get("data.previewMove"))
		a = send(t, s, s.A.Agent, preview, vars{"id": x.incident, "phase": nil})
		require.Equal(t, "phaseId", a.Text("errors.0.extensions.details.0.field"))
		require.Equal(t, "not_found", send(t, s, s.B.Owner, preview, vars{"id": x.incident, "phase": "review"}).Text("errors.0.extensions.code"))
		require.Equal(t, "forbidden", send(t, s, s.A.Member, preview, vars{"id": x.incident, "phase": "review"}).Text("errors.0.extensions.code"))
		a = ask(t, s, s.A.Agent, `mutation($id: ID!) { resolveIncident(input: {id: $id, action: MOVE, version: 2, phaseId: "review"}) { incident { resolution toVersion toPhaseId } } }`, vars{"id": x.incident})
		require.Equal(t, vars{"resolution": "MOVE", "toVersion": 2.0, "toPhaseId": "review"}, a.Get("data.resolveIncident.incident"))
		require.Contains(t, string(s.Audit(t, a.RequestID())[0].Changes), "toVersion")
	})
}

// Executions and tasks can be watched like requests: by callers who may see them, in their own company, by filter and by id.
func TestExecutionsAndTasksAreWatched(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		mine := strand(t, s.Server, s.World.A)
		const executions = `subscription($id: ID, $f: ExecutionFilter) { executionChanged(id: $id, filter: $f) { change execution { id status variables } } }`
		const tasks = `subscription($id: ID, $f: TaskFilter) { taskChanged(id: $id, filter: $f) { change task { id status assigneeId } } }`
		ended := s.watch(t, s.A.Owner, executions, vars{"f": vars{"status": []string{"CANCELLED"}}})
		one := s.watch(t, s.A.Agent, executions, vars{"id": mine.execution})
		agents := s.watch(t, s.A.Agent, tasks, nil)
		members := s.watch(t, s.A.Member, tasks, nil)
		others := s.watch(t, s.B.Owner, tasks, nil)

		ask(t, s.Server, s.A.Owner, `mutation($i: AssignTaskInput!) { assignTask(input: $i) { task { id } } }`, vars{"i": vars{"id": mine.task, "assigneeId": s.A.Member.UserID}})
		for _, o := range []*opening{agents, members} {
			require.Equal(t, vars{"change": "UPDATED", "task": vars{"id": mine.task, "status": "OPEN", "assigneeId": s.A.Member.UserID}}, o.result(t).get("data.taskChanged"))
		}
		ask(t, s.Server, s.A.Owner, `mutation($id: ID!) { cancelExecution(input: {id: $id}) { execution { id } } }`, vars{"id": mine.execution})
		for _, o := range []*opening{ended, one} {
			e := o.result(t)
			require.Equal(t, "UPDATED", e.get("data.executionChanged.change"))
			require.Equal(t, mine.execution, e.get("data.executionChanged.execution.id"))
			require.Equal(t, "CANCELLED", e.get("data.executionChanged.execution.status"))
		}
		require.Equal(t, "CANCELLED", members.result(t).get("data.taskChanged.task.status"))

		theirs := strand(t, s.Server, s.World.B)
		require.Equal(t, vars{"change": "CREATED", "task": vars{"id": theirs.task, "status": "OPEN", "assigneeId": nil}}, others.result(t).get("data.taskChanged"),
			"the first that they are told of is their own")
		refused := s.subscribe(t, s.A.Member, executions, nil)
		require.Equal(t, 403, refused.status, "members read no executions")
	})
}

// A page learns of each approval whether decideApproval would take its viewer's decision now: whose turn it is in a sequence, who has
// decided already, who decides for a team, and in whose place. The number of statements does not grow with the
// approvals, nor does that of what they show.
func TestApprovalsTellWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		x, u := strand(t, s, s.World.A), s.World.A.Users
		owner := s.World.As(s.World.A, principal.Owner)
		person := func(role principal.Role) vars { return vars{"type": "user", "id": u[role].ID} }
		desk := testkit.Run(t, s.World, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk", MemberIDs: []string{u[principal.Agent].ID, u[principal.Admin].ID}})
		attempt := 0
		asked := func(set func(*ent.ApprovalCreate), approvers ...vars) (id string) {
			t.Helper()
			attempt++
			raw, err := json.Marshal(approvers)
			require.NoError(t, err)
			require.NoError(t, s.World.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
				c := tx.Approval.Create().SetExecutionID(x.execution).SetPhaseID("work").SetVisit(2).SetAttempt(attempt).SetTitle("T").SetMode(approval.ModeAll).SetApprovers(raw)
				set(c)
				a, err := c.Save(ctx)
				if err == nil {
					id = a.ID
				}
				return err
			}))
			return id
		}
		as := func(role principal.Role) apitest.Caller { return s.Session(t, u[role]) }
		statements := counting(s)
		may := func(who apitest.Caller) map[string]bool {
			t.Helper()
			statements.Store(0)
			out := map[string]bool{}
			a := ask(t, s, who, `{ approvals(first: 50) { edges { node { id viewerMayDecide shown { phaseId fields { key } } } } } }`, nil)
			nodes, _ := a.Get("data.approvals.edges").([]any)
			for i := range nodes {
				at := fmt.Sprintf("data.approvals.edges.%d.node.", i)
				out[a.Text(at+"id")] = a.Get(at+"viewerMayDecide") == true
			}
			return out
		}
		decide := func(who apitest.Caller, id string) string {
			t.Helper()
			a := send(t, s, who, `mutation($id: ID!) { decideApproval(input: {id: $id, decision: APPROVE}) { approval { viewerMayDecide } } }`, vars{"id": id})
			if !a.Has("errors") {
				require.Equal(t, false, a.Get("data.decideApproval.approval.viewerMayDecide"), "nobody decides twice")
			}
			return a.Text("errors.0.extensions.code")
		}
		member, agent, admin := as(principal.Member), as(principal.Agent), as(principal.Admin)

		inTurn := asked(func(c *ent.ApprovalCreate) { c.SetSequential(true) }, person(principal.Member), person(principal.Agent))
		require.Equal(t, map[string]bool{inTurn: true}, may(member))
		may(member) // the policies are in memory now
		few := statements.Load()
		ofTeam := asked(func(*ent.ApprovalCreate) {}, vars{"type": "team", "id": desk.ID}, person(principal.Member))
		late := asked(func(c *ent.ApprovalCreate) { c.SetExpiresAt(s.World.Clock.Now().Add(-time.Hour)) }, person(principal.Member))
		given := asked(func(c *ent.ApprovalCreate) { c.SetStatus(approval.StatusAPPROVED) }, person(principal.Member))
		require.Equal(t, map[string]bool{inTurn: true, ofTeam: true, late: false, given: false}, may(member))
		require.Equal(t, few, statements.Load(), "whatever the number of approvals")
		require.Equal(t, map[string]bool{inTurn: false, ofTeam: true, late: false, given: false}, may(agent))
		require.Equal(t, map[string]bool{inTurn: false, ofTeam: false, late: false, given: false}, may(as(principal.Owner)), "who is no approver")
		scoped := s.Key(t, s.World.A, u[principal.Member], apitest.KeyOptions{Scopes: []string{"requests:read"}})
		require.Equal(t, map[string]bool{inTurn: false, ofTeam: false, late: false, given: false}, may(scoped), "a key that changes nothing")

		for _, who := range []apitest.Caller{agent, as(principal.Owner), scoped} {
			for id, allowed := range may(who) {
				if !allowed {
					require.Contains(t, []string{"forbidden", "conflict"}, decide(who, id))
				}
			}
		}
		require.Empty(t, decide(member, inTurn))
		require.Empty(t, decide(agent, ofTeam))
		require.Equal(t, map[string]bool{inTurn: false, ofTeam: true, late: false, given: false}, may(member))
		require.True(t, may(agent)[inTurn], "the next one's turn")
		require.False(t, may(agent)[ofTeam])
		require.False(t, may(admin)[ofTeam], "a teammate has decided")

		ask(t, s, agent, `mutation($id: ID!, $to: ID!) { delegateApproval(input: {id: $id, userId: $to}) { approval { id } } }`, vars{"id": inTurn, "to": u[principal.Admin].ID})
		require.False(t, may(agent)[inTurn])
		require.True(t, may(admin)[inTurn], "in the agent's place")
		ask(t, s, as(principal.Owner), `mutation($in: CreateAccessPolicyInput!) { createAccessPolicy(input: $in) { accessPolicy { id } } }`, vars{"in": vars{
			"name": "No", "effect": "Deny", "action": "update", "resource": "Approval", "condition": vars{"principal.role": "admin"},
		}})
		require.False(t, may(admin)[inTurn], "a policy forbids it")
		require.Equal(t, "forbidden", decide(admin, inTurn))
	})
}

// An execution in a block says where all of its branches stand.
func TestExecutionInABlock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		x := strand(t, s, s.World.A)
		ctx := s.World.As(s.World.A, principal.Owner)
		require.NoError(t, s.World.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			branch := func(name, number, phase string) string {
				return `{"Name":"` + name + `","State":{"Status":"WAITING","Visit":{"Number":` + number + `,"PhaseID":"` + phase + `"},"Phases":{"` + phase + `":{"n":1}}}}`
			}
			err := tx.Execution.UpdateOneID(x.execution).SetPhaseID("both").SetState(json.RawMessage(`{"Status":"WAITING","Visit":{"Number":2,"PhaseID":"both","Type":"PARALLEL"},"Phases":{"start":{}},` +
				`"Block":{"Branches":[` + branch("Work", "3", "work") + "," + branch("Check", "4", "check") + `]}}`)).Exec(ctx)
			if err != nil {
				return err
			}
			return tx.PhaseVisit.Create().SetExecutionID(x.execution).SetNumber(3).SetPhaseID("work").SetType("PROCESS").SetStatus("WAITING").SetStartedAt(time.Now()).SetBranch("Work").Exec(ctx)
		}))
		a := ask(t, s, s.A.Agent, `query($id: ID!) { execution(id: $id) { phaseId phaseIds variables phases { phaseId branch } } }`, vars{"id": x.execution})
		require.Equal(t, vars{
			"phaseId": "both", "phaseIds": []any{"work", "check"}, "phases": []any{vars{"phaseId": "work", "branch": "Work"}},
			"variables": vars{"request": nil, "webhook": nil, "phases": vars{"start": vars{}, "work": vars{"n": 1.0}, "check": vars{"n": 1.0}}},
		}, a.Get("data.execution"))
	})
}

// An execution leads to the one that has called it, and the other way round.
func TestExecutionThatIsCalled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		x := strand(t, s, s.World.A)
		ctx, called := s.World.As(s.World.A, principal.Owner), ""
		require.NoError(t, s.World.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			caller, err := tx.Execution.Get(ctx, x.execution)
			if err != nil {
				return err
			}
			row, err := tx.Execution.Create().SetWorkflowID(caller.WorkflowID).SetWorkflowVersion(1).SetTrigger("workflow").SetParentID(caller.ID).SetParentPhaseID("work").
				SetParentBranch("Rooms / 2").SetParentVisit(2).SetParentAttempt(1).SetRootID(caller.ID).SetDepth(1).SetInput(json.RawMessage(`{"room":"A1"}`)).Save(ctx)
			called = row.ID
			return err
		}))
		a := ask(t, s, s.A.Agent, `query($id: ID!, $of: ID!) { execution(id: $id) { trigger parentId parentPhaseId parentBranch parent { id parentId } variables }
			executions(filter: {parentId: [$of]}) { edges { node { id } } } none: executions(filter: {parentId: [$id]}) { totalCount } }`, vars{"id": called, "of": x.execution})
		require.Equal(t, vars{
			"trigger": "workflow", "parentId": x.execution, "parentPhaseId": "work", "parentBranch": "Rooms / 2", "parent": vars{"id": x.execution, "parentId": nil},
			"variables": vars{"request": nil, "webhook": nil, "input": vars{"room": "A1"}, "phases": vars{}},
		}, a.Get("data.execution"))
		require.Equal(t, []any{vars{"node": vars{"id": called}}}, a.Get("data.executions.edges"))
		require.Equal(t, 0, a.Int("data.none.totalCount"))
	})
}

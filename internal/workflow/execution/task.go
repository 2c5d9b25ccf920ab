package execution

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/predicate"
	"atrium/ent/task"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/participant"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

var taskSorts = op.Sorts{"createdAt": task.FieldCreatedAt, "updatedAt": task.FieldUpdatedAt, "status": task.FieldStatus + "," + task.FieldCreatedAt}

// The operations on tasks. Members reach tasks that are assigned to them or to one of their teams, and read those about which a
// workflow asks them. Lists have the latter only for given requests or executions: no index covers whom an execution has asked.
var (
	ListTasks = op.New("task.list", op.Spec{
		Resource: "Task", Action: op.Read, Scope: "requests:read", Sorts: taskSorts, Summary: "List tasks",
	}, listTasks)

	GetTask = op.OnRow("task.read", op.Spec{
		Resource: "Task", Action: op.Read, Scope: "requests:read", Summary: "Get a task",
	}, loadTask, withShown(ofTasks)).Reaching(participant.SeesTask)

	CompleteTask = op.OnRow("task.complete", op.Spec{
		Resource: "Task", Action: op.Update, Scope: "requests:write", Summary: "Complete a task, by one of its outcomes",
	}, loadTask, showing(shownByTask, completeTask)).Reaching(participant.InTask).Prepared(prepareCompletion)

	ClaimTask = op.OnRow("task.claim", op.Spec{
		Resource: "Task", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"task.claim": events.TaskAssigned},
		Summary: "Take a task that nobody else works",
	}, loadTask, showing(shownByTask, claimTask)).Reaching(participant.InTask).Prepared(func(ctx context.Context, tx *op.Tx, in op.ByID) (any, error) {
		return prepareShown(ctx, tx, in.ID)
	})

	AssignTask = op.OnRow("task.assign", op.Spec{
		Resource: "Task", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"task.assign": events.TaskAssigned},
		Summary: "Give a task to a user, a team or an agent",
	}, loadTask, showing(shownByTask, assignTask)).Reaching(participant.InTask).Prepared(func(ctx context.Context, tx *op.Tx, in AssignTaskInput) (any, error) {
		return prepareShown(ctx, tx, in.ID)
	})
)

// ListTasksInput filters and pages the list.
type ListTasksInput struct {
	paging.Page
	Status      []string `json:"-" query:"status" enum:"OPEN,IN_PROGRESS,COMPLETED,CANCELLED"`
	ExecutionID []string `json:"-" query:"executionId" maxLength:"64"`
	RequestID   []string `json:"-" query:"requestId" maxLength:"64"`
	AssigneeID  []string `json:"-" query:"assigneeId" maxLength:"64" doc:"none finds those that no user has."`
	TeamID      []string `json:"-" query:"teamId" maxLength:"64" doc:"none finds those that no team has."`
}

func tasksOf(_ context.Context, tx *op.Tx, in ListTasksInput) *ent.TaskQuery {
	var where []predicate.Task
	if tx.AssignedOnly() {
		reached := participant.Works(tx.Principal().ID)
		if len(in.RequestID)+len(in.ExecutionID) > 0 {
			reached = task.Or(reached, participant.Asked(tx.Principal().ID))
		}
		where = append(where, reached)
	}
	where = paging.In(where, in.Status, task.StatusIn)
	where = paging.In(where, in.ExecutionID, task.ExecutionIDIn)
	where = paging.In(where, in.RequestID, task.RequestIDIn)
	where = paging.InOrNone(where, in.AssigneeID, task.AssigneeIDIn, task.AssigneeIDIsNil)
	where = paging.InOrNone(where, in.TeamID, task.TeamIDIn, task.TeamIDIsNil)
	return tx.Task.Query().Where(where...)
}

func loadTask(ctx context.Context, tx *op.Tx, id string) (*ent.Task, error) {
	return op.Lock(tx, tx.Task.Query().Where(task.ID(id))).Only(ctx)
}

// CompleteTaskInput says how a task ended.
type CompleteTaskInput struct {
	op.ByID
	Outcome   *string           `json:"outcome,omitempty" nullable:"true" maxLength:"100" doc:"One of the task's outcomes; next when not given."`
	Variables strictjson.Object `json:"variables,omitempty" nullable:"true" doc:"What the task's form asks for. Of a task that asks for corrections: fields of the request."`
}

// AccountableFor returns the first user who is accountable for the phase of a task; empty for none. Call it outside of
// transactions.
func AccountableFor(ctx context.Context, tx *op.Tx, t *ent.Task) (string, error) {
	p, err := phaseOf(ctx, tx, t.ExecutionID, t.PhaseID)
	if err != nil {
		return "", err
	}
	all := tx.Unfiltered(ctx, "whom a phase names does not depend on who asks")
	list, err := peopleNow(all, tx.Client, nowAt{t.ExecutionID, t.RequestID, t.Visit}, p, accountable)
	if err != nil {
		return "", err
	}
	for _, one := range list {
		if one.Type == "user" {
			return one.ID, nil
		}
	}
	return "", nil
}

func completeTask(ctx context.Context, tx *op.Tx, t *ent.Task, _ CompleteTaskInput) (*ent.Task, error) {
	c, ok := op.Preparation[completion](tx)
	if !ok {
		return nil, op.ErrOutdated
	}
	if err := mustBeOpen(t); err != nil {
		return nil, err
	}
	if len(c.faults) > 0 {
		return nil, apperr.Invalid(c.faults...)
	}
	if t.RequestID != nil {
		if err := attachment.ClaimAnswers(ctx, tx, "variables", c.files, *t.RequestID, c.already); err != nil {
			return nil, err
		}
	}
	now := tx.Now(ctx)
	t, err := advanceTask(ctx, tx, t, now) // what fell due before the completion must fire before it
	if err != nil {
		return nil, err
	}
	u := t.Update().SetStatus(task.StatusCOMPLETED).SetNillableOutcome(c.outcome).SetCompletedBy(tx.Principal().ID).SetCompletedAt(now)
	if len(c.written) > 0 {
		raw, err := encode(c.written)
		if err != nil {
			return nil, err
		}
		u.SetVariables(raw)
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("complete the task: %w", err)
	}
	if after, err = advanceTask(ctx, tx, after, now); err != nil {
		return nil, err
	}
	tx.Changed(t, after)
	if err := emitTask(ctx, tx, events.TaskCompleted, after); err != nil {
		return nil, err
	}
	return after, insertStep(ctx, tx, after.ExecutionID)
}

// insertStep inserts the job that makes the execution look at its inputs.
func insertStep(ctx context.Context, tx *op.Tx, executionID string) error {
	return tx.Insert(ctx, StepArgs{Company: tx.Principal().CompanyID, Execution: executionID, Cause: causeOf(ctx)}, time.Time{})
}

// mustBeOpen returns conflict for a task that has ended.
func mustBeOpen(t *ent.Task) error {
	if !lifecycle.TaskOpen(t.Status) {
		return apperr.New(apperr.Conflict, "The task is %s.", t.Status)
	}
	return nil
}

// claimTask assigns the task to the caller, unless another user has it.
func claimTask(ctx context.Context, tx *op.Tx, t *ent.Task, _ op.ByID) (*ent.Task, error) {
	me := tx.Principal().ID
	if err := mustBeOpen(t); err != nil {
		return nil, err
	}
	if t.AssigneeID != nil && *t.AssigneeID != me {
		return nil, apperr.New(apperr.Conflict, "Somebody else has the task.")
	}
	exists, err := op.Share(tx, tx.User.Query().Where(user.ID(me), access.Here())).Exist(tx.Unfiltered(ctx, "the caller is there, whatever it sees of itself"))
	if err != nil {
		return nil, fmt.Errorf("look the caller up: %w", err)
	}
	if !exists {
		return nil, apperr.New(apperr.Conflict, "Only a person can take a task.")
	}
	if t.AssigneeID != nil && t.Status == task.StatusIN_PROGRESS {
		return t, nil
	}
	now := tx.Now(ctx)
	if t, err = advanceTask(ctx, tx, t, now); err != nil {
		return nil, err
	}
	u := t.Update().SetAssigneeID(me).SetStatus(task.StatusIN_PROGRESS)
	if t.ClaimedAt == nil {
		u.SetClaimedAt(now)
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("claim the task: %w", err)
	}
	if after, err = advanceTask(ctx, tx, after, now); err != nil {
		return nil, err
	}
	tx.Changed(t, after)
	return after, emitTask(ctx, tx, events.TaskAssigned, after)
}

// AssignTaskInput says who works the task. A field that is not given clears that assignment.
type AssignTaskInput struct {
	op.ByID
	AssigneeID *string `json:"assigneeId,omitempty" nullable:"true" maxLength:"64"`
	TeamID     *string `json:"teamId,omitempty" nullable:"true" maxLength:"64"`
	AgentID    *string `json:"agentId,omitempty" nullable:"true" maxLength:"64"`
}

func assignTask(ctx context.Context, tx *op.Tx, t *ent.Task, in AssignTaskInput) (*ent.Task, error) {
	if err := mustBeOpen(t); err != nil {
		return nil, err
	}
	var refs op.Refs
	refs.Check("assigneeId", in.AssigneeID, "active user", op.FindShared(ctx, tx, func(id string) *ent.UserQuery {
		return tx.User.Query().Where(user.ID(id), access.Here()) // a deactivation waits, and hands the task over
	}))
	refs.Check("teamId", in.TeamID, "team", op.FindShared(ctx, tx, func(id string) *ent.TeamQuery { return tx.Team.Query().Where(team.ID(id)) }))
	refs.Check("agentId", in.AgentID, "WORKFLOW_PHASE agent", op.FindShared(ctx, tx, func(id string) *ent.AgentQuery {
		return tx.Agent.Query().Where(agent.ID(id), agent.TypeEQ(agent.TypeWORKFLOW_PHASE))
	}))
	if err := refs.Err(); err != nil {
		return nil, err
	}
	if in.AssigneeID == nil && in.TeamID == nil && in.AgentID == nil {
		return nil, apperr.InvalidField("assigneeId", "is needed unless teamId or agentId says who works the task")
	}
	u := t.Update().ClearAssigneeID().ClearTeamID().ClearAgentID().SetNillableAssigneeID(in.AssigneeID).SetNillableTeamID(in.TeamID).SetNillableAgentID(in.AgentID)
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("assign the task: %w", err)
	}
	tx.Changed(t, after)
	return after, emitTask(ctx, tx, events.TaskAssigned, after)
}

// emitTask emits an event of a task.
func emitTask(ctx context.Context, tx *op.Tx, event string, t *ent.Task) error {
	return tx.Emit(ctx, event, t.ID, events.Task{
		ID: t.ID, ExecutionID: &t.ExecutionID, RequestID: t.RequestID, PhaseID: &t.PhaseID, Title: t.Title, Status: string(t.Status),
		AssigneeID: t.AssigneeID, TeamID: t.TeamID, AgentID: t.AgentID, Outcome: t.Outcome,
	})
}

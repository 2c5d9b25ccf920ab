package rest

import (
	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/desk/sla"
	"atrium/internal/workflow/execution"
)

// Task is a task as answers show it.
type Task struct {
	ID           string           `json:"id" example:"task_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ExecutionID  string           `json:"executionId" example:"exe_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RequestID    *string          `json:"requestId" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	PhaseID      string           `json:"phaseId" example:"hand_out"`
	Title        string           `json:"title" example:"Hand out the laptop"`
	Instructions *string          `json:"instructions" example:"In person, against a signature."`
	Status       string           `json:"status" enum:"OPEN,IN_PROGRESS,COMPLETED,CANCELLED"`
	AssigneeID   *string          `json:"assigneeId" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	TeamID       *string          `json:"teamId" example:"team_01k9ye4ryzf7stj6dqnm8x2v3b"`
	AgentID      *string          `json:"agentId" example:"agt_01k9ye4ryzf7stj6dqnm8x2v3b"`
	DueAt        *Time            `json:"dueAt"`
	ClaimedAt    *Time            `json:"claimedAt" doc:"When somebody first took it."`
	SLA          *RequestSLA      `json:"sla" doc:"Where the task stands against the service levels of its phase."`
	Form         *form.Definition `json:"form" doc:"What the completion's variables must answer; null for anything."`
	Outcomes     []string         `json:"outcomes" doc:"What the completion may name as its outcome." example:"[\"next\"]"`
	Corrections  []Correction     `json:"corrections" doc:"What is to be corrected in the request, of a task that asks for that."`
	Outcome      *string          `json:"outcome" example:"next"`
	Variables    Object           `json:"variables" doc:"What it was completed with." example:"{\"serial\": \"X1\"}"`
	CompletedBy  *string          `json:"completedBy" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	CompletedAt  *Time            `json:"completedAt"`
	CreatedAt    Time             `json:"createdAt"`
	UpdatedAt    Time             `json:"updatedAt"`
}

// Correction is a fault in a request that the requester must correct.
type Correction struct {
	Field   string `json:"field" example:"costCentre"`
	Message string `json:"message" example:"There is no such cost centre."`
}

func taskOut(t *ent.Task) Task {
	return Task{
		ID: t.ID, ExecutionID: t.ExecutionID, RequestID: t.RequestID, PhaseID: t.PhaseID, Title: t.Title, Instructions: textOrNil(t.Instructions),
		Status: string(t.Status), AssigneeID: t.AssigneeID, TeamID: t.TeamID, AgentID: t.AgentID, DueAt: atOrNil(t.DueAt), ClaimedAt: atOrNil(t.ClaimedAt),
		SLA:  slaOut(sla.StatusOf(t.SLAState, t.ResponseDueAt, t.ResolutionDueAt)),
		Form: parsed[form.Definition](t.Form), Outcomes: append([]string{}, t.Outcomes...), Corrections: parsedList[Correction](t.Corrections),
		Outcome: t.Outcome, Variables: objectOut(t.Variables), CompletedBy: t.CompletedBy, CompletedAt: atOrNil(t.CompletedAt),
		CreatedAt: at(t.CreatedAt), UpdatedAt: at(t.UpdatedAt),
	}
}

// Approval is an approval as answers show it.
type Approval struct {
	ID          string     `json:"id" example:"apr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ExecutionID string     `json:"executionId" example:"exe_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RequestID   *string    `json:"requestId" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	PhaseID     string     `json:"phaseId" example:"approve"`
	Title       string     `json:"title" example:"Approve the purchase"`
	Status      string     `json:"status" enum:"PENDING,APPROVED,REJECTED,EXPIRED,CANCELLED" doc:"CANCELLED with its execution."`
	SignOff     bool       `json:"signOff" doc:"Whether it is about the outcome of the phase's task." example:"false"`
	Mode        string     `json:"mode" enum:"any,all,quorum"`
	Quorum      int        `json:"quorum" doc:"How many must approve, with the mode quorum." example:"0"`
	Sequential  bool       `json:"sequential" doc:"Whether the approvers decide in the order of the list." example:"false"`
	Approvers   []Approver `json:"approvers"`
	Decisions   []Decision `json:"decisions" doc:"In the order in which they came."`
	ExpiresAt   *Time      `json:"expiresAt"`
	CreatedAt   Time       `json:"createdAt"`
	UpdatedAt   Time       `json:"updatedAt"`
}

// Approver is a user, or a team of which any member may decide.
type Approver struct {
	Type string `json:"type" enum:"user,team"`
	ID   string `json:"id" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

// Decision is what an approver decided.
type Decision struct {
	By      string `json:"by" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Approve bool   `json:"approve" example:"true"`
	Comment string `json:"comment" example:"Within the budget."`
	At      Time   `json:"at"`
}

func approvalOut(a *ent.Approval) Approval {
	kept, _ := execution.DecisionsOf(a) // unreadable decisions are shown as none
	decisions := make([]Decision, len(kept))
	for i, d := range kept {
		decisions[i] = Decision{By: d.By, Approve: d.Approve, Comment: d.Comment, At: at(d.At)}
	}
	return Approval{
		ID: a.ID, ExecutionID: a.ExecutionID, RequestID: a.RequestID, PhaseID: a.PhaseID, Title: a.Title, Status: string(a.Status), SignOff: a.SignOff,
		Mode: string(a.Mode), Quorum: a.Quorum, Sequential: a.Sequential, Approvers: parsedList[Approver](a.Approvers),
		Decisions: decisions, ExpiresAt: atOrNil(a.ExpiresAt), CreatedAt: at(a.CreatedAt), UpdatedAt: at(a.UpdatedAt),
	}
}

package rest

import (
	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/desk/sla"
	"atrium/internal/workflow/execution"
)

// Correction is a fault in a request that the requester must correct.
type Correction struct {
	Field   string `json:"field" example:"costCentre"`
	Message string `json:"message" example:"There is no such cost centre."`
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

func taskSLAOut(t *ent.Task) *RequestSLA {
	return slaOut(sla.StatusOf(t.SLAState, t.ResponseDueAt, t.ResolutionDueAt))
}

func taskFormOut(t *ent.Task) *form.Definition { return parsed[form.Definition](t.Form) }

func taskCorrectionsOut(t *ent.Task) []Correction { return parsedList[Correction](t.Corrections) }

func approvalApproversOut(a *ent.Approval) []Approver { return parsedList[Approver](a.Approvers) }

func approvalDecisionsOut(a *ent.Approval) []Decision {
	kept, _ := execution.DecisionsOf(a) // unreadable decisions are shown as none
	decisions := make([]Decision, len(kept))
	for i, d := range kept {
		decisions[i] = Decision{By: d.By, Approve: d.Approve, Comment: d.Comment, At: at(d.At)}
	}
	return decisions
}

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

// ShownPhase is what a phase has left behind, as a later task or approval shows it.
type ShownPhase struct {
	PhaseID string       `json:"phaseId" example:"price"`
	Name    string       `json:"name" doc:"What people call the phase." example:"Ask for the price"`
	Branch  *string      `json:"branch" doc:"The branch of a block in which it was, with those around it, as in Access / 3; null outside of blocks." exampleNull:"true"`
	Fields  []ShownField `json:"fields" doc:"What it has left behind; at least one value, and 50 at most."`
}

// ShownField is a value that a phase has left behind.
type ShownField struct {
	Key   string   `json:"key" doc:"Its name: the key of the form's field, or outcome." example:"amount"`
	Label string   `json:"label" doc:"What people call it: the label of the form's field, or the key in words." example:"Price in euros"`
	Type  string   `json:"type" doc:"That of the form's field; outcome for the way that the phase took; else text, number, boolean, list or object." example:"number"`
	Value AnyValue `json:"value" doc:"The value, in which secrets are masked: ids of files, people and teams, and the outcome in words. What is longer than 1,000 characters is a text that ends with …." example:"900"`
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

func taskShownOut(t *ent.Task) []ShownPhase { return parsedList[ShownPhase](t.Shown) }

func approvalShownOut(a *ent.Approval) []ShownPhase { return parsedList[ShownPhase](a.Shown) }

func approvalApproversOut(a *ent.Approval) []Approver { return parsedList[Approver](a.Approvers) }

func approvalDecisionsOut(a *ent.Approval) []Decision {
	kept, _ := execution.DecisionsOf(a) // unreadable decisions are shown as none
	decisions := make([]Decision, len(kept))
	for i, d := range kept {
		decisions[i] = Decision{By: d.By, Approve: d.Approve, Comment: d.Comment, At: at(d.At)}
	}
	return decisions
}

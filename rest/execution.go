package rest

import (
	"encoding/json"

	"atrium/ent"
	"atrium/internal/workflow/execution"
)

// ExecutionSummary is an execution as lists show it.
type ExecutionSummary struct {
	ID              string          `json:"id" example:"exe_01k9ye4ryzf7stj6dqnm8x2v3b"`
	WorkflowID      string          `json:"workflowId" example:"wf_01k9ye4ryzf7stj6dqnm8x2v3b"`
	WorkflowVersion int             `json:"workflowVersion" doc:"The published version that it runs, whatever is published meanwhile." example:"1"`
	RequestID       *string         `json:"requestId" doc:"The request that it processes." example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Status          string          `json:"status" enum:"RUNNING,WAITING,COMPLETED,FAILED,CANCELLED"`
	Trigger         string          `json:"trigger" enum:"request,webhook,schedule,workflow" doc:"What started it."`
	ParentID        *string         `json:"parentId" doc:"The execution that has called it by a CALL_WORKFLOW; null for one that nothing calls." exampleNull:"true"`
	ParentPhaseID   *string         `json:"parentPhaseId" doc:"The phase of that execution." exampleNull:"true"`
	ParentBranch    *string         `json:"parentBranch" doc:"The branch in which that phase was, with those around it; null outside of blocks." exampleNull:"true"`
	PhaseID         *string         `json:"phaseId" doc:"The phase in which it stands, or ended: inside of a block, the block." example:"approve"`
	PhaseIDs        []string        `json:"phaseIds" doc:"The phases in which it stands now: one, or several inside of a block." example:"[\"approve\"]"`
	Error           *ExecutionError `json:"error" doc:"Why it failed, or what somebody has to look at before it goes on."`
	StartedAt       *Time           `json:"startedAt"`
	FinishedAt      *Time           `json:"finishedAt"`
	CreatedAt       Time            `json:"createdAt"`
	UpdatedAt       Time            `json:"updatedAt"`
}

// Execution is an execution as answers show it.
type Execution struct {
	ExecutionSummary
	Variables Object       `json:"variables" doc:"What its expressions read: request, webhook and phases, and input if another execution has called it." example:"{\"request\": {\"title\": \"Laptop\"}, \"webhook\": null, \"phases\": {\"price\": {\"cents\": 90000}}}"`
	Phases    []PhaseVisit `json:"phases" doc:"The phases that it has entered, in order; the last 1,000 of more."`
}

// ExecutionError says where and why an execution or a phase cannot go on.
type ExecutionError struct {
	PhaseID string `json:"phaseId" example:"order"`
	Code    string `json:"code" example:"call_failed"`
	Message string `json:"message" example:"The call was answered with 503."`
}

// PhaseVisit is one entry of an execution into a phase.
type PhaseVisit struct {
	PhaseID    string          `json:"phaseId" example:"price"`
	Type       string          `json:"type" enum:"START,PROCESS,DECISION,DATA,TIMER,WEBHOOK_CALLOUT,API_CALL,APPROVAL,CALL_WORKFLOW,PARALLEL,FOR_EACH,JOIN,END"`
	Status     string          `json:"status" enum:"RUNNING,WAITING,COMPLETED,SKIPPED,FAILED"`
	StartedAt  Time            `json:"startedAt"`
	FinishedAt *Time           `json:"finishedAt"`
	Transition *string         `json:"transition" doc:"The way out that it took." example:"next"`
	Attempts   int             `json:"attempts" example:"1"`
	Input      Object          `json:"input" doc:"What it was given; secrets are masked." example:"{}"`
	Output     Object          `json:"output" doc:"What it left behind; secrets are masked." example:"{\"cents\": 90000}"`
	Error      *ExecutionError `json:"error"`
	Branch     *string         `json:"branch" doc:"The branch of a block in which it is, with those around it, as in Access / 3; null outside of blocks. A branch of a FOR_EACH is named by the number of its item, from 1." exampleNull:"true"`
}

func executionSummaryOut(e *ent.Execution) ExecutionSummary {
	return ExecutionSummary{
		ID: e.ID, WorkflowID: e.WorkflowID, WorkflowVersion: e.WorkflowVersion, RequestID: e.RequestID, Status: string(e.Status), Trigger: string(e.Trigger),
		ParentID: e.ParentID, ParentPhaseID: e.ParentPhaseID, ParentBranch: e.ParentBranch,
		PhaseID: e.PhaseID, PhaseIDs: execution.Standing(e), Error: parsed[ExecutionError](e.Error), StartedAt: atOrNil(e.StartedAt), FinishedAt: atOrNil(e.FinishedAt),
		CreatedAt: at(e.CreatedAt), UpdatedAt: at(e.UpdatedAt),
	}
}

func executionOut(e *ent.Execution) Execution {
	variables, _ := execution.Variables(e) // an unreadable state is shown as empty
	out := Execution{ExecutionSummary: executionSummaryOut(e), Variables: objectOut(variables), Phases: make([]PhaseVisit, len(e.Edges.Visits))}
	for i, v := range e.Edges.Visits {
		out.Phases[i] = phaseVisitOut(v)
	}
	return out
}

func phaseVisitOut(v *ent.PhaseVisit) PhaseVisit {
	return PhaseVisit{
		PhaseID: v.PhaseID, Type: v.Type, Status: string(v.Status), StartedAt: at(v.StartedAt), FinishedAt: atOrNil(v.FinishedAt),
		Transition: textOrNil(v.Transition), Attempts: v.Attempts, Input: objectOut(v.Input), Output: objectOut(v.Output), Error: parsed[ExecutionError](v.Error),
		Branch: v.Branch,
	}
}

// parsed decodes a stored JSON document; nil if there is none or it does not decode.
func parsed[T any](raw json.RawMessage) *T {
	var v *T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// parsedList decodes a stored JSON list; an empty list if there is none or it does not decode.
func parsedList[T any](raw json.RawMessage) []T {
	list := []T{}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil || list == nil {
		return []T{}
	}
	return list
}

// MovePreview says where an execution would continue after a move to another version, and which variables it would lose.
type MovePreview struct {
	Version int             `json:"version" example:"2"`
	PhaseID string          `json:"phaseId" doc:"The phase of that version in which it would go on." example:"order"`
	Status  string          `json:"status" enum:"RUNNING,WAITING,COMPLETED,FAILED,CANCELLED" doc:"Of the execution, as soon as it stands again."`
	Phases  []PhaseVisit    `json:"phases" doc:"The phase of the incident and those that would be entered until then, in order. A call would wait to be made."`
	Lost    []LostVariables `json:"lost" doc:"What phases left behind that the version does not have: no expression reads it any more. The history keeps it."`
	Passed  []PassedPhase   `json:"passed" doc:"The approvals, sign-offs and tasks that it would leave out. Moving asks for the right to decide on each."`
}

// PassedPhase is a phase that people decide or work, and that a move would leave out.
type PassedPhase struct {
	PhaseID   string `json:"phaseId" example:"approve"`
	MayDecide bool   `json:"mayDecide" doc:"Whether the caller could decide there, and so may leave it out."`
}

// LostVariables are the variables that one phase has set.
type LostVariables struct {
	PhaseID   string   `json:"phaseId" example:"price"`
	Variables AnyValue `json:"variables" example:"{\"cents\": 90000}"`
}

func movePreviewOut(m execution.MovePreview) MovePreview {
	out := MovePreview{Version: m.Version, PhaseID: m.PhaseID, Status: m.Status, Phases: make([]PhaseVisit, len(m.Phases)), Lost: make([]LostVariables, len(m.Lost)), Passed: make([]PassedPhase, len(m.Passed))}
	for i, v := range m.Phases {
		out.Phases[i] = phaseVisitOut(v)
	}
	for i, l := range m.Lost {
		out.Lost[i] = LostVariables{PhaseID: l.PhaseID, Variables: AnyValue(l.Variables)}
	}
	for i, p := range m.Passed {
		out.Passed[i] = PassedPhase(p)
	}
	return out
}

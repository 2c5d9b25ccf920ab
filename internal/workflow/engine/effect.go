package engine

import (
	"time"

	"atrium/internal/workflow/definition"
)

// Effect is something that the commit of a step performs, in the order of the list.
type Effect interface{ effect() }

// OpenTask opens the visit's task for the responsible participants.
type OpenTask struct {
	Visit   int
	Phase   *definition.Phase
	Title   string
	DueAt   *time.Time
	Correct []Invalid // the faults that a DATA phase wants corrected; nil for the task of a PROCESS
}

// OpenApproval asks the approvers of an APPROVAL or, with SignOff, the accountable participants of a
// PROCESS.
type OpenApproval struct {
	Visit     int
	Phase     *definition.Phase
	SignOff   bool
	ExpiresAt *time.Time
}

// CloseApproval ends the visit's approval as APPROVED, REJECTED or EXPIRED.
type CloseApproval struct {
	Visit  int
	Status string
}

// CloseOpen cancels everything that the visit has open: tasks, approvals, incidents, and the execution for which it waits.
type CloseOpen struct{ Visit int }

// Sleep wakes the execution with Woke at a moment.
type Sleep struct {
	Visit int
	Until time.Time
}

// Call makes an attempt of the visit's call at a moment, and reports its outcome with Answered.
type Call struct {
	Visit   int
	Phase   *definition.Phase
	Attempt int
	At      time.Time
}

// StartWorkflow starts an execution of the workflow that the phase calls, with an id of its own.
type StartWorkflow struct {
	Visit       int
	Phase       *definition.Phase
	Attempt     int
	ExecutionID string
	Input       map[string]any
}

// ActOnRequest accepts, completes or cancels the request.
type ActOnRequest struct {
	Phase  *definition.Phase
	Action definition.RequestAction
}

// SetFields replaces the request's fields.
type SetFields struct{ Fields map[string]any }

// OpenIncident asks people to look at the visit.
type OpenIncident struct {
	Visit int
	Fault Fault
}

// ResolveIncident closes the visit's incident.
type ResolveIncident struct{ Visit int }

// Tell notifies the participants of a role that a phase was entered (consulted) or left (informed).
type Tell struct {
	Visit int
	Phase *definition.Phase
	Role  string
}

// Opens reports whether an effect opens something of a visit, or has it woken, called or answered.
func Opens(e Effect, visit int) bool {
	switch e := e.(type) {
	case OpenTask:
		return e.Visit == visit
	case OpenApproval:
		return e.Visit == visit
	case Sleep:
		return e.Visit == visit
	case Call:
		return e.Visit == visit
	case StartWorkflow:
		return e.Visit == visit
	}
	return false
}

func (OpenTask) effect()        {}
func (OpenApproval) effect()    {}
func (CloseApproval) effect()   {}
func (CloseOpen) effect()       {}
func (Sleep) effect()           {}
func (Call) effect()            {}
func (StartWorkflow) effect()   {}
func (ActOnRequest) effect()    {}
func (SetFields) effect()       {}
func (OpenIncident) effect()    {}
func (ResolveIncident) effect() {}
func (Tell) effect()            {}

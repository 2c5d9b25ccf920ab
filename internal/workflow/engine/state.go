package engine

import (
	"errors"
	"strconv"
	"time"

	"atrium/internal/workflow/definition"
)

// Limits of an execution.
const (
	MaxVisits    = 10_000  // phases entered
	MaxVariables = 1 << 20 // bytes of JSON in the variables of all phases together

	maxPhases = 100 // phases that one step enters; the next step continues
)

// Status is an execution's position in its life.
type Status string

// The statuses of an execution, and of the visit of a phase (with Skipped, without Cancelled).
const (
	Running   Status = "RUNNING"
	Waiting   Status = "WAITING"
	Completed Status = "COMPLETED"
	Failed    Status = "FAILED"
	Cancelled Status = "CANCELLED"
	Skipped   Status = "SKIPPED"
)

// Final reports whether an execution with the status has ended.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// State is an execution as it was committed.
type State struct {
	Status Status
	Visit  *Visit         // of the current phase; nil before Begin
	Wait   *Wait          // nil when it waits for nothing
	Phases map[string]any // the variables of phases, read as phases.<id>.*
	Fault  *Fault         // why it failed

	Last  int    `json:",omitempty"` // the number of the last visit of all, if that is another than Visit's
	Block *Block `json:",omitempty"` // what runs while Visit is that of a PARALLEL or FOR_EACH
}

// Block are the branches that a PARALLEL or a FOR_EACH has begun, in order.
type Block struct {
	Branches []*Branch
	Items    []any `json:",omitempty"` // of a FOR_EACH
}

// Branch is one branch of a block. Its state is like that of an execution: it waits, goes on and ends for itself, with the variables that
// its own phases have written. Of a branch that has completed, only these are kept.
type Branch struct {
	Name  string // of a FOR_EACH: the number of the item, from 1
	State State
}

// Visit is one entry into a phase, as the history shows it.
type Visit struct {
	Number     int
	PhaseID    string
	Type       definition.Type
	Status     Status
	StartedAt  time.Time
	FinishedAt *time.Time
	Transition string // the way out that was taken; empty while it is not finished
	Attempts   int
	Input      any // the phase's input, as JSON; nil for none
	Output     any // the phase's variables
	Fault      *Fault
	Branch     string `json:",omitempty"` // the names of the branches around it: "Access / 3"
}

// cutOff notes why the visit ends before its time. A reason that comes from elsewhere names no phase of its own.
func (v *Visit) cutOff(why *Fault) {
	if why == nil {
		return
	}
	f := *why
	if f.PhaseID == "" {
		f.PhaseID = v.PhaseID
	}
	v.Fault = &f
}

// Fault says what failed, and in which phase.
type Fault struct {
	PhaseID string `json:"phaseId"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The codes of faults.
const (
	ExpressionFailed   = "expression_failed"
	CallFailed         = "call_failed"
	ValidationFailed   = "validation_failed"
	ParticipantMissing = "participant_missing"
	RequestConflict    = "request_conflict"
	RequestRefused     = "request_refused"
	CalendarFailed     = "calendar_failed"
	VariablesTooLarge  = "variables_too_large"
	TooManySteps       = "too_many_steps"
	WorkflowFailed     = "workflow_failed"     // the called execution has failed or was cancelled
	WorkflowMissing    = "workflow_missing"    // the workflow to call is not active any more
	CallsTooDeep       = "calls_too_deep"      // the call would be nested deeper than definition.MaxDepth
	TooManyCalls       = "too_many_executions" // one execution has started too many, with those that they have started
	CallerEnded        = "caller_ended"        // of a visit that is skipped since the calling phase was left
	BranchCancelled    = "branch_cancelled"    // of a visit that is skipped since its block has ended without its branch
)

// WaitKind is what an execution waits for.
type WaitKind string

// What an execution can wait for.
const (
	ForTask     WaitKind = "task"
	ForApproval WaitKind = "approval"
	ForSignOff  WaitKind = "sign_off" // an approval of a task's outcome by the accountable participants
	ForTimer    WaitKind = "timer"
	ForCall     WaitKind = "call"
	ForWorkflow WaitKind = "workflow" // the end of an execution that the visit has started
	ForStart    WaitKind = "start"    // the start of one
	ForIncident WaitKind = "incident"
)

// Wait is what an execution waits for.
type Wait struct {
	For     WaitKind       `json:"for"`
	Until   *time.Time     `json:"until,omitempty"`   // when it continues by itself: timers, deadlines, the next attempt of a call
	Attempt int            `json:"attempt,omitempty"` // of the visit's calls, from 1; unique in the visit
	Try     int            `json:"try,omitempty"`     // of a call, from 1, since the phase was entered or an incident was retried
	Votes   []Vote         `json:"votes,omitempty"`   // of an approval, in the order in which they came
	Outcome string         `json:"outcome,omitempty"` // of the task that awaits sign-off
	Output  map[string]any `json:"output,omitempty"`  // likewise
	Since   *time.Time     `json:"since,omitempty"`   // of an incident in a branch
}

// Vote is one approver's decision.
type Vote struct {
	Approver int    `json:"approver"` // the index in the phase's list, from 0
	By       string `json:"by"`       // the user who decided
	Approve  bool   `json:"approve"`
}

// Key returns the idempotency key of the calls of a visit: the same on every retry, after a crash and after an
// incident.
func Key(executionID string, v *Visit) string {
	return executionID + "-" + v.PhaseID + "-" + strconv.Itoa(v.Number)
}

// Errors of Step. They leave the execution unchanged.
var (
	// ErrStale is returned for an input that the execution does not wait for, or no longer.
	ErrStale = errors.New("the execution does not wait for this")
	// ErrNoWay is returned for an outcome without a transition of that name, and for a Skip of a phase without next.
	ErrNoWay = errors.New("no transition of the phase has this name")
	// ErrNotTheirTurn is returned for a decision of an approver who has decided already, or whose turn has not come.
	ErrNotTheirTurn = errors.New("the approver has decided already, or it is another one's turn")
)

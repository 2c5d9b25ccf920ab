package trial

import (
	"encoding/json"
	"time"

	"atrium/internal/workflow/engine"
)

// Why a trial stops.
const (
	StopAnswer   = "ANSWER"
	StopUntil    = "UNTIL"
	StopIncident = "INCIDENT"
	StopLimit    = "LIMIT"
)

// What people are asked for.
const (
	AskTask       = "TASK"
	AskCorrection = "CORRECTION"
	AskApproval   = "APPROVAL"
	AskSignOff    = "SIGN_OFF"
)

// Where answers come from.
const (
	Given = "GIVEN"
	Last  = "LAST"
)

// Result is what a workflow would do.
type Result struct {
	Status    string // of the execution
	Steps     []*Step
	Stopped   *Stop // nil when the execution ended
	Variables json.RawMessage
	Error     *engine.Fault // why the execution failed, or its open incident
}

// Stop says where and why a trial stopped. Answer is the path of the missing answer; nil for other reasons.
type Stop struct {
	PhaseID string
	Reason  string
	Answer  *string
	Message string
}

// Step is one entry into a phase.
type Step struct {
	PhaseID       string
	Name          string
	Type          string
	Branch        *string // of a block, with those around it; nil outside of blocks
	Status        string
	StartedAt     time.Time
	FinishedAt    *time.Time
	Transition    *string
	To            *string // the phase to which the transition leads
	Attempts      int
	Input         json.RawMessage
	Output        json.RawMessage
	Error         *engine.Fault
	Rules         []*Rule
	Asks          []*Ask
	Calls         []*Call
	Told          []*Participant
	RequestStatus *string
}

// Rule is a rule of a DECISION. Holds is nil if it could not be evaluated.
type Rule struct {
	When       string
	Transition string
	Holds      *bool
	Error      *string
}

// Ask is one task or approval.
type Ask struct {
	Kind       string
	Title      string
	DueAt      *time.Time
	Who        []*Participant
	Mode       *string
	Quorum     *int
	Sequential bool
	Outcomes   []string
	Answer     json.RawMessage // nil: none
	Source     *string
}

// Participant is somebody who takes part in a phase. Name is nil if the caller may not know it.
type Participant struct {
	Role, Type, ID string
	Name           *string
}

// Call is one attempt at the call of a phase.
type Call struct {
	Attempt int
	At      time.Time
	Sent    json.RawMessage
	Answer  json.RawMessage // nil: none
	Source  *string
}

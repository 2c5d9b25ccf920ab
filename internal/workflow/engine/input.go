package engine

import "net/http"

// Input is an event that makes an execution continue.
type Input interface{ visit() int }

// Begin starts an execution. Its state is the zero State.
type Begin struct{}

// VisitOf returns the number of the visit that an input names; 0 for none.
func VisitOf(in Input) int { return in.visit() }

// Continue continues where a step stopped at maxPhases, or was interrupted: everything that can go on. Visit is the state's own.
type Continue struct{ Visit int }

// TaskDone completes the visit's task. The caller has validated Variables against the phase's form.
type TaskDone struct {
	Visit     int
	Outcome   string // empty for next
	Variables map[string]any
}

// Decided is an approver's decision.
type Decided struct {
	Visit int
	Vote
}

// Woke reports that Wait.Until has come.
type Woke struct{ Visit int }

// Answered reports the outcome of an attempt of a call.
type Answered struct {
	Visit   int
	Attempt int
	Sent    any     // the call as the history shows it, secrets masked
	Answer  *Answer // nil if none arrived
	Failure string  // why no answer arrived, for people
}

// Answer is the answer to a call.
type Answer struct {
	Status     int
	Header     http.Header
	Body       any    // decoded JSON if it is valid JSON, else text; secrets masked
	Unreadable string // why the body is no text; empty if it is

	Kept map[string]any // what an earlier run kept of the same answer, in place of what the response expressions give; nil: evaluate them
}

// Returned reports how the execution stands that the visit has started.
type Returned struct {
	Visit   int
	Attempt int
	Status  Status
	Phases  map[string]any // its variables, once it has completed
	Why     string         // it has failed, for people
}

// Retry enters the phase of an incident again. Variables replace those of the phases that they name.
type Retry struct {
	Visit     int
	Variables map[string]any
}

// Skip leaves the phase of an incident by next.
type Skip struct {
	Visit     int
	Variables map[string]any
}

// Move continues from an incident under another definition of the same workflow. Step is called with the new definition,
// and the execution follows it from then on. If PhaseID is the incident's phase and has the same type in the new
// definition, the execution enters it again in the same visit, and so under the same idempotency key. Otherwise it enters
// PhaseID as a new visit and leaves out the incident's phase.
type Move struct {
	Visit     int
	PhaseID   string
	Variables map[string]any
}

// Stuck reports that an effect of the visit cannot be performed, because a participant is missing or a secret was deleted.
type Stuck struct {
	Visit   int
	Code    string
	Message string
	Again   bool // the resolution of an incident has failed too, so the visit gets another incident
}

// Cancel ends an execution. Why, if it is given, stands in the history at what is cut off.
type Cancel struct{ Why *Fault }

func (Begin) visit() int      { return 0 }
func (i Continue) visit() int { return i.Visit }
func (i TaskDone) visit() int { return i.Visit }
func (i Decided) visit() int  { return i.Visit }
func (i Woke) visit() int     { return i.Visit }
func (i Answered) visit() int { return i.Visit }
func (i Returned) visit() int { return i.Visit }
func (i Retry) visit() int    { return i.Visit }
func (i Skip) visit() int     { return i.Visit }
func (i Move) visit() int     { return i.Visit }
func (i Stuck) visit() int    { return i.Visit }
func (Cancel) visit() int     { return 0 }

package engine

import "net/http"

// Input is what makes an execution go on.
type Input interface{ visit() int }

// Begin starts an execution, whose state is the zero State.
type Begin struct{}

// Continue goes on where a step stopped at maxPhases, or was interrupted.
type Continue struct{ Visit int }

// TaskDone completes the visit's task. The caller has held Variables against the phase's form.
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

// Woke tells that Wait.Until has come.
type Woke struct{ Visit int }

// Answered tells how an attempt of a call ended.
type Answered struct {
	Visit   int
	Attempt int
	Sent    any     // the call as the history shows it, secrets masked
	Answer  *Answer // nil when there was none
	Failure string  // why there was none, for people
}

// Answer is what a call was answered with.
type Answer struct {
	Status int
	Header http.Header
	Body   any // JSON where it is some, else text; secrets masked
}

// Retry enters the phase of an incident again. Variables replace those of the phases that it names.
type Retry struct {
	Visit     int
	Variables map[string]any
}

// Skip leaves the phase of an incident by next.
type Skip struct {
	Visit     int
	Variables map[string]any
}

// Move goes on from an incident by another definition of the same workflow: Step is called with that one, and the execution
// follows it from then on. PhaseID is where: the phase of the incident again, in the same visit and so under the same
// idempotency key, if it has the same type there; else a phase that is entered anew, and the incident's is left out.
type Move struct {
	Visit     int
	PhaseID   string
	Variables map[string]any
}

// Stuck tells that an effect of the visit cannot be carried out: a participant who is not there, a secret that was deleted.
type Stuck struct {
	Visit   int
	Code    string
	Message string
	Again   bool // what the resolution of an incident led to cannot: there is another incident of the visit
}

// Cancel ends an execution.
type Cancel struct{}

func (Begin) visit() int      { return 0 }
func (i Continue) visit() int { return i.Visit }
func (i TaskDone) visit() int { return i.Visit }
func (i Decided) visit() int  { return i.Visit }
func (i Woke) visit() int     { return i.Visit }
func (i Answered) visit() int { return i.Visit }
func (i Retry) visit() int    { return i.Visit }
func (i Skip) visit() int     { return i.Visit }
func (i Move) visit() int     { return i.Visit }
func (i Stuck) visit() int    { return i.Visit }
func (Cancel) visit() int     { return 0 }

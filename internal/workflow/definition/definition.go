package definition

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Type is what a phase does.
type Type string

// The phase types.
const (
	Start          Type = "START"
	Process        Type = "PROCESS"
	Decision       Type = "DECISION"
	Data           Type = "DATA"
	Timer          Type = "TIMER"
	WebhookCallout Type = "WEBHOOK_CALLOUT"
	APICall        Type = "API_CALL"
	Approval       Type = "APPROVAL"
	CallWorkflow   Type = "CALL_WORKFLOW"
	InParallel     Type = "PARALLEL" // a block; see BlockConfig
	ForEach        Type = "FOR_EACH" // likewise
	Join           Type = "JOIN"     // the end of a block
	End            Type = "END"
)

// The ways out that phase types choose themselves; the definition names all others.
const (
	Next     = "next"
	Invalid  = "invalid"  // DATA, onInvalid route
	Approved = "approved" // APPROVAL
	Rejected = "rejected" // APPROVAL
	Expired  = "expired"  // APPROVAL with a deadline

	Joined     = "end"    // PARALLEL and FOR_EACH, into their JOIN
	JoinFailed = "failed" // JOIN of a block with onFault cancel
)

// Definition is a workflow that has passed every check, compiled. It is immutable and may be shared by executions.
type Definition struct {
	Start       *Phase
	Phases      []*Phase     // as written
	Transitions []Transition // as written

	byID  map[string]*Phase
	edges []Transition // Transitions, and those that blocks and their JOINs imply
	refs  References
}

// Transition leads from one phase to another under a name.
type Transition struct {
	From string
	Name string
	To   string
}

// Phase returns the phase of that id, or nil.
func (d *Definition) Phase(id string) *Phase { return d.byID[id] }

// References returns everything of the company that the definition names, for the caller to look up.
func (d *Definition) References() References { return d.refs }

// References lists everything that a definition names, once for every place, in the order written.
type References struct {
	Secrets   []Reference // ID is the secret's name
	Users     []Reference
	Teams     []Reference
	Agents    []Reference
	Informed  []Reference // the agents that are only informed
	Answers   []Reference // the answers of requests that name people; ID is the key
	Idle      []Reference // the participants whose role has no effect in their phase; ID is the role
	Calendars []Reference
	Workflows []Reference // that it calls
}

// Kind groups references to one kind of row.
type Kind struct {
	Noun       string // "secret"
	References []Reference
}

// Kinds returns the references grouped by kind, in a fixed order.
func (r References) Kinds() []Kind {
	return []Kind{
		{"secret", r.Secrets}, {"user", r.Users}, {"team", r.Teams}, {"agent", r.Agents}, {"calendar", r.Calendars}, {"workflow", r.Workflows},
	}
}

// Reference is one place that names a row. Field is the path for a details row if the row does not exist.
type Reference struct {
	ID    string
	Field string
	Phase string // of an answer: the title of the phase

	Minutes int // of a calendar: the largest target that counts by it there; 0 for none
}

// Phase is one step. Exactly the settings of its type are set: a TIMER has Timer, and START and END have none.
type Phase struct {
	ID            string
	Type          Type
	Name          string // may be empty
	RequestAction RequestAction
	Participants  []Participant
	SLA           *SLA // nil: none

	Process  *ProcessConfig
	Decision *DecisionConfig
	Data     *DataConfig
	Timer    *TimerConfig
	Callout  *CalloutConfig
	APICall  *APICallConfig
	Approval *ApprovalConfig
	Calls    *CallWorkflowConfig
	Block    *BlockConfig // of a PARALLEL and of a FOR_EACH

	Within *Phase // the innermost block in a branch of which the phase stands; nil for none
	Branch int    // the index of that branch

	ways  []string          // names of the outgoing transitions, as written
	next  map[string]*Phase // the phases that they lead to
	rules ways              // what the type allows; for checking
	leads []lead            // the ways out that the phase itself names
	path  string            // in rows; for checking
}

// Follow returns the phase that the named transition leads to, or nil when there is no such way out.
func (p *Phase) Follow(name string) *Phase { return p.next[name] }

// Ways returns the names of the transitions that leave the phase, in the order written.
func (p *Phase) Ways() []string { return slices.Clone(p.ways) }

// Around returns the blocks in which the phase stands, the innermost first.
func (p *Phase) Around() (list []*Phase) {
	for b := p.Within; b != nil; b = b.Within {
		list = append(list, b)
	}
	return list
}

// Skip returns the way by which the phase is left when somebody skips it.
func (p *Phase) Skip() string {
	switch {
	case p.Decision != nil:
		return p.Decision.Default
	case p.Block != nil:
		return Joined
	}
	return Next
}

// Title returns the phase's name, or its id when it has none.
func (p *Phase) Title() string { return cmp.Or(p.Name, p.ID) }

// PhaseNames returns what people call the phases of a published definition, by their ids: the name, or else the id.
func PhaseNames(published []byte) (map[string]string, error) {
	var d struct {
		Phases []struct{ ID, Name string } `json:"phases"`
	}
	if err := json.Unmarshal(published, &d); err != nil {
		return nil, fmt.Errorf("read a published definition: %w", err)
	}
	names := make(map[string]string, len(d.Phases))
	for _, p := range d.Phases {
		names[p.ID] = cmp.Or(p.Name, p.ID)
	}
	return names, nil
}

// InRole returns the participants who have a role, in the order written.
func (p *Phase) InRole(role string) []Participant {
	var out []Participant
	for _, one := range p.Participants {
		if one.Role == role {
			out = append(out, one)
		}
	}
	return out
}

// RequestAction is what entering a phase does to the request.
type RequestAction string

// The request actions.
const (
	NoAction RequestAction = ""
	Accept   RequestAction = "accept"
	Complete RequestAction = "complete"
	Cancel   RequestAction = "cancel"
)

// SLA limits how long a phase may take. Zero means that a number is not set.
type SLA struct {
	ResponseMinutes   int
	ResolutionMinutes int
	WarnAtPercent     int
	CalendarID        string
}

// Span is a length of time as written: "3d", "2h30m".
type Span struct {
	Text     string
	Duration time.Duration // a day counts 24 hours
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

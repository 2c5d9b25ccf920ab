package rest

import (
	"encoding/json"

	"atrium/ent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/runs"
)

// AgentStep is one step of a run.
type AgentStep struct {
	N         int             `json:"n" example:"1"`
	Kind      string          `json:"kind" enum:"read,decide,act"`
	Operation string          `json:"operation" example:"updateRequest"`
	Rows      []string        `json:"rows" example:"[\"req_01k9ye4ryzf7stj6dqnm8x2v3b\"]"`
	Arguments json.RawMessage `json:"arguments"`
	Result    string          `json:"result" example:"Decided on 1 changes."`
	At        Time            `json:"at"`
}

// heldAnswer is the body of a 202 answer: the action that a write with an agent's key has become.
type heldAnswer struct {
	Action actions.Shown `json:"action"`
}

func agentRunStepsOut(r *ent.AgentRun) []AgentStep {
	kept, _ := runs.StepsOf(r) // unreadable steps are shown as none
	steps := make([]AgentStep, len(kept))
	for i, s := range kept {
		steps[i] = AgentStep{N: s.N, Kind: s.Kind, Operation: s.Operation, Rows: append([]string{}, s.Rows...), Arguments: s.Arguments, Result: s.Result, At: at(s.At)}
		if len(s.Arguments) == 0 {
			steps[i].Arguments = json.RawMessage("null")
		}
	}
	return steps
}

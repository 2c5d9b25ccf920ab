package rest

import (
	"encoding/json"

	"atrium/ent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/runs"
)

// AgentRun is an agent's work on a request as answers show it.
type AgentRun struct {
	ID           string      `json:"id" example:"run_01k9ye4ryzf7stj6dqnm8x2v3b"`
	AgentID      string      `json:"agentId" example:"agt_01k9ye4ryzf7stj6dqnm8x2v3b"`
	AgentVersion int         `json:"agentVersion" doc:"The published version that it obeys." example:"1"`
	RequestID    string      `json:"requestId" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	TaskID       *string     `json:"taskId" doc:"The task that it is about." example:"task_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Number       int         `json:"number" doc:"Counted from 1 in each request." example:"1"`
	Trigger      string      `json:"trigger" enum:"created,rerun,assigned,consulted"`
	Status       string      `json:"status" enum:"QUEUED,RUNNING,WAITING,COMPLETED,PROPOSED,HANDED_OVER,FAILED,STOPPED"`
	Shadow       bool        `json:"shadow" doc:"Whether admins alone see what it proposes." example:"false"`
	Steps        []AgentStep `json:"steps"`
	Plans        int         `json:"plans" doc:"How often it was begun: three times at most." example:"1"`
	ModelCalls   int         `json:"modelCalls" doc:"Of a MANAGED agent that asks a model." example:"0"`
	InputTokens  int         `json:"inputTokens" doc:"That its model was sent." example:"0"`
	OutputTokens int         `json:"outputTokens" doc:"That its model answered." example:"0"`
	LeaseUntil   *Time       `json:"leaseUntil" doc:"When the work is handed over if nothing is heard of the agent."`
	Outcome      string      `json:"outcome" example:"done"`
	Reason       string      `json:"reason" doc:"Why it ended so." example:"The agent could not tell."`
	EndedAt      *Time       `json:"endedAt"`
	CreatedAt    Time        `json:"createdAt"`
	UpdatedAt    Time        `json:"updatedAt"`
}

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

func agentRunOut(r *ent.AgentRun) AgentRun {
	kept, _ := runs.StepsOf(r) // unreadable steps are shown as none
	steps := make([]AgentStep, len(kept))
	for i, s := range kept {
		steps[i] = AgentStep{N: s.N, Kind: s.Kind, Operation: s.Operation, Rows: append([]string{}, s.Rows...), Arguments: s.Arguments, Result: s.Result, At: at(s.At)}
		if len(s.Arguments) == 0 {
			steps[i].Arguments = json.RawMessage("null")
		}
	}
	return AgentRun{
		ID: r.ID, AgentID: r.AgentID, AgentVersion: r.AgentVersion, RequestID: r.RequestID, TaskID: r.TaskID, Number: r.Number,
		Trigger: string(r.Trigger), Status: string(r.Status), Shadow: r.Shadow, Steps: steps, Plans: r.Plans,
		ModelCalls: r.ModelCalls, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, LeaseUntil: atOrNil(r.LeaseUntil),
		Outcome: r.Outcome, Reason: r.Reason, EndedAt: atOrNil(r.EndedAt), CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
	}
}

// heldAnswer is the body of a 202 answer: the action that a write with an agent's key has become.
type heldAnswer struct {
	Action actions.Shown `json:"action"`
}

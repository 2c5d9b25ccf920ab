package actions

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/tools"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/strictjson"
)

var actionSorts = op.Sorts{"createdAt": agentaction.FieldCreatedAt}

// The operations that read proposals and pending actions of agents.
var (
	List = paging.NewList("agentaction.list", op.Spec{
		Resource: "AgentAction", Action: op.Read, Scope: "requests:read", Sorts: actionSorts, Summary: "List what agents propose, and what they wait to do",
	}, func(_ context.Context, tx *op.Tx, in ListActionsInput) *ent.AgentActionQuery {
		where := runs.ShownActions(tx)
		where = paging.In(where, in.Status, agentaction.StatusIn)
		where = paging.In(where, in.Kind, agentaction.KindIn)
		where = paging.In(where, in.RunID, agentaction.RunIDIn)
		return tx.AgentAction.Query().Where(paging.In(where, in.RequestID, agentaction.RequestIDIn)...)
	})

	Get = op.Get("agentaction.read", op.Spec{
		Resource: "AgentAction", Action: op.Read, Scope: "requests:read", Summary: "Get what an agent proposes, or waits to do",
	}, func(ctx context.Context, tx *op.Tx, id string) (*ent.AgentAction, error) {
		return tx.AgentAction.Query().Where(append(runs.ShownActions(tx), agentaction.ID(id))...).Only(ctx)
	})

	// OfRuns lists the actions of several runs.
	OfRuns = paging.NewChildren("agentaction.of_runs", op.Spec{
		Resource: "AgentAction", Action: op.Read, Scope: "requests:read", Sorts: actionSorts, Summary: "List the actions of several runs",
	}, agentaction.Table, agentaction.FieldRunID, func(tx *op.Tx) *ent.AgentActionQuery { return tx.AgentAction.Query() }, runs.ShownActions)
)

// ListActionsInput filters the actions and selects a page.
type ListActionsInput struct {
	paging.Page
	Status    []string `json:"-" query:"status" enum:"PENDING,APPLIED,REJECTED,STALE,EXPIRED"`
	Kind      []string `json:"-" query:"kind" enum:"PROPOSAL,ACTION"`
	RunID     []string `json:"-" query:"runId" maxLength:"64"`
	RequestID []string `json:"-" query:"requestId" maxLength:"64"`
}

// ChangesOf returns the fields that an action sets, with the reasons.
func ChangesOf(a *ent.AgentAction) ([]*tools.Change, error) {
	return strictjson.List[tools.Change](a.Changes, "changes", a.ID)
}

// lockAction locks an action after its request and its run, and holds their agent.
func lockAction(ctx context.Context, tx *op.Tx, id string) (*ent.AgentAction, *ent.AgentRun, *ent.Request, error) {
	a, err := tx.AgentAction.Query().Where(append(runs.ShownActions(tx), agentaction.ID(id))...).Only(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	run, r, err := runs.Lock(ctx, tx, a.RunID)
	if err != nil {
		return nil, nil, nil, err
	}
	a, err = op.Lock(tx, tx.AgentAction.Query().Where(agentaction.ID(id))).Only(ctx)
	return a, run, r, err
}

// loadAction loads and locks an action for an operation, as lockAction does.
func loadAction(ctx context.Context, tx *op.Tx, id string) (*ent.AgentAction, error) {
	a, _, _, err := lockAction(ctx, tx, id)
	return a, err
}

// runAndRequestOf returns the run and the request of an action that loadAction has locked.
func runAndRequestOf(ctx context.Context, tx *op.Tx, a *ent.AgentAction) (*ent.AgentRun, *ent.Request, error) {
	all := tx.Unfiltered(ctx, "what an action is about decides whether it is still good")
	run, err := tx.AgentRun.Query().Where(agentrun.ID(a.RunID)).WithAgent().WithRequest().WithTask().Only(all)
	if err != nil {
		return nil, nil, fmt.Errorf("read the action's run: %w", err)
	}
	return run, run.Edges.Request, nil
}

// Shown is an action in API responses.
type Shown struct {
	ID         string          `json:"id" example:"prp_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RunID      string          `json:"runId" example:"run_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RequestID  string          `json:"requestId" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Kind       string          `json:"kind" enum:"PROPOSAL,ACTION" doc:"PROPOSAL: a person applies it. ACTION: the agent does it once a person has approved it."`
	Operation  string          `json:"operation" doc:"As GraphQL names it." example:"updateRequest"`
	Arguments  json.RawMessage `json:"arguments" example:"{\"priority\":\"HIGH\"}"`
	Changes    []*tools.Change `json:"changes" example:"[{\"field\":\"priority\",\"from\":\"MEDIUM\",\"to\":\"HIGH\",\"rationale\":\"Nobody can work.\",\"confidence\":0.82,\"rows\":[]}]"`
	Rationale  string          `json:"rationale" example:"Nobody can work."`
	Confidence float64         `json:"confidence" example:"0.82"`
	Digest     string          `json:"digest" doc:"Of operation, row and arguments: whoever approves names it." example:"3f1c9a7e"`
	Status     string          `json:"status" enum:"PENDING,APPLIED,REJECTED,STALE,EXPIRED"`
}

// Show returns an action as API responses show it.
func Show(a *ent.AgentAction) (Shown, error) {
	changes, err := ChangesOf(a)
	return Shown{
		ID: a.ID, RunID: a.RunID, RequestID: a.RequestID, Kind: string(a.Kind), Operation: a.Operation, Arguments: a.Arguments, Changes: changes,
		Rationale: a.Rationale, Confidence: a.Confidence, Digest: a.Digest, Status: string(a.Status),
	}, err
}

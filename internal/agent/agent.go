package agent

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/internal/op"
	"atrium/internal/paging"
)

var sorts = op.Sorts{"createdAt": agent.FieldCreatedAt, "updatedAt": agent.FieldUpdatedAt, "name": op.Folded(agent.FieldName)}

// The operations on agents.
var (
	List = paging.NewList("agent.list", op.Spec{
		Resource: "Agent", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List agents",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.AgentQuery { return tx.Agent.Query() })

	Get = op.Get("agent.read", op.Spec{
		Resource: "Agent", Action: op.Read, AdminLayer: true, Summary: "Get an agent",
	}, load)

	Create = op.New("agent.create", op.Spec{
		Resource: "Agent", Action: op.Create, AdminLayer: true, Summary: "Create an agent",
	}, create)
)

// ListInput pages the agents.
type ListInput struct{ paging.Page }

func load(ctx context.Context, tx *op.Tx, id string) (*ent.Agent, error) {
	return op.Lock(tx, tx.Agent.Query().Where(agent.ID(id))).Only(ctx)
}

// CreateInput describes a new agent.
type CreateInput struct {
	Name     string `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Type     string `json:"type" enum:"QUEUE_INTAKE,WORKFLOW_PHASE" doc:"Whether it takes requests out of queues or works phases of workflows."`
	Source   string `json:"source" enum:"MANAGED,CUSTOM" doc:"Whether the platform runs it or the company does."`
	Autonomy string `json:"autonomy" minLength:"1" maxLength:"40" pattern:"\\S" patternDescription:"more than blanks" doc:"How far it goes by itself, such as SUGGEST or ACT_WITH_APPROVAL."`
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.Agent, error) {
	a, err := tx.Agent.Create().SetName(in.Name).SetType(agent.Type(in.Type)).SetSource(agent.Source(in.Source)).SetAutonomy(in.Autonomy).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the agent: %w", err)
	}
	tx.Changed(nil, a)
	return a, nil
}

package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/ent/task"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/webhook/signing"
	"atrium/internal/workflow"
)

var sorts = op.Sorts{"createdAt": agent.FieldCreatedAt, "updatedAt": agent.FieldUpdatedAt, "name": op.Alphabetical(agent.FieldName)}

// The operations on agents. Only a person may run them, not an API key.
var (
	List = paging.NewList("agent.list", op.Spec{
		Resource: "Agent", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List agents",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.AgentQuery { return tx.Agent.Query() })

	Get = op.Get("agent.read", op.Spec{
		Resource: "Agent", Action: op.Read, AdminLayer: true, Summary: "Get an agent",
	}, settings.Load)

	Create = op.New("agent.create", op.Spec{
		Resource: "Agent", Action: op.Create, AdminLayer: true, Summary: "Create an agent",
	}, create).Prepared(func(ctx context.Context, tx *op.Tx, in CreateInput) (any, error) {
		return op.Details(settings.CheckFilter(ctx, tx, op.Or(in.Filter, "")))
	}).WithCheck(checkNew, "filter", "scopes")

	Update = op.OnRow("agent.update", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Summary: "Change the draft of an agent; what runs is its published version",
	}, settings.Load, update).Prepared(func(ctx context.Context, tx *op.Tx, in UpdateInput) (any, error) {
		filter, _ := op.Given(in.Filter)
		return op.Details(settings.CheckFilter(ctx, tx, filter))
	}).WithCheck(checkUpdate, "filter", "scopes", "tools")

	Delete = op.OnRow("agent.delete", op.Spec{
		Resource: "Agent", Action: op.Delete, AdminLayer: true, Summary: "Delete an agent with its versions and runs",
	}, settings.Load, remove)
)

// ListInput selects a page of the agents.
type ListInput struct{ paging.Page }

// CreateInput describes a new agent.
type CreateInput struct {
	Name     string   `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Type     string   `json:"type" enum:"QUEUE_INTAKE,WORKFLOW_PHASE" doc:"Whether it takes requests out of queues or works phases of workflows."`
	Source   string   `json:"source" enum:"MANAGED,CUSTOM" doc:"Whether the platform runs it or the company does."`
	Autonomy string   `json:"autonomy" enum:"SUGGEST,ACT_WITH_APPROVAL,AUTONOMOUS" doc:"How far it goes by itself."`
	OwnerID  *string  `json:"ownerId,omitempty" nullable:"true" maxLength:"64" doc:"The user who answers for it; the caller when not given."`
	Role     *string  `json:"role,omitempty" nullable:"true" enum:"member,agent" doc:"What it may do; agent when not given, and never more than its owner."`
	Scopes   []string `json:"scopes,omitempty" nullable:"true" maxItems:"16" doc:"What it may do of that; when not given requests:read, requests:write, and to route them services:read, teams:read and users:read."`
	Filter   *string  `json:"filter,omitempty" nullable:"true" maxLength:"4096" doc:"CEL over request: the new requests that it takes; all when not given."`
	Sees     *string  `json:"sees,omitempty" nullable:"true" enum:"requester,agent" doc:"Whose eyes bound what it reads besides its own rights; the requester's when not given."`

	EndpointURL    *string `json:"endpointUrl,omitempty" nullable:"true" maxLength:"2000" doc:"Where runs of a CUSTOM agent are pushed to: https, on the public internet. Without it the agent asks for its runs."`
	ConsultMinutes *int    `json:"consultMinutes,omitempty" nullable:"true" minimum:"1" maximum:"10080" doc:"How many minutes it has for its opinion about a task; 30 when not given."`
}

// settings returns the agent's settings, with what is not given as it starts.
func (in CreateInput) settings(tx *op.Tx) settings.Settings {
	scopes := in.Scopes
	if scopes == nil {
		scopes = []string{"requests:read", "requests:write", "services:read", "teams:read", "users:read"}
	}
	return settings.Settings{
		Autonomy: in.Autonomy, OwnerID: op.Or(in.OwnerID, tx.Principal().ID), Role: op.Or(in.Role, string(agent.DefaultRole)),
		Scopes: scopes, Sees: op.Or(in.Sees, string(agent.DefaultSees)), Tools: settings.DefaultTools, Endpoint: op.Or(in.EndpointURL, ""),
	}
}

// check returns a validation error for invalid settings; found are the faults of the filter.
func (in CreateInput) check(ctx context.Context, tx *op.Tx, found []apperr.Detail) error {
	return together(found, in.settings(tx).Check(ctx, tx, in.Type, in.Source))
}

// together returns one validation error for the faults of a filter and of the other settings.
func together(filter []apperr.Detail, others error) error {
	var refs op.Refs
	for _, d := range filter {
		refs.Fault(d.Field, d.Message)
	}
	refs.Refused(others)
	return refs.Err()
}

// checkNew returns everything that is wrong with a new agent, outside of a transaction.
func checkNew(ctx context.Context, tx *op.Tx, in CreateInput) error {
	found, err := op.Details(settings.CheckFilter(ctx, tx, op.Or(in.Filter, "")))
	if err != nil {
		return err
	}
	return in.check(ctx, tx, found)
}

// create returns validation_error for invalid settings. The result holds the secret of a CUSTOM agent, which is not shown again.
func create(ctx context.Context, tx *op.Tx, in CreateInput) (Issued, error) {
	found, _ := op.Preparation[[]apperr.Detail](tx)
	if err := in.check(ctx, tx, found); err != nil {
		return Issued{}, err
	}
	s := in.settings(tx)
	tools, err := json.Marshal(settings.DefaultTools)
	if err != nil {
		return Issued{}, fmt.Errorf("write the tools: %w", err)
	}
	out := Issued{ID: newID()}
	c := tx.Agent.Create().SetID(out.ID).SetName(in.Name).SetType(agent.Type(in.Type)).SetSource(agent.Source(in.Source)).
		SetAutonomy(agent.Autonomy(s.Autonomy)).SetOwnerID(s.OwnerID).
		SetRole(agent.Role(s.Role)).SetScopes(s.Scopes).SetFilter(op.Or(in.Filter, "")).SetSees(agent.Sees(s.Sees)).SetTools(tools)
	c.SetEndpointURL(s.Endpoint).SetNillableConsultMinutes(in.ConsultMinutes)
	if in.Source == string(agent.SourceCUSTOM) {
		out.SigningSecret = signing.New()
		sealed, err := signing.Seal(tx.Sealer(), out.SigningSecret, out.ID)
		if err != nil {
			return Issued{}, err
		}
		c.SetSecretSealed(sealed)
	}
	if out.Agent, err = c.Save(ctx); err != nil {
		return Issued{}, fmt.Errorf("create the agent: %w", err)
	}
	tx.Changed(nil, out.Agent)
	return out, nil
}

// UpdateInput changes the fields of the draft that are set.
type UpdateInput struct {
	op.ByID
	Name         op.Patch[string]          `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Autonomy     op.Patch[string]          `json:"autonomy,omitzero" enum:"SUGGEST,ACT_WITH_APPROVAL,AUTONOMOUS"`
	OwnerID      op.Patch[string]          `json:"ownerId,omitzero" maxLength:"64" doc:"The user who answers for it."`
	Role         op.Patch[string]          `json:"role,omitzero" enum:"member,agent"`
	Scopes       op.Patch[[]string]        `json:"scopes,omitzero" maxItems:"16"`
	Filter       op.Patch[string]          `json:"filter,omitzero" nullable:"true" maxLength:"4096" doc:"CEL over request: the new requests that it takes; null for all."`
	Sees         op.Patch[string]          `json:"sees,omitzero" enum:"requester,agent"`
	Instructions op.Patch[string]          `json:"instructions,omitzero" nullable:"true" maxLength:"20000" doc:"What people want of it. The engine history reads none."`
	Engine       op.Patch[string]          `json:"engine,omitzero" enum:"history,model" doc:"What it thinks with: the company's own finished requests, or a language model."`
	Tools        op.Patch[[]settings.Tool] `json:"tools,omitzero" maxItems:"20" doc:"The operations that it may use; replaces the list."`
	Limits       op.Patch[settings.Limits] `json:"limits,omitzero" doc:"Of one run, over all of its plans; replaces them all. A CUSTOM agent is held to steps and minutes."`
	RunsPerDay   op.Patch[int]             `json:"runsPerDay,omitzero" minimum:"1" maximum:"100000" doc:"Runs that it begins in any 24 hours; those beyond are handed over to people."`
	Shadow       op.Patch[bool]            `json:"shadow,omitzero" doc:"Whether it only proposes, and to admins alone."`

	ModelConnectionID op.Patch[string] `json:"modelConnectionId,omitzero" nullable:"true" maxLength:"64" doc:"Where its model is asked; null for the server's own model."`
	Model             op.Patch[string] `json:"model,omitzero" nullable:"true" maxLength:"200" doc:"One of the connection's models; null for its first."`

	EndpointURL    op.Patch[string] `json:"endpointUrl,omitzero" nullable:"true" maxLength:"2000" doc:"Where runs of a CUSTOM agent are pushed to, from the next run on; null for an agent that asks for its runs."`
	ConsultMinutes op.Patch[int]    `json:"consultMinutes,omitzero" minimum:"1" maximum:"10080" doc:"How many minutes it has for its opinion about a task."`
}

// check returns a validation error for settings that the draft cannot have with the changes; found are the faults of the filter.
func (in UpdateInput) check(ctx context.Context, tx *op.Tx, before *ent.Agent, found []apperr.Detail) error {
	s, err := settings.DraftOf(before)
	if err != nil {
		return err
	}
	change(in.Autonomy, &s.Autonomy)
	change(in.OwnerID, &s.OwnerID)
	change(in.Role, &s.Role)
	change(in.Scopes, &s.Scopes)
	change(in.Sees, &s.Sees)
	change(in.Engine, &s.Engine)
	change(in.Tools, &s.Tools)
	change(in.ModelConnectionID, &s.ModelConnectionID)
	change(in.Model, &s.Model)
	change(in.EndpointURL, &s.Endpoint)
	s.Connects = in.ModelConnectionID.IsSet()
	return together(found, s.Check(ctx, tx, string(before.Type), string(before.Source)))
}

// change sets a setting to what is given, and to nothing where null is.
func change[T any](given op.Patch[T], setting *T) {
	if given.IsSet() {
		*setting, _ = op.Given(given)
	}
}

// checkUpdate returns everything that is wrong with a change of an agent, outside of a transaction.
func checkUpdate(ctx context.Context, tx *op.Tx, in UpdateInput) error {
	before, err := settings.Load(ctx, tx, in.ID)
	if err != nil {
		return err
	}
	filter, _ := op.Given(in.Filter)
	found, err := op.Details(settings.CheckFilter(ctx, tx, filter))
	if err != nil {
		return err
	}
	return in.check(ctx, tx, before, found)
}

func update(ctx context.Context, tx *op.Tx, before *ent.Agent, in UpdateInput) (*ent.Agent, error) {
	found, _ := op.Preparation[[]apperr.Detail](tx)
	if err := in.check(ctx, tx, before, found); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Autonomy, func(v string) *ent.AgentUpdateOne { return u.SetAutonomy(agent.Autonomy(v)) })
	op.Set(in.OwnerID, u.SetOwnerID)
	op.Set(in.Role, func(v string) *ent.AgentUpdateOne { return u.SetRole(agent.Role(v)) })
	op.Set(in.Scopes, u.SetScopes)
	op.Set(in.Sees, func(v string) *ent.AgentUpdateOne { return u.SetSees(agent.Sees(v)) })
	op.Set(in.Engine, func(v string) *ent.AgentUpdateOne { return u.SetEngine(agent.Engine(v)) })
	op.SetOrClear(in.ModelConnectionID, u.SetModelConnectionID, u.ClearModelConnectionID)
	op.SetOrClear(in.Model, u.SetModel, func() *ent.AgentUpdateOne { return u.SetModel("") })
	op.SetOrClear(in.EndpointURL, u.SetEndpointURL, func() *ent.AgentUpdateOne { return u.SetEndpointURL("") })
	if v, ok := op.Given(in.Tools); ok {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("write the tools: %w", err)
		}
		u.SetTools(raw)
	}
	if v, ok := op.Given(in.Limits); ok {
		raw, err := json.Marshal(v.OrDefault())
		if err != nil {
			return nil, fmt.Errorf("write the limits: %w", err)
		}
		u.SetLimits(raw)
	}
	op.SetOrClear(in.Filter, u.SetFilter, func() *ent.AgentUpdateOne { return u.SetFilter("") })
	op.SetOrClear(in.Instructions, u.SetInstructions, func() *ent.AgentUpdateOne { return u.SetInstructions("") })
	op.Set(in.RunsPerDay, u.SetRunsPerDay)
	op.Set(in.Shadow, u.SetShadow)
	op.Set(in.ConsultMinutes, u.SetConsultMinutes)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the agent: %w", err)
	}
	return after, nil
}

// remove returns conflict if a published workflow names the agent, if a run of it has not ended, or if it has a task.
func remove(ctx context.Context, tx *op.Tx, a *ent.Agent, _ op.ByID) (struct{}, error) {
	if err := workflow.Unused(ctx, tx, "agent", a.ID); err != nil {
		return struct{}{}, err
	}
	works, err := tx.AgentRun.Query().Where(agentrun.AgentID(a.ID), agentrun.StatusIn(runs.Open...)).
		Exist(tx.Unfiltered(ctx, "a run that the caller does not see keeps the agent, too"))
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the agent's runs: %w", err)
	}
	if works {
		return struct{}{}, apperr.New(apperr.Conflict, "The agent works on requests. Pause it and stop its runs first.")
	}
	has, err := tx.Task.Query().Where(task.AgentID(a.ID), lifecycle.OpenTasks()).Exist(tx.Unfiltered(ctx, "so does a task that the caller does not see"))
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the agent's tasks: %w", err)
	}
	if has {
		return struct{}{}, apperr.New(apperr.Conflict, "The agent has tasks. Give them to people first.")
	}
	tx.AuthorityChanged()
	return op.Remove(ctx, tx, a, tx.Agent.DeleteOne(a).Exec)
}

package graph

import (
	"context"
	"encoding/json"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/agent"
	"atrium/internal/workflow"
)

func (r *queryResolver) Workflow(ctx context.Context, id string) (*ent.Workflow, error) {
	return read(ctx, r.engine, workflow.GetWorkflow, id)
}

func (r *queryResolver) Workflows(ctx context.Context, first *int, after *string, filter *workflow.ListWorkflowsInput, orderBy *relay.Order) (*relay.Connection[ent.Workflow], error) {
	return list(ctx, r.engine, workflow.ListWorkflows, filter, first, after, orderBy)
}

func (r *queryResolver) Calendars(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Calendar], error) {
	return list(ctx, r.engine, workflow.ListCalendars, nil, first, after, orderBy)
}

func (r *queryResolver) Agents(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Agent], error) {
	return list(ctx, r.engine, agent.List, nil, first, after, orderBy)
}

func (r *mutationResolver) CreateWorkflow(ctx context.Context, input map[string]any) (*generated.CreateWorkflowPayload, error) {
	w, err := change(ctx, r.engine, workflow.CreateWorkflow, input, none)
	return &generated.CreateWorkflowPayload{Workflow: w}, err
}

func (r *mutationResolver) UpdateWorkflow(ctx context.Context, input map[string]any) (*generated.UpdateWorkflowPayload, error) {
	w, err := change(ctx, r.engine, workflow.UpdateWorkflow, input, id)
	return &generated.UpdateWorkflowPayload{Workflow: w}, err
}

func (r *mutationResolver) PublishWorkflow(ctx context.Context, input map[string]any) (*generated.PublishWorkflowPayload, error) {
	w, err := change(ctx, r.engine, workflow.PublishWorkflow, input, id)
	return &generated.PublishWorkflowPayload{Workflow: w}, err
}

func (r *mutationResolver) DeleteWorkflow(ctx context.Context, input map[string]any) (*generated.DeleteWorkflowPayload, error) {
	_, err := change(ctx, r.engine, workflow.DeleteWorkflow, input, id)
	return &generated.DeleteWorkflowPayload{ID: idOf(input)}, err
}

func (r *mutationResolver) CreateCalendar(ctx context.Context, input map[string]any) (*generated.CreateCalendarPayload, error) {
	c, err := change(ctx, r.engine, workflow.CreateCalendar, input, none)
	return &generated.CreateCalendarPayload{Calendar: c}, err
}

func (r *mutationResolver) CreateAgent(ctx context.Context, input map[string]any) (*generated.CreateAgentPayload, error) {
	a, err := change(ctx, r.engine, agent.Create, input, none)
	return &generated.CreateAgentPayload{Agent: a}, err
}

// Workflow returns the resolver of a workflow's fields that are no columns.
func (r *Resolver) Workflow() generated.WorkflowResolver { return &workflowResolver{r} }

type workflowResolver struct{ *Resolver }

func (r *workflowResolver) Description(_ context.Context, w *ent.Workflow) (*string, error) {
	return textOrNil(w.Description), nil
}

func (r *workflowResolver) Definition(_ context.Context, w *ent.Workflow) (json.RawMessage, error) {
	return objectOf(workflow.AsSent(w.Definition)), nil
}

// Calendar returns the resolver of a calendar's fields that are no columns.
func (r *Resolver) Calendar() generated.CalendarResolver { return &calendarResolver{r} }

type calendarResolver struct{ *Resolver }

func (r *calendarResolver) WorkingHours(_ context.Context, c *ent.Calendar) ([]*workflow.WorkingHours, error) {
	return workflow.HoursOf(c)
}

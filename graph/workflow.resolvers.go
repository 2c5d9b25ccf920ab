package graph

import (
	"context"
	"encoding/json"
	"strconv"

	"atrium/ent"
	"atrium/graph/internal/relay"
	"atrium/internal/op"
	"atrium/internal/workflow"
)

func (r *workflowResolver) Definition(_ context.Context, w *ent.Workflow) (json.RawMessage, error) {
	return objectOf(workflow.AsSent(w.Definition)), nil
}

func (r *workflowResolver) Versions(ctx context.Context, w *ent.Workflow, first *int, after *string) (*relay.Connection[ent.WorkflowVersion], error) {
	return resolveChildren(ctx, r.engine, w, func(w *ent.Workflow) string { return w.ID }, workflow.VersionsOf, first, after, same[ent.WorkflowVersion])
}

func (r *workflowVersionResolver) Definition(_ context.Context, v *ent.WorkflowVersion) (json.RawMessage, error) {
	return objectOf(workflow.AsSent(v.Definition)), nil
}

func (r *queryResolver) WorkflowDiff(ctx context.Context, id string, to, from *int) (*workflow.VersionDiff, error) {
	version := workflow.Draft
	if to != nil {
		version = strconv.Itoa(*to)
	}
	d, err := run(ctx, r.engine, workflow.DiffVersions, workflow.DiffVersionsInput{ByID: op.ByID{ID: id}, Version: version, From: op.Or(from, 0)})
	return &d, err
}

func (r *calendarResolver) WorkingHours(_ context.Context, c *ent.Calendar) (*workflow.WorkingHours, error) {
	return workflow.HoursOf(c)
}

func (r *calendarResolver) Exceptions(_ context.Context, c *ent.Calendar) ([]*workflow.Exception, error) {
	return workflow.ExceptionsOf(c)
}

func (r *workflowResolver) ViewerMay(ctx context.Context, w *ent.Workflow) ([]string, error) {
	return op.MayOn(ctx, r.engine, w)
}

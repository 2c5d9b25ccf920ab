package graph

import (
	"context"
	"encoding/json"
	"strconv"

	"atrium/ent"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/op"
	"atrium/internal/workflow"
)

func (r *workflowResolver) Definition(_ context.Context, w *ent.Workflow) (json.RawMessage, error) {
	return resolve.ObjectOf(workflow.AsSent(w.Definition)), nil
}

func (r *workflowResolver) Versions(ctx context.Context, w *ent.Workflow, first *int, after *string) (*relay.Connection[ent.WorkflowVersion], error) {
	return resolve.Children(ctx, r.Engine, w, func(w *ent.Workflow) string { return w.ID }, workflow.VersionsOf, first, after, resolve.Same[ent.WorkflowVersion])
}

func (r *workflowVersionResolver) Definition(_ context.Context, v *ent.WorkflowVersion) (json.RawMessage, error) {
	return resolve.ObjectOf(workflow.AsSent(v.Definition)), nil
}

func (r *queryResolver) WorkflowDiff(ctx context.Context, id string, to, from *int) (*workflow.VersionDiff, error) {
	version := workflow.Draft
	if to != nil {
		version = strconv.Itoa(*to)
	}
	d, err := resolve.Run(ctx, r.Engine, workflow.DiffVersions, workflow.DiffVersionsInput{ByID: op.ByID{ID: id}, Version: version, From: op.Or(from, 0)})
	return &d, err
}

func (r *calendarResolver) WorkingHours(_ context.Context, c *ent.Calendar) (*workflow.WorkingHours, error) {
	return workflow.HoursOf(c)
}

func (r *calendarResolver) Exceptions(_ context.Context, c *ent.Calendar) ([]*workflow.Exception, error) {
	return workflow.ExceptionsOf(c)
}

func (r *workflowResolver) ViewerMay(ctx context.Context, w *ent.Workflow) ([]string, error) {
	return op.MayOn(ctx, r.Engine, w)
}

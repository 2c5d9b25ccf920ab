package workflow

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/workflow"
	"atrium/internal/apperr"
	"atrium/internal/op"
)

// workflowSorts are the fields that the list of workflows can be ordered by.
var workflowSorts = op.Sorts{"createdAt": workflow.FieldCreatedAt, "updatedAt": workflow.FieldUpdatedAt, "name": workflow.FieldName}

// The operations on workflows.
var (
	ListWorkflows = op.New("workflow.list", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read", Sorts: workflowSorts,
		Summary: "List workflows",
	}, listWorkflows)

	GetWorkflow = op.Get("workflow.read", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
		Summary: "Get a workflow",
	}, loadWorkflow)

	CreateWorkflow = op.New("workflow.create", op.Spec{
		Resource: "Workflow", Action: op.Create, Scope: "workflows:write",
		Summary: "Create a workflow as a draft",
	}, createWorkflow)

	UpdateWorkflow = op.OnRow("workflow.update", op.Spec{
		Resource: "Workflow", Action: op.Update, Scope: "workflows:write",
		Summary: "Update a workflow's draft; running executions and new requests keep the published version",
	}, loadWorkflow, updateWorkflow)

	DeleteWorkflow = op.OnRow("workflow.delete", op.Spec{
		Resource: "Workflow", Action: op.Delete, Scope: "workflows:write",
		Summary: "Delete a workflow that no offering uses",
	}, loadWorkflow, deleteWorkflow)
)

// ListWorkflowsInput filters and pages the list of workflows.
type ListWorkflowsInput struct {
	op.Page
	Status []string `json:"-" query:"status" enum:"draft,active,archived" doc:"Workflows in any of these states."`
	Q      string   `json:"-" query:"q" maxLength:"200" doc:"Workflows whose name contains this, in any case."`
}

func listWorkflows(ctx context.Context, tx *op.Tx, in ListWorkflowsInput) (op.List[*ent.Workflow], error) {
	var where []predicate.Workflow
	if len(in.Status) > 0 {
		where = append(where, workflow.StatusIn(op.Enums[workflow.Status](in.Status)...))
	}
	if in.Q != "" {
		where = append(where, op.ContainsFold[predicate.Workflow](workflow.FieldName, in.Q))
	}
	q := tx.Workflow.Query().Where(where...)
	return op.ListOf(ctx, in.Page, workflowSorts, q.Count, func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]*ent.Workflow, error) {
		return op.Lean[ent.Workflow](q.Clone(), in.Lean).Order(order).Offset(offset).Limit(limit).All(ctx)
	})
}

func loadWorkflow(ctx context.Context, tx *op.Tx, id string) (*ent.Workflow, error) {
	return op.Lock(tx, tx.Workflow.Query().Where(workflow.ID(id))).Only(ctx)
}

// CreateWorkflowInput describes a new workflow.
type CreateWorkflowInput struct {
	Name        string     `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug        *string    `json:"slug,omitempty" nullable:"true" pattern:"^[a-z0-9-]{1,63}$" doc:"Made from the name when not given; unique in the company."`
	Description *string    `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	Definition  Definition `json:"definition" doc:"Phases and the transitions between them; at most 256 KiB."`
}

func createWorkflow(ctx context.Context, tx *op.Tx, in CreateWorkflowInput) (*ent.Workflow, error) {
	if err := in.Definition.check(ctx, tx); err != nil {
		return nil, err
	}
	w, err := tx.Workflow.Create().
		SetName(in.Name).
		SetSlug(op.Or(in.Slug, op.Slug(in.Name, "workflow"))).
		SetDescription(op.Or(in.Description, "")).
		SetDefinition(in.Definition.text).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the workflow: %w", err)
	}
	tx.Changed(nil, w)
	return w, nil
}

// UpdateWorkflowInput changes the fields that it names.
type UpdateWorkflowInput struct {
	op.ByID
	Name        op.Patch[string]     `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug        op.Patch[string]     `json:"slug,omitzero" pattern:"^[a-z0-9-]{1,63}$"`
	Description op.Patch[string]     `json:"description,omitzero" nullable:"true" maxLength:"10000"`
	Status      op.Patch[string]     `json:"status,omitzero" enum:"draft,active,archived" doc:"active takes a published version, draft takes none."`
	Definition  op.Patch[Definition] `json:"definition,omitzero" doc:"Replaces the draft whole; at most 256 KiB."`
}

func updateWorkflow(ctx context.Context, tx *op.Tx, before *ent.Workflow, in UpdateWorkflowInput) (*ent.Workflow, error) {
	u := before.Update()
	if d, ok := op.Given(in.Definition); ok {
		if err := d.check(ctx, tx); err != nil {
			return nil, err
		}
		u.SetDefinition(d.text)
	}
	if status, ok := op.Given(in.Status); ok {
		if err := mayBecome(before, workflow.Status(status)); err != nil {
			return nil, err
		}
		u.SetStatus(workflow.Status(status))
	}
	op.Set(in.Name, u.SetName)
	op.Set(in.Slug, u.SetSlug)
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.WorkflowUpdateOne { return u.SetDescription("") })
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("update the workflow: %w", err)
	}
	tx.Changed(before, after)
	return after, nil
}

// mayBecome returns conflict for a status that contradicts whether the workflow was ever published.
func mayBecome(w *ent.Workflow, status workflow.Status) error {
	switch {
	case status == workflow.StatusActive && w.Version == 0:
		return apperr.New(apperr.Conflict, "The workflow has no published version. Publish it first.")
	case status == workflow.StatusDraft && w.Version > 0:
		return apperr.New(apperr.Conflict, "The workflow has been published. Archive it instead.")
	}
	return nil
}

func deleteWorkflow(ctx context.Context, tx *op.Tx, w *ent.Workflow, _ op.ByID) (struct{}, error) {
	used, err := tx.Offering.Query().Where(offering.WorkflowID(w.ID)).
		Exist(tx.Unfiltered(ctx, "offerings that the caller does not see keep a workflow in use, too"))
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the workflow's offerings: %w", err)
	}
	if used {
		return struct{}{}, apperr.New(apperr.Conflict, "An offering uses the workflow. Archive it instead.")
	}
	if err := tx.Workflow.DeleteOne(w).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("delete the workflow: %w", err)
	}
	tx.Changed(w, nil)
	return struct{}{}, nil
}

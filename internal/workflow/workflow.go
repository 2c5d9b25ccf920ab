package workflow

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/inboundwebhook"
	"atrium/ent/offering"
	"atrium/ent/schedule"
	"atrium/ent/workflow"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// workflowSorts are the fields that the list of workflows can be ordered by.
var workflowSorts = op.Sorts{"createdAt": workflow.FieldCreatedAt, "updatedAt": workflow.FieldUpdatedAt, "name": op.Alphabetical(workflow.FieldName)}

// The operations on workflows.
var (
	ListWorkflows = paging.NewList("workflow.list", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read", Sorts: workflowSorts,
		Summary: "List workflows",
	}, workflowsOf)

	GetWorkflow = op.Get("workflow.read", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
		Summary: "Get a workflow",
	}, loadWorkflow)

	CreateWorkflow = op.New("workflow.create", op.Spec{
		Resource: "Workflow", Action: op.Create, Scope: "workflows:write",
		Summary: "Create a workflow as a draft",
	}, createWorkflow).Prepared(func(ctx context.Context, tx *op.Tx, in CreateWorkflowInput) (any, error) {
		return in.Definition.read(ctx, tx)
	}).WithFaults(func(ctx context.Context, tx *op.Tx, in CreateWorkflowInput) ([]apperr.Detail, error) {
		return in.Definition.allFaults(ctx, tx)
	}, "definition")

	UpdateWorkflow = op.OnRow("workflow.update", op.Spec{
		Resource: "Workflow", Action: op.Update, Scope: "workflows:write",
		Summary: "Update a workflow's draft; running executions and new requests keep the published version",
	}, loadWorkflow, updateWorkflow).Prepared(func(ctx context.Context, tx *op.Tx, in UpdateWorkflowInput) (any, error) {
		if d, ok := op.Given(in.Definition); ok {
			return d.read(ctx, tx)
		}
		return nil, nil // the input has no definition
	}).WithFaults(func(ctx context.Context, tx *op.Tx, in UpdateWorkflowInput) ([]apperr.Detail, error) {
		if d, ok := op.Given(in.Definition); ok {
			return d.allFaults(ctx, tx)
		}
		return nil, nil
	}, "definition")

	DeleteWorkflow = op.OnRow("workflow.delete", op.Spec{
		Resource: "Workflow", Action: op.Delete, Scope: "workflows:write",
		Summary: "Delete a workflow that no offering, no inbound webhook, no schedule and no published workflow uses",
	}, loadWorkflow, deleteWorkflow)
)

// ListWorkflowsInput filters and pages the list of workflows.
type ListWorkflowsInput struct {
	paging.Page
	Status          []string `json:"-" query:"status" enum:"draft,active,archived" doc:"Workflows in any of these states."`
	Q               string   `json:"-" query:"q" maxLength:"200" doc:"Workflows whose name has these words, or parts of them."`
	CallsWorkflowID []string `json:"-" query:"callsWorkflowId" maxLength:"64" doc:"Workflows whose last published version calls any of these."`
}

func workflowsOf(_ context.Context, tx *op.Tx, in ListWorkflowsInput) *ent.WorkflowQuery {
	where := paging.Words(paging.In(nil, in.Status, workflow.StatusIn), in.Q, workflow.FieldName)
	where = paging.In(where, in.CallsWorkflowID, calling)
	return tx.Workflow.Query().Where(where...)
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
	draft, _ := op.Preparation[Definition](tx)
	if err := draft.check(ctx, tx); err != nil {
		return nil, err
	}
	w, err := tx.Workflow.Create().
		SetName(in.Name).
		SetSlug(tx.SlugOf(in.Slug, in.Name, "workflow")).
		SetDescription(op.Or(in.Description, "")).
		SetDefinition(draft.text).
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
	if d, ok := op.Preparation[Definition](tx); ok {
		var refs op.Refs
		refs.Refused(d.check(ctx, tx))
		refs.Also(checkAnswers(ctx, tx, before.ID, d.names.Answers))
		if err := refs.Err(); err != nil {
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
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the workflow: %w", err)
	}
	return after, nil
}

// mayBecome returns conflict if the status contradicts the workflow's having been published or not.
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
	if err := unoffered(ctx, tx, w); err != nil {
		return struct{}{}, err
	}
	if err := uncalled(ctx, tx, w); err != nil {
		return struct{}{}, err
	}
	if err := unscheduled(ctx, tx, w); err != nil {
		return struct{}{}, err
	}
	if err := Unused(ctx, tx, "workflow", w.ID); err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, w, tx.Workflow.DeleteOne(w).Exec)
}

// unoffered returns conflict when an offering uses the workflow.
func unoffered(ctx context.Context, tx *op.Tx, w *ent.Workflow) error {
	return op.InUse(ctx, tx, tx.Offering.Query().Where(offering.Or(offering.WorkflowID(w.ID), offering.ReopenWorkflowID(w.ID))).Order(offering.ByName(), offering.ByID()), func(o *ent.Offering) error {
		if o == nil {
			return apperr.New(apperr.Conflict, "An offering uses the workflow. Archive it instead.")
		}
		return apperr.New(apperr.Conflict, "The offering %q (%s) uses the workflow. Archive it instead.", short(o.Name), o.ID)
	})
}

// uncalled returns conflict when an inbound webhook starts the workflow. It gives no id, because a webhook's id is its address, which
// a caller who may delete workflows need not know.
func uncalled(ctx context.Context, tx *op.Tx, w *ent.Workflow) error {
	return op.InUse(ctx, tx, tx.InboundWebhook.Query().Where(inboundwebhook.WorkflowID(w.ID)).Order(inboundwebhook.ByName(), inboundwebhook.ByID()), func(in *ent.InboundWebhook) error {
		if in == nil {
			return apperr.New(apperr.Conflict, "An inbound webhook starts the workflow. Archive it instead.")
		}
		return apperr.New(apperr.Conflict, "The inbound webhook %q starts the workflow. Archive it instead.", short(in.Name))
	})
}

// unscheduled returns conflict when a schedule starts the workflow.
func unscheduled(ctx context.Context, tx *op.Tx, w *ent.Workflow) error {
	return op.InUse(ctx, tx, tx.Schedule.Query().Where(schedule.WorkflowID(w.ID)).Order(schedule.ByName(), schedule.ByID()), func(s *ent.Schedule) error {
		if s == nil {
			return apperr.New(apperr.Conflict, "A schedule starts the workflow. Archive it instead.")
		}
		return apperr.New(apperr.Conflict, "The schedule %q (%s) starts the workflow. Archive it instead.", short(s.Name), s.ID)
	})
}

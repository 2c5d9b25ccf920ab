package workflow

import (
	"context"
	"fmt"
	"strconv"

	"atrium/ent"
	"atrium/ent/workflowversion"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// versionSorts orders by one column whatever the name, because a version never changes.
var versionSorts = op.Sorts{"createdAt": workflowversion.FieldCreatedAt, "updatedAt": workflowversion.FieldCreatedAt}

// The operations on published versions. The right to read a workflow suffices.
var (
	ListVersions = op.OnRow("workflow.versions", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read", Sorts: versionSorts,
		Summary: "List a workflow's published versions",
	}, loadWorkflow, listVersions)

	GetVersion = op.OnRow("workflow.version", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
		Summary: "Get a published version of a workflow",
	}, loadWorkflow, getVersion)

	// VersionsOf lists the versions of several workflows, the newest first. It is for workflows that the caller
	// has read.
	VersionsOf = paging.NewChildren("workflow.versions_of", op.Spec{
		Resource: "Workflow", Action: op.Read, Scope: "workflows:read",
		Summary: "List the published versions of several workflows",
	}, workflowversion.Table, workflowversion.FieldWorkflowID, func(tx *op.Tx) *ent.WorkflowVersionQuery {
		return tx.WorkflowVersion.Query()
	})
)

// ListVersionsInput pages the versions of one workflow.
type ListVersionsInput struct {
	op.ByID
	paging.Page
}

func listVersions(ctx context.Context, tx *op.Tx, w *ent.Workflow, in ListVersionsInput) (paging.List[*ent.WorkflowVersion], error) {
	return paging.Of(ctx, in.Page, versionSorts, tx.WorkflowVersion.Query().Where(workflowversion.WorkflowID(w.ID)))
}

// GetVersionInput names a version.
type GetVersionInput struct {
	op.ByID
	Version string `json:"-" path:"version" maxLength:"10" doc:"The version's number, counted from 1."`
}

func getVersion(ctx context.Context, tx *op.Tx, w *ent.Workflow, in GetVersionInput) (*ent.WorkflowVersion, error) {
	number, err := strconv.Atoi(in.Version)
	if err != nil || strconv.Itoa(number) != in.Version {
		return nil, apperr.Missing("Version")
	}
	v, err := tx.WorkflowVersion.Query().Where(workflowversion.WorkflowID(w.ID), workflowversion.Version(number)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, apperr.Missing("Version")
	}
	if err != nil {
		return nil, fmt.Errorf("read the version: %w", err)
	}
	return v, nil
}

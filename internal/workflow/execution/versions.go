package execution

import (
	"context"
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/ent/workflowversion"
	"atrium/internal/op"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
)

// versions caches compiled definitions by workflow and version, for all companies of the process: a published version never changes,
// and callers take the workflow's id from a row that their company has. 512 are about as many as a busy node has in use.
var versions, _ = lru.New[versionKey, *definition.Definition](512)

type versionKey struct {
	workflowID string
	version    int
}

// versionOf returns the definition of a version of a workflow. workflowID comes from a row, never from a caller.
func versionOf(ctx context.Context, db *ent.Client, workflowID string, version int) (*definition.Definition, error) {
	key := versionKey{workflowID, version}
	if d, ok := versions.Get(key); ok {
		return d, nil
	}
	row, err := db.WorkflowVersion.Query().Where(workflowversion.WorkflowID(workflowID), workflowversion.Version(version)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read version %d of %s: %w", version, workflowID, err)
	}
	d, faults := definition.ParseWithin(ctx, workflow.AsSent(row.Definition))
	if len(faults) > 0 {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("version %d of %s: %s: %s", version, workflowID, faults[0].Field, faults[0].Message))
	}
	versions.Add(key, d)
	return d, nil
}

// definitionOf returns the definition that an execution follows, for an operation's preparation.
func definitionOf(ctx context.Context, tx *op.Tx, executionID string) (d *definition.Definition, err error) {
	row, err := tx.Execution.Get(ctx, executionID)
	if err != nil {
		return nil, fmt.Errorf("read the execution: %w", err)
	}
	err = tx.Costly(ctx, func(ctx context.Context) (err error) {
		d, err = versionOf(ctx, tx.Client, row.WorkflowID, row.WorkflowVersion)
		return err
	})
	return d, err
}

// phaseOf returns a phase of the definition that an execution follows.
func phaseOf(ctx context.Context, tx *op.Tx, executionID, phaseID string) (*definition.Phase, error) {
	d, err := definitionOf(ctx, tx, executionID)
	if err != nil {
		return nil, err
	}
	p := d.Phase(phaseID)
	if p == nil {
		return nil, fmt.Errorf("%s: the definition has no phase %s", executionID, phaseID)
	}
	return p, nil
}

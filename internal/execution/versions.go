package execution

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"atrium/ent"
	"atrium/ent/workflowversion"
	"atrium/internal/op"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
)

// maxVersions limits the cached compiled definitions; when it is reached, all are dropped and compiled again as
// needed.
const maxVersions = 512

// versionCache caches compiled definitions. A published version never changes.
type versionCache struct {
	mu     sync.Mutex
	parsed map[string]*definition.Definition
}

var versions = &versionCache{parsed: map[string]*definition.Definition{}}

// of returns the definition of a version of a workflow of the context's company.
func (c *versionCache) of(ctx context.Context, db *ent.Client, workflowID string, version int) (*definition.Definition, error) {
	key := workflowID + "/" + strconv.Itoa(version)
	c.mu.Lock()
	d := c.parsed[key]
	c.mu.Unlock()
	if d != nil {
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.parsed) >= maxVersions {
		clear(c.parsed)
	}
	c.parsed[key] = d
	return d, nil
}

// definitionOf returns the definition that an execution follows, for an operation's preparation.
func definitionOf(ctx context.Context, tx *op.Tx, executionID string) (d *definition.Definition, err error) {
	row, err := tx.Execution.Get(ctx, executionID)
	if err != nil {
		return nil, fmt.Errorf("read the execution: %w", err)
	}
	err = tx.Costly(ctx, func(ctx context.Context) (err error) {
		d, err = versions.of(ctx, tx.Client, row.WorkflowID, row.WorkflowVersion)
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

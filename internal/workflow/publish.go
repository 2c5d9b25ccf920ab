package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/workflow"
	"atrium/ent/workflowversion"
	"atrium/internal/op"
)

// PublishWorkflow makes the draft the version that new requests run.
var PublishWorkflow = op.OnRow("workflow.publish", op.Spec{
	Resource: "Workflow", Action: op.Update, Scope: "workflows:write",
	Summary: "Publish a workflow's draft as its next version",
}, loadWorkflow, publishWorkflow).Prepared(preparePublication)

// publication is a draft that was read before the transaction.
type publication struct {
	draft  json.RawMessage
	parsed Definition
}

func preparePublication(ctx context.Context, tx *op.Tx, in op.ByID) (any, error) {
	w, err := tx.Workflow.Get(ctx, in.ID)
	if ent.IsNotFound(err) {
		return nil, nil // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the draft: %w", err)
	}
	parsed, err := NewDefinition(AsSent(w.Definition)).read(ctx, tx)
	return publication{draft: w.Definition, parsed: parsed}, err
}

// publishWorkflow makes a workflow active, with a new version if its draft differs from the last one.
// Returns validation_error if the draft names a row that was deleted since it was saved.
func publishWorkflow(ctx context.Context, tx *op.Tx, before *ent.Workflow, _ op.ByID) (*ent.Workflow, error) {
	p, ok := op.Preparation[publication](tx)
	if !ok || !bytes.Equal(p.draft, before.Definition) {
		return nil, op.ErrOutdated
	}
	all := tx.Unfiltered(ctx, "the person who saved a draft saw what it names")
	if err := p.parsed.check(all, tx); err != nil {
		return nil, err
	}
	changed, err := changedSincePublished(ctx, tx, before)
	if err != nil {
		return nil, err
	}
	u := before.Update().SetStatus(workflow.StatusActive)
	if changed {
		u.AddVersion(1)
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("publish the workflow: %w", err)
	}
	if changed {
		err = tx.WorkflowVersion.Create().SetWorkflowID(after.ID).SetVersion(after.Version).SetDefinition(after.Definition).
			SetUses(p.parsed.uses()).SetPublishedAt(tx.Now(ctx)).SetPublishedBy(tx.Principal().ID).Exec(ctx)
		if err != nil {
			return nil, fmt.Errorf("keep the published version: %w", err)
		}
	}
	return after, nil
}

// changedSincePublished reports whether the draft differs from the last version.
func changedSincePublished(ctx context.Context, tx *op.Tx, w *ent.Workflow) (bool, error) {
	last, err := tx.WorkflowVersion.Query().Where(workflowversion.WorkflowID(w.ID), workflowversion.Version(w.Version)).
		Only(tx.Unfiltered(ctx, "whether there is something to publish is no matter of what the caller sees"))
	if ent.IsNotFound(err) {
		return true, nil // there is no version yet
	}
	if err != nil {
		return false, fmt.Errorf("read the last version: %w", err)
	}
	return !bytes.Equal(last.Definition, w.Definition), nil
}

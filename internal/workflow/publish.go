package workflow

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/workflow"
	"atrium/internal/op"
)

// PublishWorkflow makes the draft the version that new requests run.
var PublishWorkflow = op.OnRow("workflow.publish", op.Spec{
	Resource: "Workflow", Action: op.Update, Scope: "workflows:write",
	Summary: "Publish a workflow's draft as its next version",
}, loadWorkflow, publishWorkflow)

// publishWorkflow makes a workflow active, one version on when its draft has changed since the last one. Returns
// validation_error for a draft that names what has gone since it was saved.
func publishWorkflow(ctx context.Context, tx *op.Tx, before *ent.Workflow, _ op.ByID) (*ent.Workflow, error) {
	if err := NewDefinition(AsSent(before.Definition)).check(ctx, tx); err != nil {
		return nil, err
	}
	changed := before.Version == 0
	if !changed {
		var err error
		if changed, err = changedSincePublished(ctx, tx, before.ID); err != nil {
			return nil, err
		}
	}
	if !changed && before.Status == workflow.StatusActive {
		return before, nil
	}
	u := before.Update().SetStatus(workflow.StatusActive)
	if changed {
		u.AddVersion(1)
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("publish the workflow: %w", err)
	}
	tx.Changed(before, after)
	return after, nil
}

// changedSincePublished tells whether the draft was saved anew since the last version was made. The audit log says so: a
// workflow's row holds the draft alone.
func changedSincePublished(ctx context.Context, tx *op.Tx, id string) (bool, error) {
	entries := tx.AuditEntry.Query().
		Where(auditentry.ResourceID(id), auditentry.ActionIn("workflow.updated", "workflow.published"), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).
		Order(auditentry.ByCreatedAt(sql.OrderDesc()), auditentry.ByID(sql.OrderDesc()))
	for offset := 0; ; offset += 100 {
		page, err := entries.Clone().Offset(offset).Limit(100).All(ctx)
		if err != nil {
			return false, fmt.Errorf("look for changes since the last version: %w", err)
		}
		for _, e := range page {
			var changes map[string]json.RawMessage
			if len(e.Changes) > 0 {
				if err := json.Unmarshal(e.Changes, &changes); err != nil {
					return false, fmt.Errorf("read the audit entry %s: %w", e.ID, err)
				}
			}
			if _, made := changes["version"]; made && e.Action == "workflow.published" {
				return false, nil
			}
			if _, saved := changes["definition"]; saved {
				return true, nil
			}
		}
		if len(page) < 100 {
			return false, nil
		}
	}
}

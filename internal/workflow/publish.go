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
	draft   json.RawMessage
	parsed  Definition
	version int  // the last one
	sends   bool // a secret to where that version sends it not
}

func preparePublication(ctx context.Context, tx *op.Tx, in op.ByID) (any, error) {
	w, err := tx.Workflow.Get(ctx, in.ID)
	if ent.IsNotFound(err) {
		return nil, nil // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the draft: %w", err)
	}
	p := publication{draft: w.Definition, version: w.Version}
	if p.parsed, err = DraftOf(w).read(ctx, tx); err != nil {
		return nil, err
	}
	p.sends, err = sendsElsewhere(ctx, tx, w, p.parsed)
	return p, err
}

// sendsElsewhere reports whether a draft sends a secret to where the last version does not.
func sendsElsewhere(ctx context.Context, tx *op.Tx, w *ent.Workflow, draft Definition) (bool, error) {
	if draft.parsed == nil {
		return false, nil // it will be refused
	}
	if len(draft.parsed.References().Secrets) == 0 {
		return false, nil
	}
	last, err := lastVersion(ctx, tx, w)
	if err != nil || last == nil {
		return true, err
	}
	if bytes.Equal(last.Definition, w.Definition) {
		return false, nil
	}
	before, err := NewDefinition(AsSent(last.Definition)).read(ctx, tx)
	if err != nil || before.parsed == nil { // by rules that came later it is no definition
		return true, err
	}
	var now, were map[string]bool
	err = tx.Costly(ctx, func(context.Context) (err error) {
		if were, err = before.sends(); err == nil {
			now, err = draft.sends()
		}
		return err
	})
	for place := range now {
		if !were[place] {
			return true, err
		}
	}
	return false, err
}

// publishWorkflow makes a workflow active, with a new version if its draft differs from the last one. Returns validation_error if the draft
// names a row that was deleted since it was saved, or people by an answer that its offerings no longer ask for, sends a secret to a host
// that its list no longer names, or calls a workflow that is not published, calls this one or calls others too deep. To send a secret to
// where the last version did not takes the right to do so, like a change of the secret's hosts.
func publishWorkflow(ctx context.Context, tx *op.Tx, before *ent.Workflow, _ op.ByID) (*ent.Workflow, error) {
	p, ok := op.Preparation[publication](tx)
	if !ok || !bytes.Equal(p.draft, before.Definition) || p.version != before.Version {
		return nil, op.ErrOutdated
	}
	all := tx.Unfiltered(ctx, "the person who saved a draft saw what it names")
	var refs op.Refs
	refs.Refused(p.parsed.check(all, tx))
	refs.Also(checkAnswers(ctx, tx, before.ID, p.parsed.names.Answers))
	refs.Also(checkCalls(ctx, tx, before, p.parsed.names.Workflows))
	if err := refs.Err(); err != nil {
		return nil, err
	}
	if p.sends {
		if err := tx.MayWith(ctx, "secrets:write", "secret.send"); err != nil {
			return nil, err
		}
	}
	last, err := lastVersion(all, tx, before)
	if err != nil {
		return nil, err
	}
	changed := last == nil || !bytes.Equal(last.Definition, before.Definition)
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

// lastVersion returns the version of the workflow that new requests run; nil if there is none yet.
func lastVersion(ctx context.Context, tx *op.Tx, w *ent.Workflow) (*ent.WorkflowVersion, error) {
	last, err := tx.WorkflowVersion.Query().Where(workflowversion.WorkflowID(w.ID), workflowversion.Version(w.Version)).
		Only(tx.Unfiltered(ctx, "whether there is something to publish is no matter of what the caller sees"))
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last version: %w", err)
	}
	return last, nil
}

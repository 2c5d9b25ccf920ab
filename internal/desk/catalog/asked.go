package catalog

import (
	"context"
	"fmt"

	entworkflow "atrium/ent/workflow"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
	"atrium/internal/workflow"
)

// faults are those of a form and of service levels that are costly to find.
type faults []apperr.Detail

// ready is what was found of an offering before the transaction: what is wrong with it, and whom its workflows ask.
type ready struct {
	faults            faults
	workflow, reopens workflow.Asking
}

// read reads whom the workflows of an offering ask.
func (r *ready) read(ctx context.Context, tx *op.Tx, workflowID, reopenWorkflowID *string) (err error) {
	if r.workflow, err = workflow.AskingOf(ctx, tx, workflowID); err == nil {
		r.reopens, err = workflow.AskingOf(ctx, tx, reopenWorkflowID)
	}
	return err
}

// unasked returns the answers by which the workflows name people and for which the form does not ask, at the fields that change it. Returns
// op.ErrOutdated if a workflow was published since.
func (r ready) unasked(ctx context.Context, tx *op.Tx, f *form.Definition, workflowID, reopenWorkflowID *string, at, reopenAt string) (out faults, err error) {
	for _, one := range []struct {
		of workflow.Asking
		id *string
		at string
	}{{r.workflow, workflowID, at}, {r.reopens, reopenWorkflowID, reopenAt}} {
		if err := one.of.Of(ctx, tx, one.id); err != nil {
			return nil, err
		}
		asked := one.of.Unasked(f)
		if asked == nil {
			continue
		}
		seen, err := tx.Workflow.Query().Where(entworkflow.ID(*one.id)).Exist(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the workflow: %w", err)
		}
		if !seen {
			if one.at == formField {
				out = append(out, apperr.Detail{Field: one.at, Message: "must have a question of the type user or email for each person whom its workflow takes from the answers"})
			}
			continue // one that is chosen is refused: the caller sees none
		}
		key, phase := text.Short(asked.Key, 80), text.Short(asked.Phase, 80)
		message := fmt.Sprintf("is a workflow that takes the person of its phase %q from the answer %q, for which the form has no question of the type user or email", phase, key)
		if one.at == formField {
			message = fmt.Sprintf("must have a question %q of the type user or email: the phase %q of its workflow takes its person from the answer", key, phase)
		}
		out = append(out, apperr.Detail{Field: one.at, Message: message})
	}
	return out, nil
}

const formField = "form"

// asks reports whether a change may leave a workflow without the answers that it asks for.
func (in UpdateOfferingInput) asks() bool {
	return in.Form.IsSet() || in.WorkflowID.IsSet() || in.ReopenWorkflowID.IsSet()
}

// where names the field that a change is refused at: the workflow if it is chosen anew, else the form.
func where(p op.Patch[string], field string) string {
	if p.IsSet() {
		return field
	}
	return formField
}

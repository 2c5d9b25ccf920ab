package workflow

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent/offering"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
)

const maxForms = 1_000 // of offerings that use one workflow

// naming are the types of questions whose answers can name a person: by id, or by e-mail address.
var naming = []form.Type{form.User, form.Email, form.Text, form.Select}

// checkAnswers returns a validation error with the answers by which a definition names people, although none of the offerings that use the
// workflow asks for them, or what they ask names no person. Every answer is possible as long as no offering uses the workflow, and if one
// without a form does.
func checkAnswers(ctx context.Context, tx *op.Tx, workflowID string, refs []definition.Reference) error {
	if len(refs) == 0 {
		return nil
	}
	rows, err := tx.Offering.Query().Where(offering.Or(offering.WorkflowID(workflowID), offering.ReopenWorkflowID(workflowID))).Limit(maxForms).
		Select(offering.FieldForm).All(tx.Unfiltered(ctx, "what the workflow can be asked does not depend on what the caller sees of it"))
	if err != nil {
		return fmt.Errorf("read the forms of the workflow: %w", err)
	}
	types := map[string][]form.Type{} // of the questions, by their keys
	for _, o := range rows {
		if o.Form == nil {
			return nil
		}
		for _, f := range o.Form.Fields {
			types[f.Key] = append(types[f.Key], f.Type)
		}
	}
	var faults op.Refs
	for _, ref := range refs {
		asked := types[ref.ID]
		switch {
		case len(rows) == 0:
		case len(asked) == 0:
			faults.Fault(ref.Field, fmt.Sprintf("%q is no question of an offering that uses the workflow.", short(ref.ID)))
		case !slices.ContainsFunc(asked, func(t form.Type) bool { return slices.Contains(naming, t) }):
			faults.Fault(ref.Field, fmt.Sprintf("The question %q is of the type %s, which names no person: it takes one of the type user or email.", short(ref.ID), asked[0]))
		}
	}
	return faults.Err()
}

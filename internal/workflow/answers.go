package workflow

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/workflow"
	"atrium/ent/workflowversion"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
)

const maxForms = 1_000 // of offerings that use one workflow

// checkAnswers returns a validation error with the answers of requests by which a definition names people and for which an offering that
// uses the workflow does not ask, or by a question whose answer names no person. An offering without a form takes every answer.
// It names no offering that the caller does not see.
func checkAnswers(ctx context.Context, tx *op.Tx, workflowID string, refs []definition.Reference) error {
	if len(refs) == 0 {
		return nil
	}
	using := tx.Offering.Query().Where(offering.Or(offering.WorkflowID(workflowID), offering.ReopenWorkflowID(workflowID))).
		Order(offering.ByName(), offering.ByID()).Limit(maxForms)
	rows, err := using.Clone().Select(offering.FieldID, offering.FieldName, offering.FieldForm).
		All(tx.Unfiltered(ctx, "what the workflow can be asked does not depend on what the caller sees of it"))
	if err != nil {
		return fmt.Errorf("read the forms of the workflow: %w", err)
	}
	var faults op.Refs
	for _, ref := range refs {
		lacking := slices.DeleteFunc(slices.Clone(rows), func(o *ent.Offering) bool { return definition.AsksFor(o.Form, ref.ID) })
		if len(lacking) == 0 {
			continue
		}
		seen, err := using.IDs(ctx)
		if err != nil {
			return fmt.Errorf("look for the offerings of the workflow: %w", err)
		}
		which := "an offering"
		if i := slices.IndexFunc(lacking, func(o *ent.Offering) bool { return slices.Contains(seen, o.ID) }); i >= 0 {
			which = fmt.Sprintf("the offering %q", short(lacking[i].Name))
		}
		faults.Fault(ref.Field, fmt.Sprintf("The phase %q takes its person from the answer %q, for which %s has no question of the type user or email.",
			short(ref.Phase), short(ref.ID), which))
	}
	return faults.Err()
}

// Asking are the answers by which the published version of a workflow names people. It is read before a transaction, because versions can be
// long.
type Asking struct {
	id      string
	version int
	answers []definition.Asked
}

// AskingOf reads what the published version of a workflow asks; nothing for one that is not published or not there, or for nil.
func AskingOf(ctx context.Context, tx *op.Tx, id *string) (a Asking, err error) {
	if id == nil {
		return a, nil
	}
	a.id = *id
	all := tx.Unfiltered(ctx, "whom a workflow asks does not depend on what the caller sees of it")
	w, err := tx.Workflow.Query().Where(workflow.ID(*id), workflow.VersionGT(0)).Only(all)
	if err != nil {
		return a, ent.MaskNotFound(err)
	}
	v, err := tx.WorkflowVersion.Query().Where(workflowversion.WorkflowID(w.ID), workflowversion.Version(w.Version)).Only(all)
	if err != nil {
		return a, fmt.Errorf("read the published version of %s: %w", w.ID, err)
	}
	a.version = w.Version
	a.answers, err = definition.AskedOf(AsSent(v.Definition))
	return a, err
}

// Of returns op.ErrOutdated unless it is what a workflow asks by now.
func (a Asking) Of(ctx context.Context, tx *op.Tx, id *string) error {
	if op.Or(id, "") != a.id {
		return op.ErrOutdated
	}
	if a.version == 0 {
		return nil
	}
	same, err := tx.Workflow.Query().Where(workflow.ID(a.id), workflow.Version(a.version)).Exist(tx.Unfiltered(ctx, "as when it was read"))
	if err == nil && !same {
		return op.ErrOutdated
	}
	return err
}

// Unasked returns the first answer that a form does not ask for; nil if there is none.
func (a Asking) Unasked(f *form.Definition) *definition.Asked {
	for _, one := range a.answers {
		if !definition.AsksFor(f, one.Key) {
			return &one
		}
	}
	return nil
}

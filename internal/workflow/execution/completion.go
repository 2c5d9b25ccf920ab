package execution

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/internal/desk/form"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// completion is the result of checking a completion against the phase, before the transaction.
type completion struct {
	outcome *string
	faults  []apperr.Detail
}

func prepareCompletion(ctx context.Context, tx *op.Tx, in CompleteTaskInput) (any, error) {
	t, err := tx.Task.Get(ctx, in.ID)
	if ent.IsNotFound(err) {
		return nil, nil // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the task: %w", err)
	}
	p, err := phaseOf(ctx, tx, t.ExecutionID, t.PhaseID)
	if err != nil {
		return nil, err
	}
	way := op.Or(in.Outcome, definition.Next)
	c := completion{outcome: &way}
	if p.Process == nil { // the task asks for corrections
		if c.outcome = nil; way != definition.Next {
			c.faults = append(c.faults, apperr.Detail{Field: "outcome", Message: "is not an outcome of this task: corrections have none"})
		}
		faults, err := correctionFaults(ctx, tx, t, in.Variables)
		c.faults = append(c.faults, faults...)
		return c, err
	}
	c.faults, err = TaskFaults(ctx, tx, p, way, in.Variables)
	return c, err
}

// TaskFaults returns the faults of an outcome and of variables as the result of a phase's task. Call it outside of transactions.
func TaskFaults(ctx context.Context, tx *op.Tx, p *definition.Phase, way string, variables map[string]any) (faults []apperr.Detail, err error) {
	if p.Follow(way) == nil {
		faults = append(faults, apperr.Detail{Field: "outcome", Message: "must be one of the task's outcomes"})
	}
	if p.Process.Form == nil {
		return append(faults, under("variables", form.ValidateWithoutForm(variables))...), nil
	}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		rows, err := p.Process.Form.Validate(tx.Filtered(ctx), variables, domain.LookupsOf(tx))
		faults = append(faults, under("variables", rows)...)
		return err
	})
	return faults, err
}

// correctionFaults checks corrections against the form of the request's offering, together with the request's other fields.
func correctionFaults(ctx context.Context, tx *op.Tx, t *ent.Task, corrections map[string]any) ([]apperr.Detail, error) {
	if t.RequestID == nil {
		return CorrectionFaults(ctx, tx, nil, corrections)
	}
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "who works its task corrects it"), *t.RequestID)
	if err != nil {
		return nil, fmt.Errorf("read the task's request: %w", err)
	}
	return CorrectionFaults(ctx, tx, r, corrections)
}

// CorrectionFaults returns the faults of corrections of a request, which is nil for an execution without one. Call it outside of
// transactions.
func CorrectionFaults(ctx context.Context, tx *op.Tx, r *ent.Request, corrections map[string]any) ([]apperr.Detail, error) {
	faults := form.ValidateWithoutForm(corrections)
	if len(faults) > 0 || r == nil {
		return under("variables", faults), nil
	}
	var old map[string]any
	if err := decode(r.Fields, &old); err != nil {
		return nil, fmt.Errorf("read the request's fields: %w", err)
	}
	all := map[string]any{}
	maps.Copy(all, old)
	maps.Copy(all, corrections)
	faults, err := domain.FieldFaults(ctx, tx, r.OfferingID, all, old)
	return under("variables", faults), err
}

// CompletionFaults returns the faults of a completion of a task, by its outcomes and its form. Call it outside of
// transactions.
func CompletionFaults(ctx context.Context, tx *op.Tx, in CompleteTaskInput) ([]apperr.Detail, error) {
	made, err := prepareCompletion(ctx, tx, in)
	c, _ := made.(completion)
	return c.faults, err
}

// under renames a form's faults after the input's field that holds the form's values.
func under(field string, rows []apperr.Detail) []apperr.Detail {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Field = field + out[i].Field[min(len("fields"), len(out[i].Field)):]
	}
	return out
}

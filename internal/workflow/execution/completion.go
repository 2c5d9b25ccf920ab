package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/form"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/definition"
)

// completion is the result of checking a completion against the phase, before the transaction.
type completion struct {
	outcome *string
	written strictjson.Object // the variables without the company's secrets, as they are checked and stored
	faults  []apperr.Detail
	files   []form.FileAnswer
	already map[string]any // for corrections: the answers of the request
	shown   json.RawMessage
}

func (c completion) earlier() json.RawMessage { return c.shown }

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
	if err := ofTasks(ctx, tx, t); err != nil {
		return nil, err
	}
	way := op.Or(in.Outcome, definition.Next)
	c := completion{outcome: &way, shown: t.Shown}
	if c.written, err = hidden(ctx, tx, in.Variables); err != nil {
		return nil, err
	}
	if p.Process == nil { // the task asks for corrections
		if c.outcome = nil; way != definition.Next {
			c.faults = append(c.faults, apperr.Detail{Field: "outcome", Message: "is not an outcome of this task: corrections have none"})
		}
		err := c.corrects(ctx, tx, t)
		return c, err
	}
	if p.Process.Form != nil {
		c.files = p.Process.Form.Files(c.written)
	}
	c.faults, err = TaskFaults(ctx, tx, p, way, c.written, FilesFor(tx, t.RequestID))
	return c, err
}

// FilesFor returns which files the answers of a task may name; nil for a task without a request, which would keep them.
func FilesFor(tx *op.Tx, requestID *string) form.FileLookup {
	if requestID == nil {
		return nil
	}
	return attachment.Answerable(tx, *requestID)
}

// withoutRequest is said of files where no request would keep them.
const withoutRequest = "The task belongs to no request, so it takes no files."

// TaskFaults returns the faults of an outcome and of variables as the result of a phase's task. A task without a request has no lookup of
// files: it takes none, and is not asked for any. Call it outside of transactions.
func TaskFaults(
	ctx context.Context, tx *op.Tx, p *definition.Phase, way string, variables map[string]any, files form.FileLookup,
) (faults []apperr.Detail, err error) {
	if p.Follow(way) == nil {
		faults = append(faults, apperr.Detail{Field: "outcome", Message: "must be one of the task's outcomes"})
	}
	if p.Process.Form == nil {
		return append(faults, underVariables(form.ValidateWithoutForm(variables))...), nil
	}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		lookups := domain.LookupsOf(tx, files)
		if files == nil {
			lookups.Files = form.NoFiles(withoutRequest)
		}
		rows, err := p.Process.Form.Validate(tx.Filtered(ctx), variables, lookups)
		if files == nil {
			rows = slices.DeleteFunc(rows, func(d apperr.Detail) bool { return asksForMissing(p.Process.Form, d, variables) })
		}
		faults = append(faults, underVariables(rows)...)
		return err
	})
	return faults, err
}

// asksForMissing reports whether a detail asks for files that are not given.
func asksForMissing(f *form.Form, d apperr.Detail, variables map[string]any) bool {
	key := strings.TrimPrefix(d.Field, "fields.")
	list, isList := variables[key].([]any)
	return f.AsksForFiles(key) && (variables[key] == nil || isList && len(list) == 0)
}

// corrects checks corrections against the form of the request's offering, together with the request's other fields.
func (c *completion) corrects(ctx context.Context, tx *op.Tx, t *ent.Task) error {
	var r *ent.Request
	if t.RequestID != nil {
		var err error
		if r, err = tx.Request.Get(tx.Unfiltered(ctx, "who works its task corrects it"), *t.RequestID); err != nil {
			return fmt.Errorf("read the task's request: %w", err)
		}
		if err := decode(r.Fields, &c.already); err != nil {
			return fmt.Errorf("read the request's fields: %w", err)
		}
		if c.files, err = domain.FilesOf(ctx, tx, r.OfferingID, c.written); err != nil {
			return err
		}
	}
	faults, err := CorrectionFaults(ctx, tx, r, c.written)
	c.faults = append(c.faults, faults...)
	return err
}

// CorrectionFaults returns the faults of corrections of a request, which is nil for an execution without one. Call it outside of
// transactions.
func CorrectionFaults(ctx context.Context, tx *op.Tx, r *ent.Request, corrections map[string]any) ([]apperr.Detail, error) {
	faults := form.ValidateWithoutForm(corrections)
	if len(faults) > 0 || r == nil {
		return underVariables(faults), nil
	}
	var old map[string]any
	if err := decode(r.Fields, &old); err != nil {
		return nil, fmt.Errorf("read the request's fields: %w", err)
	}
	all := map[string]any{}
	maps.Copy(all, old)
	maps.Copy(all, corrections)
	faults, err := domain.FieldFaults(ctx, tx, r.OfferingID, all, old, attachment.Answerable(tx, r.ID))
	return underVariables(faults), err
}

// CheckCompletion returns the variables of a completion of a task without the company's secrets, and the faults of the completion by the
// task's outcomes and form. Call it outside of transactions.
func CheckCompletion(ctx context.Context, tx *op.Tx, in CompleteTaskInput) (strictjson.Object, []apperr.Detail, error) {
	made, err := prepareCompletion(ctx, tx, in)
	c, _ := made.(completion)
	return c.written, c.faults, err
}

// underVariables names a form's faults after the input's field that holds the form's values.
func underVariables(rows []apperr.Detail) []apperr.Detail {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Field = "variables" + out[i].Field[min(len("fields"), len(out[i].Field)):]
	}
	return out
}

package execution

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// PreviewMove shows what a MOVE would do. It computes the step as the worker would, and writes and calls nothing.
var PreviewMove = op.OnRow("incident.preview", op.Spec{
	Resource: "Incident", Action: op.Read, Scope: "workflows:read", Summary: "Preview moving an incident's execution to another version",
}, loadIncident, previewMove)

// PreviewMoveInput names the version, and the phase of it.
type PreviewMoveInput struct {
	op.ByID
	Version int    `json:"-" query:"version" minimum:"1" doc:"The published version of the workflow; the last one when not given."`
	PhaseID string `json:"-" query:"phaseId" maxLength:"63" doc:"The phase of that version in which the execution would go on; the incident's own when not given."`
}

// MovePreview is where an execution would stop after a move, and which variables it would lose.
type MovePreview struct {
	Version int
	PhaseID string            // the phase in which it would continue
	Status  string            // the execution's status, once it stops again
	Phases  []*ent.PhaseVisit // the phases that would change or be entered until then, in order
	Lost    []*LostVariables
	Passed  []Passed // what it would leave out of what people do
}

// LostVariables are the variables of a phase that the other version does not have.
type LostVariables struct {
	PhaseID   string
	Variables json.RawMessage
}

// target is the version that an execution moves to.
type target struct {
	version int
	d       *definition.Definition
}

// targetOf reads a version of the execution's workflow. Returns a fault that says why the execution cannot move to this version or
// phase, or no fault if it can. An empty phaseID stands for the incident's own phase.
func targetOf(ctx context.Context, db *ent.Client, e *ent.Execution, i *ent.Incident, version int, phaseID string) (*target, string, *apperr.Detail, error) {
	if version == e.WorkflowVersion {
		return nil, "", &apperr.Detail{Field: "version", Message: "The execution runs this version."}, nil
	}
	d, err := versionOf(ctx, db, e.WorkflowID, version)
	if ent.IsNotFound(err) {
		return nil, "", &apperr.Detail{Field: "version", Message: "The workflow has no such version."}, nil
	}
	if err != nil {
		return nil, "", nil, err
	}
	to := cmp.Or(phaseID, i.PhaseID)
	p := d.Phase(to)
	switch {
	case p == nil && phaseID == "":
		return nil, "", &apperr.Detail{Field: "phaseId", Message: "The version does not have the phase of the incident: name another one."}, nil
	case p == nil:
		return nil, "", &apperr.Detail{Field: "phaseId", Message: "The version has no such phase."}, nil
	case p.Type == definition.Start && to != i.PhaseID:
		return nil, "", &apperr.Detail{Field: "phaseId", Message: "must not be the START"}, nil
	}
	return &target{version, d}, to, nil, nil
}

// moved returns the inputs of an incident that was resolved by a move.
func (l *loaded) moved(ctx context.Context, db *ent.Client, version int, phaseID string, variables map[string]any) ([]engine.Input, error) {
	d, err := versionOf(ctx, db, l.row.WorkflowID, version)
	if err != nil {
		return nil, err
	}
	l.target = &target{version, d}
	return []engine.Input{engine.Move{Visit: l.state.Visit.Number, PhaseID: phaseID, Variables: variables}}, nil
}

func previewMove(ctx context.Context, tx *op.Tx, i *ent.Incident, in PreviewMoveInput) (MovePreview, error) {
	all := tx.Unfiltered(ctx, "the engine looks at the same rows for every caller")
	var out MovePreview
	e, err := tx.Execution.Get(all, i.ExecutionID)
	if err != nil {
		return out, fmt.Errorf("read the execution: %w", err)
	}
	version := in.Version
	if version == 0 {
		w, err := tx.Workflow.Get(all, e.WorkflowID)
		if err != nil {
			return out, fmt.Errorf("read the workflow: %w", err)
		}
		version = w.Version
	}
	err = tx.Costly(all, func(ctx context.Context) error {
		t, to, fault, err := targetOf(ctx, tx.Client, e, i, version, in.PhaseID)
		if err != nil {
			return err
		}
		if fault != nil {
			return apperr.Invalid(*fault)
		}
		now := tx.Now(ctx)
		l, err := load(ctx, tx.Client, i.ExecutionID, now)
		if err != nil {
			return err
		}
		if l == nil || i.Status != incident.StatusOPEN || l.state.Wait == nil || l.state.Wait.For != engine.ForIncident {
			return apperr.New(apperr.Conflict, "The execution does not wait for anybody to resolve the incident.")
		}
		if out, err = l.preview(ctx, tx.Client, t, to, now); err == nil {
			out.Passed, err = passedBy(ctx, tx, e, t.d, i.PhaseID, to, string(incident.ResolutionMOVE))
		}
		return err
	})
	return out, err
}

// preview computes the step of a move, as a worker would.
func (l *loaded) preview(ctx context.Context, db *ent.Client, t *target, phaseID string, now time.Time) (MovePreview, error) {
	ctx, _ = definition.WithBudget(ctx, turnEval)
	out := MovePreview{Version: t.version, PhaseID: phaseID, Lost: []*LostVariables{}}
	for _, id := range engine.Lost(t.d, l.state.Phases) {
		raw, err := encode(l.state.Phases[id])
		if err != nil {
			return out, err
		}
		out.Lost = append(out.Lost, &LostVariables{PhaseID: id, Variables: raw})
	}
	l.target, l.inputs = t, []engine.Input{engine.Move{Visit: l.state.Visit.Number, PhaseID: phaseID}}
	p, err := l.compute(ctx, db, now)
	if err != nil {
		return out, err
	}
	out.Status = string(p.state.Status)
	for _, v := range p.history {
		row, err := visitRow(v)
		if err != nil {
			return out, err
		}
		out.Phases = append(out.Phases, row)
	}
	return out, nil
}

// visitRow returns a visit as the history would show it.
func visitRow(v engine.Visit) (*ent.PhaseVisit, error) {
	d, err := documentsOf(v)
	if err != nil {
		return nil, fmt.Errorf("show the visit of %s: %w", v.PhaseID, err)
	}
	return &ent.PhaseVisit{
		Number: v.Number, PhaseID: v.PhaseID, Type: string(v.Type), Status: phasevisit.Status(v.Status), StartedAt: v.StartedAt, FinishedAt: v.FinishedAt,
		Transition: v.Transition, Attempts: v.Attempts, Input: d.input, Output: d.output, Error: d.fault,
	}, nil
}

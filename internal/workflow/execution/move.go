package execution

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
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
	case p.Type == definition.Join && to != i.PhaseID:
		return nil, "", &apperr.Detail{Field: "phaseId", Message: "must not be a JOIN, to which only branches lead"}, nil
	}
	s, err := readState(e.State)
	if err != nil {
		return nil, "", nil, err
	}
	now, err := versionOf(ctx, db, e.WorkflowID, e.WorkflowVersion)
	if err != nil {
		return nil, "", nil, err
	}
	if why := immovable(now, d, s, i.Visit, p); why != "" {
		return nil, "", &apperr.Detail{Field: "version", Message: why}, nil
	}
	return &target{version, d}, to, nil, nil
}

// immovable says why an execution cannot move from one definition to another in the phase of a visit; empty if it can. What the other
// branches of a block wait for was opened by the definition from which it moves, so their phases must ask the same in both.
func immovable(from, to *definition.Definition, s engine.State, visit int, phase *definition.Phase) string {
	if s.At(visit) == nil {
		return "" // it has gone on, which whoever moves it reports
	}
	if why := engine.Misfit(to, s, visit, phase); why != "" {
		return why
	}
	for _, at := range s.Open() {
		if at.Wait == nil || at.Visit.Number == visit {
			continue
		}
		old, now := from.Phase(at.Visit.PhaseID), to.Phase(at.Visit.PhaseID)
		ways := slices.DeleteFunc(old.Ways(), func(way string) bool { return now.Follow(way) != nil })
		asks := reflect.DeepEqual(old.Approval, now.Approval) && slices.Equal(old.InRole("accountable"), now.InRole("accountable"))
		if len(ways) > 0 || !asks {
			return fmt.Sprintf("The execution also waits in the phase %s, which has other ways out or other approvers in the version.", old.ID)
		}
	}
	return ""
}

// moved returns the inputs of an incident that was resolved by a move. A commit moves once: further moves, of incidents of other
// branches, wait for the next.
func (l *loaded) moved(ctx context.Context, db *ent.Client, v *engine.Visit, version int, phaseID string, variables map[string]any) ([]engine.Input, error) {
	if l.target != nil {
		l.rest = true
		return nil, nil
	}
	d, err := versionOf(ctx, db, l.row.WorkflowID, version)
	if err != nil {
		return nil, err
	}
	l.target = &target{version, d}
	return []engine.Input{engine.Move{Visit: v.Number, PhaseID: phaseID, Variables: variables}}, nil
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
		if l == nil || i.Status != incident.StatusOPEN || !waitsAt(&l.state, i.Visit, engine.ForIncident) {
			return apperr.New(apperr.Conflict, "The execution does not wait for anybody to resolve the incident.")
		}
		if out, err = l.preview(ctx, tx.Client, t, i.Visit, to, now); err == nil {
			out.Passed, err = passedBy(ctx, tx, e, t.d, i, to, string(incident.ResolutionMOVE))
		}
		return err
	})
	return out, err
}

// preview computes the step of a move, as a worker would.
func (l *loaded) preview(ctx context.Context, db *ent.Client, t *target, visit int, phaseID string, now time.Time) (out MovePreview, err error) {
	ctx, _ = definition.WithBudget(ctx, turnEval)
	out = MovePreview{Version: t.version, PhaseID: phaseID, Lost: []*LostVariables{}}
	l.state.Each(func(s *engine.State) {
		for _, id := range engine.Lost(t.d, s.Phases) {
			raw, wrong := encode(s.Phases[id])
			err = errors.Join(err, wrong)
			out.Lost = append(out.Lost, &LostVariables{PhaseID: id, Variables: raw})
		}
	})
	if err != nil {
		return out, err
	}
	l.target, l.inputs = t, []engine.Input{engine.Move{Visit: visit, PhaseID: phaseID}}
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

// waitsAt reports whether an execution waits for something of a kind in a visit.
func waitsAt(s *engine.State, visit int, kind engine.WaitKind) bool {
	at := s.At(visit)
	return at != nil && at.Wait != nil && at.Wait.For == kind
}

// visitRow returns a visit as the history would show it.
func visitRow(v engine.Visit) (*ent.PhaseVisit, error) {
	d, err := documentsOf(v)
	if err != nil {
		return nil, fmt.Errorf("show the visit of %s: %w", v.PhaseID, err)
	}
	return &ent.PhaseVisit{
		Number: v.Number, PhaseID: v.PhaseID, Type: string(v.Type), Status: phasevisit.Status(v.Status), StartedAt: v.StartedAt, FinishedAt: v.FinishedAt,
		Transition: v.Transition, Attempts: v.Attempts, Branch: text.OrNil(v.Branch), Input: d.input, Output: d.output, Error: d.fault,
	}, nil
}

package execution

import (
	"context"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/incident"
	"atrium/ent/task"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// Passed is a phase that people decide or work, and that the resolution of an incident leaves out.
type Passed struct {
	PhaseID   string
	MayDecide bool // whether the caller could have completed its task, and given its approval or sign-off
}

// passedBy returns what resolving an incident leaves out: a SKIP the phase itself, and a MOVE what lies between it and
// the phase to of d. Call it outside of transactions.
func passedBy(ctx context.Context, tx *op.Tx, e *ent.Execution, d *definition.Definition, i *ent.Incident, to, action string) ([]Passed, error) {
	out, visit := []Passed{}, i.Visit
	from := d.Phase(i.PhaseID)
	var phases []*definition.Phase
	switch {
	case action == string(incident.ResolutionSKIP) && (from.Process != nil || from.Approval != nil):
		phases = []*definition.Phase{from}
	case action == string(incident.ResolutionMOVE):
		phases = d.Passed(from, d.Phase(to))
	}
	if len(phases) == 0 {
		return out, nil
	}
	s, err := readState(e.State)
	if err != nil {
		return nil, err
	}
	ids, err := callerIDs(ctx, tx)
	if err != nil {
		return nil, err
	}
	known := s.Phases
	if at := s.At(visit); at != nil && at != &s {
		known = maps.Clone(known)
		maps.Copy(known, at.Phases)
	}
	for _, p := range phases {
		if _, done := known[p.ID]; done && from == nil {
			continue // it came before the phase that the version does not have
		}
		may, err := mayDecideIn(ctx, tx, e, p, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, Passed{p.ID, may})
	}
	return out, nil
}

// mayDecideIn reports whether the caller, for whom the ids stand among approvers, could complete the task of a phase and decide its
// approval or sign-off, if the execution came there.
func mayDecideIn(ctx context.Context, tx *op.Tx, e *ent.Execution, p *definition.Phase, ids []string) (bool, error) {
	if p.Process != nil {
		t := &ent.Task{CompanyID: e.CompanyID, ExecutionID: e.ID, RequestID: e.RequestID, PhaseID: p.ID, Title: p.Title(), Status: task.StatusOPEN}
		if may, err := tx.Permits(ctx, CompleteTask.Info(), t); err != nil || !may || !engine.SignedOff(p) {
			return may, err
		}
	}
	approvers, _, _, _ := approversOf(p, p.Approval == nil)
	if !slices.ContainsFunc(approvers, func(one definition.Participant) bool { return slices.Contains(ids, one.ID) }) {
		return false, nil
	}
	a := &ent.Approval{CompanyID: e.CompanyID, ExecutionID: e.ID, RequestID: e.RequestID, PhaseID: p.ID, Status: approval.StatusPENDING}
	filers, err := filersOf(ctx, tx, a)
	if err != nil || slices.Contains(filers[a.ID], tx.Principal().ID) {
		return false, err
	}
	return tx.Permits(ctx, DecideApproval.Info(), a)
}

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
	case action == string(incident.ResolutionSKIP) && (from.Process != nil || from.Approval != nil || from.Calls != nil && from.Calls.Wait):
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
		may, asks, err := mayPass(ctx, tx, e, p, ids, 0)
		if err != nil {
			return nil, err
		}
		if asks {
			out = append(out, Passed{p.ID, may})
		}
	}
	return out, nil
}

// mayPass is mayDecideIn for a phase that people decide or work, or for all such phases of the workflow that it calls, by its published
// version. asks reports whether there is one.
func mayPass(ctx context.Context, tx *op.Tx, e *ent.Execution, p *definition.Phase, ids []string, depth int) (may, asks bool, err error) {
	if p.Calls == nil {
		if p.Process == nil && p.Approval == nil {
			return true, false, nil
		}
		may, err = mayDecideIn(ctx, tx, e, p, ids)
		return may, true, err
	}
	all := tx.Unfiltered(ctx, "what a workflow asks of people is no matter of what the caller sees of it")
	version, err := activeVersion(all, tx.Client, p.Calls.WorkflowID)
	if err != nil || version == 0 || depth == definition.MaxDepth || !p.Calls.Wait {
		return true, false, err
	}
	d, err := versionOf(all, tx.Client, p.Calls.WorkflowID, version)
	if err != nil {
		return false, false, err
	}
	for _, inner := range d.Phases {
		one, some, err := mayPass(ctx, tx, e, inner, ids, depth+1)
		if asks = asks || some; err != nil || !one {
			return false, asks, err
		}
	}
	return true, asks, nil
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

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
	q := passing{tx, e, ids, map[calledAt]passable{}}
	for _, p := range phases {
		if _, done := known[p.ID]; done && from == nil {
			continue // it came before the phase that the version does not have
		}
		of, err := q.phase(ctx, p, 0)
		if err != nil {
			return nil, err
		}
		if of.asks {
			out = append(out, Passed{p.ID, of.may})
		}
	}
	return out, nil
}

// passing asks about the phases that one resolution leaves out. ids stand for the caller among approvers.
type passing struct {
	tx    *op.Tx
	e     *ent.Execution
	ids   []string
	asked map[calledAt]passable // each called workflow is read once a depth: those that call it may be many, and nested
}

type calledAt struct {
	workflowID string
	depth      int
}

// passable says of a phase or a workflow whether it asks anything of people, and whether the caller may decide all of that.
type passable struct{ may, asks bool }

// phase is mayDecideIn for a phase that people decide or work, or for all such phases of the workflow that it calls.
func (q passing) phase(ctx context.Context, p *definition.Phase, depth int) (passable, error) {
	switch {
	case p.Process != nil || p.Approval != nil:
		may, err := mayDecideIn(ctx, q.tx, q.e, p, q.ids)
		return passable{may, true}, err
	case p.Calls == nil || !p.Calls.Wait || depth == definition.MaxDepth:
		return passable{may: true}, nil
	}
	at := calledAt{p.Calls.WorkflowID, depth}
	if known, ok := q.asked[at]; ok {
		return known, nil
	}
	out, err := q.workflow(ctx, at)
	q.asked[at] = out
	return out, err
}

// workflow asks about a called workflow by its published version.
func (q passing) workflow(ctx context.Context, at calledAt) (passable, error) {
	out := passable{may: true}
	all := q.tx.Unfiltered(ctx, "what a workflow asks of people is no matter of what the caller sees of it")
	version, err := activeVersion(all, q.tx.Client, at.workflowID)
	if err != nil || version == 0 {
		return out, err
	}
	d, err := versionOf(all, q.tx.Client, at.workflowID, version)
	if err != nil {
		return out, err
	}
	for _, p := range d.Phases {
		of, err := q.phase(ctx, p, at.depth+1)
		out = passable{of.may, out.asks || of.asks}
		if err != nil || !of.may {
			return out, err
		}
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
	all := tx.Unfiltered(ctx, "whom a phase names does not depend on who asks")
	approvers, err := peopleNow(all, tx.Client, nowAt{e.ID, e.RequestID, 0}, p, func(p *definition.Phase) []definition.Participant {
		list, _, _, _ := approversOf(p, p.Approval == nil)
		return list
	})
	if err != nil {
		return false, err
	}
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

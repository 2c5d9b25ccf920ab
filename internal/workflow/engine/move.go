package engine

import (
	"fmt"
	"maps"
	"slices"

	"atrium/internal/workflow/definition"
)

// move continues in a phase of the run's definition, which differs from the incident's. Returns ErrNoWay for a phase that it does not
// have, for its START or a JOIN, because no transition from here leads there, and if the execution does not fit the definition: see Misfit.
func (r *run) move(in Move) error {
	p := r.d.Phase(in.PhaseID)
	if p == nil || Misfit(r.d, *r.root().state, in.Visit, p) != "" {
		return ErrNoWay
	}
	v := r.state.Visit
	same := p.ID == v.PhaseID && p.Type == v.Type
	if (p.Type == definition.Start || p.Type == definition.Join) && !same {
		return ErrNoWay
	}
	if err := r.resolve(in.Variables); err != nil {
		return err
	}
	r.root().state.Each(func(s *State) {
		for _, id := range Lost(r.d, s.Phases) {
			delete(s.Phases, id)
		}
	})
	if same {
		r.again(p)
		return nil
	}
	r.state.Status, r.state.Wait = Running, nil
	r.finish(Skipped, "")
	r.enter(p)
	return nil
}

// Misfit says why an execution cannot follow another definition with one of its visits moved to a phase; empty if it can. The phase must
// stand in the branch of the visit. The blocks around it must be there with the same branches, and all other branches stay where they
// are.
func Misfit(d *definition.Definition, s State, moved int, to *definition.Phase) string {
	return misfit(d, s, func(p *definition.Phase) bool { return p.Within == nil }, moved, to)
}

// misfit is Misfit for a state; here reports whether a phase stands in its branch.
func misfit(d *definition.Definition, s State, here func(*definition.Phase) bool, moved int, to *definition.Phase) string {
	v := s.Visit
	if s.Status.Final() || v == nil {
		return ""
	}
	if v.Number == moved {
		if !here(to) {
			return fmt.Sprintf("The phase %s of the version does not stand in the branch of the incident.", to.ID)
		}
		return ""
	}
	p := d.Phase(v.PhaseID)
	if p == nil || p.Type != v.Type || !here(p) || s.Status == Running && v.FinishedAt != nil && p.Follow(v.Transition) == nil {
		return fmt.Sprintf("The execution also stands in the phase %s, which the version does not have there with the same type and ways out.", v.PhaseID)
	}
	if s.Block == nil {
		return ""
	}
	for _, b := range s.Block.Branches {
		if p.Block.In == nil && len(p.Block.Branches) != len(s.Block.Branches) || p.Block.Index(b.Name) < 0 {
			return fmt.Sprintf("The block %s of the version does not have the same branches.", p.ID)
		}
		inside := func(one *definition.Phase) bool { return one.Within == p && one.Branch == p.Block.Index(b.Name) }
		if why := misfit(d, b.State, inside, moved, to); why != "" {
			return why
		}
	}
	return ""
}

// Lost returns, in order, the phases whose variables no expression of the definition can read, because the definition has no
// such phases.
func Lost(d *definition.Definition, phases map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(phases)), func(id string) bool { return d.Phase(id) != nil })
}

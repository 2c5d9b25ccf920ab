package engine

import (
	"fmt"
	"maps"
	"slices"

	"atrium/internal/workflow/definition"
)

// move continues in a phase of the run's definition, which differs from the incident's. Returns ErrNoWay for a phase that it
// does not have or that stands in another branch, and for its START or a JOIN, because no transition from here leads there. The rest of
// the execution must fit the definition: see Misfit.
func (r *run) move(in Move) error {
	p := r.d.Phase(in.PhaseID)
	if p == nil || !r.holds(p) || Misfit(r.d, *r.root().state, in.Visit) != "" {
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

// holds reports whether a phase stands in the branch of the state: for that of the execution, in none.
func (r *run) holds(p *definition.Phase) bool {
	if r.up == nil {
		return p.Within == nil
	}
	return standsIn(p, r.d.Phase(r.up.state.Visit.PhaseID), r.branch)
}

func standsIn(p, block *definition.Phase, b *Branch) bool {
	return block != nil && block.Block != nil && p.Within == block && p.Branch == block.Block.Index(b.Name)
}

// Misfit says why an execution cannot follow another definition with one of its visits moved; empty if it can. The blocks in which it
// stands must be there with the same branches, and all other branches stay where they are.
func Misfit(d *definition.Definition, s State, moved int) string {
	if s.Block == nil || s.Visit == nil {
		return ""
	}
	p := d.Phase(s.Visit.PhaseID)
	if p == nil || p.Type != s.Visit.Type {
		return fmt.Sprintf("The version does not have the block %s, in which the execution stands.", s.Visit.PhaseID)
	}
	if p.Block.In == nil && len(p.Block.Branches) != len(s.Block.Branches) {
		return fmt.Sprintf("The block %s of the version does not have the same branches.", p.ID)
	}
	for _, b := range s.Block.Branches {
		if p.Block.Index(b.Name) < 0 {
			return fmt.Sprintf("The block %s of the version does not have the branch %s.", p.ID, b.Name)
		}
		v := b.State.Visit
		if b.State.Status.Final() || v == nil || v.Number == moved {
			continue
		}
		at := d.Phase(v.PhaseID)
		if at == nil || at.Type != v.Type || !standsIn(at, p, b) || b.State.Status == Running && v.FinishedAt != nil && at.Follow(v.Transition) == nil {
			return fmt.Sprintf("The branch %s stands in the phase %s, which the version does not have in this branch with the same type and ways out.", b.Name, v.PhaseID)
		}
		if why := Misfit(d, b.State, moved); why != "" {
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

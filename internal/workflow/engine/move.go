package engine

import (
	"maps"
	"slices"

	"atrium/internal/workflow/definition"
)

// move continues in a phase of the run's definition, which differs from the incident's. Returns ErrNoWay for a phase that it
// does not have, and for its START, because no transition leads there.
func (r *run) move(in Move) error {
	p := r.d.Phase(in.PhaseID)
	if p == nil {
		return ErrNoWay
	}
	v := r.state.Visit
	same := p.ID == v.PhaseID && p.Type == v.Type
	if p.Type == definition.Start && !same {
		return ErrNoWay
	}
	if err := r.resolve(in.Variables); err != nil {
		return err
	}
	for _, id := range Lost(r.d, r.state.Phases) {
		delete(r.state.Phases, id)
	}
	if same {
		r.again(p)
		return nil
	}
	r.state.Status, r.state.Wait = Running, nil
	r.finish(Skipped, "")
	r.next = p
	return nil
}

// Lost returns, in order, the phases whose variables no expression of the definition can read, because the definition has no
// such phases.
func Lost(d *definition.Definition, phases map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(phases)), func(id string) bool { return d.Phase(id) != nil })
}

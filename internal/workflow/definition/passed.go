package definition

import "slices"

// Passed returns the phases that people decide or work and that an execution may leave out when it goes on in the phase to instead of
// the phase from, in the order of the definition: those that lie ahead of from, with itself, unless every way from to to an END leads
// through them. A phase through which every way to from leads is a step back, which passes none. from is nil for a phase that the
// version does not have: then those ahead of the START count.
func (d *Definition) Passed(from, to *Phase) []*Phase {
	if from == nil {
		from = d.Start
	} else if from == to || !d.reach(d.Start, to)[from.ID] {
		return nil
	}
	ahead := d.reach(from, to)
	var out []*Phase
	for _, p := range d.Phases {
		if p.Process == nil && p.Approval == nil || !ahead[p.ID] {
			continue
		}
		around := d.reach(to, p)
		if slices.ContainsFunc(d.Phases, func(end *Phase) bool { return end.Type == End && around[end.ID] }) {
			out = append(out, p)
		}
	}
	return out
}

// reach returns the ids of the phases to which transitions lead from a phase, with its own, by ways that do not enter another.
func (d *Definition) reach(from, without *Phase) map[string]bool {
	forward := map[string][]string{}
	for _, t := range d.Transitions {
		if t.To != without.ID {
			forward[t.From] = append(forward[t.From], t.To)
		}
	}
	return closure(forward, []string{from.ID})
}

package definition

import (
	"maps"
	"slices"
)

// Passed returns the phases that people decide or work and that an execution may leave out when it goes on in the phase to instead of
// the phase from, in the order of the definition: those that lie ahead of from, with itself, unless every way from to to an END leads
// through them. A phase through which every way to from leads is a step back, which passes none. from is nil for a phase that the
// version does not have: then those ahead of the START count.
func (d *Definition) Passed(from, to *Phase) []*Phase {
	if from == nil {
		from = d.Start
	} else if !reach(d.Start, to)[from] {
		return nil
	}
	ahead := reach(from, to)
	var out []*Phase
	for _, p := range d.Phases {
		if (p.Process != nil || p.Approval != nil) && ahead[p] && ended(reach(to, p)) {
			out = append(out, p)
		}
	}
	return out
}

// reach returns the phases to which transitions lead from a phase, with itself, by ways that do not enter another.
func reach(from, without *Phase) map[*Phase]bool {
	seen := map[*Phase]bool{without: true}
	for open := []*Phase{from}; len(open) > 0; {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		if !seen[p] {
			seen[p] = true
			open = slices.AppendSeq(open, maps.Values(p.next))
		}
	}
	delete(seen, without)
	return seen
}

func ended(seen map[*Phase]bool) bool {
	for p := range seen {
		if p.Type == End {
			return true
		}
	}
	return false
}

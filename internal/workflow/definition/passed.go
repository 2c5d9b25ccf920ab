package definition

import "slices"

// Passed returns the phases that people decide or work, or may in the workflow that they call, and that an execution may leave out when it
// goes on in the phase to instead of the phase from, in the order of the definition: those that lie ahead of from, with itself, unless
// every way from to to an END leads through them. A phase through which every way to from leads is a step back, which passes none. from is
// nil for a phase that the version does not have: then those ahead of the START count.
func (d *Definition) Passed(from, to *Phase) []*Phase {
	if from == nil {
		from = d.Start
	} else if from == to || !d.reach(d.Start, to)[from.ID] {
		return nil
	}
	ahead := d.reach(from, to)
	var out []*Phase
	for _, p := range d.Phases {
		if p.Process == nil && p.Approval == nil && (p.Calls == nil || !p.Calls.Wait) || !ahead[p.ID] || apart(p, to) {
			continue
		}
		around := d.reach(to, p)
		if slices.ContainsFunc(d.Phases, func(end *Phase) bool { return end.Type == End && around[end.ID] }) {
			out = append(out, p)
		}
	}
	return out
}

// reach returns the ids of the phases that an execution can enter from a phase, with its own, by ways that do not enter another. It comes
// to the end of a block that begins on the way only if enough of the branches come there.
func (d *Definition) reach(from, without *Phase) map[string]bool {
	shut := map[string]bool{without.ID: true}
	blocks := slices.DeleteFunc(slices.Clone(d.Phases), func(p *Phase) bool { return p.Block == nil || slices.Contains(from.Around(), p) })
	slices.SortStableFunc(blocks, func(a, b *Phase) int { return len(b.Around()) - len(a.Around()) })
	for _, block := range blocks { // the innermost come first
		come := 0
		for _, b := range block.Block.Branches {
			if !shut[b.Start.ID] && d.open(b.Start, shut)[block.Block.End.ID] {
				come++
			}
		}
		if come < block.Block.Needed(len(block.Block.Branches)) {
			shut[block.Block.End.ID] = true
		}
	}
	return d.open(from, shut)
}

// open returns the ids of the phases to which ways lead from a phase, with its own, that enter none of those that are shut.
func (d *Definition) open(from *Phase, shut map[string]bool) map[string]bool {
	forward := map[string][]string{}
	for _, t := range d.edges {
		if !shut[t.To] && !d.skips(t) {
			forward[t.From] = append(forward[t.From], t.To)
		}
	}
	return closure(forward, []string{from.ID})
}

// skips reports whether an edge leads from a block to its end, past its branches.
func (d *Definition) skips(t Transition) bool {
	block := d.byID[t.From].Block
	return block != nil && block.End.ID == t.To
}

// apart reports whether two phases stand in different branches of a block. An execution comes to both.
func apart(p, q *Phase) bool {
	branch := map[*Phase]int{}
	for ; q.Within != nil; q = q.Within {
		branch[q.Within] = q.Branch
	}
	for ; p.Within != nil; p = p.Within {
		if i, both := branch[p.Within]; both && i != p.Branch {
			return true
		}
	}
	return false
}

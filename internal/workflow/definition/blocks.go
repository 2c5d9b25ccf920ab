package definition

import (
	"fmt"
	"slices"
)

// region is a block with the phases of its branches: those that a branch reaches without its end.
type region struct {
	block    *Phase
	branches []map[string]bool
}

func (r region) has(id string) bool {
	return slices.ContainsFunc(r.branches, func(b map[string]bool) bool { return b[id] })
}

// leads adds the ways out that blocks and JOINs name themselves: from a block into its branches and to its end, and from a JOIN on.
func (g *graph) leads() {
	for _, p := range g.list {
		if g.byID[p.ID] != p {
			continue
		}
		if b := p.Block; b != nil {
			g.vague = g.vague || p.rules.any
			b.End = g.lead(p, Joined, b.end)
			for i := range b.Branches {
				b.Branches[i].Start = g.lead(p, "", b.Branches[i].start)
			}
		}
		if p.Type == Join && len(p.leads) == 0 {
			g.left[p.ID], g.vague = true, true // it has a row already
		}
		for _, one := range p.leads {
			g.lead(p, one.way, one.to)
		}
	}
}

// lead adds one such way. A way into a branch has no name: nothing follows it alone.
func (g *graph) lead(p *Phase, way string, to named) *Phase {
	next := g.byID[to.id]
	if next == nil {
		g.left[p.ID], g.vague = true, true // it has a row already
		return nil
	}
	if next.Type == Start {
		g.c.fault(to.field, "No way may lead into %s, which is a START.", quote(to.id))
		return nil
	}
	t := Transition{p.ID, way, to.id}
	if way == "" {
		t.Name = to.field // from and name are unique together
	} else {
		g.connect(t)
	}
	g.led = append(g.led, t)
	if _, written := g.paths[t]; !written {
		g.paths[t] = to.field
	}
	return next
}

// blocks checks the blocks of a graph that is right otherwise, and notes in which branch each phase stands.
func (g *graph) blocks() {
	of := map[string]*Phase{} // the blocks, by their JOINs
	for _, p := range g.list {
		if p.Block == nil {
			continue
		}
		switch end := p.Block.End; {
		case end.Type != Join:
			g.c.fault(p.Block.end.field, "Must be the id of a JOIN; %s is of type %s.", quote(end.ID), end.Type)
		case of[end.ID] != nil:
			g.c.fault(p.Block.end.field, "The JOIN %s is the end of %s already.", quote(end.ID), quote(of[end.ID].ID))
		default:
			of[end.ID] = p
		}
	}
	for _, p := range g.list {
		if p.Type == Join {
			g.joins(p, of[p.ID])
		}
	}
	if len(g.c.rows) > 0 {
		return
	}
	var regions []region
	for _, block := range g.list {
		if block.Block != nil {
			regions = append(regions, g.region(block))
		}
	}
	for _, r := range regions {
		g.closed(r)
	}
	if len(g.c.rows) == 0 {
		g.nest(regions)
	}
}

// joins checks the ways out of a JOIN against its block.
func (g *graph) joins(p, block *Phase) {
	failed := p.Follow(JoinFailed) != nil
	switch {
	case block == nil:
		g.c.fault(p.path, "The JOIN %s is the end of no block.", quote(p.ID))
	case block.Block.Cancels && !failed:
		g.c.fault(p.path+".failed", "Is required: the block %s has onFault cancel.", quote(block.ID))
	case !block.Block.Cancels && failed:
		g.c.fault(p.path+".failed", "Is only taken if the block has onFault cancel; %s has not.", quote(block.ID))
	}
}

// region collects the phases of a block's branches.
func (g *graph) region(block *Phase) region {
	forward := map[string][]string{}
	for _, t := range g.all() {
		if t.To != block.Block.End.ID {
			forward[t.From] = append(forward[t.From], t.To)
		}
	}
	r := region{block: block}
	for _, b := range block.Block.Branches {
		r.branches = append(r.branches, closure(forward, []string{b.Start.ID}))
	}
	return r
}

// closed checks that the only way into a block's branches is the block, and the only way out its end.
func (g *graph) closed(r region) {
	before := len(g.c.rows)
	backward := map[string][]string{}
	for _, t := range g.all() {
		backward[t.To] = append(backward[t.To], t.From)
	}
	reaches := closure(backward, []string{r.block.Block.End.ID})
	for i, b := range r.block.Block.Branches {
		for _, p := range g.list {
			if r.branches[i][p.ID] {
				g.inside(r, i, p, reaches)
			}
		}
		for _, other := range r.branches[:i] {
			for _, id := range sortedKeys(other) {
				if r.branches[i][id] && len(g.c.rows) == before {
					g.c.fault(b.start.field, "Two branches of the block %s lead into the phase %s.", quote(r.block.ID), quote(id))
				}
			}
		}
	}
	if len(g.c.rows) > before {
		return
	}
	for _, t := range g.all() {
		from, into, end := r.has(t.From) || t.From == r.block.ID, r.has(t.To), t.To == r.block.Block.End.ID
		if !from && (into || end) {
			g.c.fault(g.way(t), "Only the block %s leads into its branches and only these to its end: not %s.", quote(r.block.ID), quote(t.From))
		}
	}
}

// inside checks a phase of a branch.
func (g *graph) inside(r region, branch int, p *Phase, reaches map[string]bool) {
	field := r.block.Block.Branches[branch].start.field
	switch {
	case p == r.block.Block.End:
		g.c.fault(field, "A branch must not start with the end of its block.")
	case p.Type == End:
		g.c.fault(field, "The branch leads to the END %s; it must lead to %s alone, the end of its block.", quote(p.ID), quote(r.block.Block.End.ID))
	case p == r.block:
		g.c.fault(field, "The branch leads back into its block; it must lead to %s, the end of it.", quote(r.block.Block.End.ID))
	case !reaches[p.ID]:
		g.c.fault(p.path, "The end of the block, %s, cannot be reached from the phase %s.", quote(r.block.Block.End.ID), quote(p.ID))
	}
}

// way returns the field that says where an edge leads.
func (g *graph) way(t Transition) string {
	if slices.Contains(g.led, t) {
		return g.paths[t]
	}
	return fmt.Sprint(g.paths[t], ".to")
}

// nest notes for each phase in which branch it stands, and limits how deep blocks nest.
func (g *graph) nest(regions []region) {
	depth := map[*Phase]int{}
	for _, r := range regions {
		depth[r.block] = 1
		for _, outer := range regions {
			if outer.has(r.block.ID) {
				depth[r.block]++
			}
		}
		if depth[r.block] > MaxNesting {
			g.c.fault(r.block.path, "The block %s stands inside of %d others; blocks may nest %d deep.", quote(r.block.ID), depth[r.block]-1, MaxNesting)
		}
	}
	slices.SortStableFunc(regions, func(a, b region) int { return depth[a.block] - depth[b.block] })
	for _, r := range regions { // the innermost comes last
		for i, phases := range r.branches {
			for id := range phases {
				g.byID[id].Within, g.byID[id].Branch = r.block, i
			}
		}
	}
}

package execution

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/phasevisit"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
)

// between stands between the names of branches.
const between = " / "

// onTheWay returns those of an execution's visits that lead to a visit in a branch which comes after them: those of its branch, those before
// the blocks around it, and those in the branches of blocks that have ended on the way. A branch that its block has cancelled leads nowhere.
// The history alone tells: what stands in a block does not go on, so the block's branches have the numbers up to the next visit beside it.
func onTheWay(history []*ent.PhaseVisit, branch string) []*ent.PhaseVisit {
	in := map[string][]*ent.PhaseVisit{}
	for _, v := range history {
		in[op.Or(v.Branch, "")] = append(in[op.Or(v.Branch, "")], v)
	}
	var out []*ent.PhaseVisit
	begun := 0 // the number of the innermost block around so far
	for _, around := range slices.Sorted(maps.Keys(in)) {
		if around != "" && around != branch && !strings.HasPrefix(branch, around+between) {
			continue
		}
		own := slices.DeleteFunc(in[around], func(v *ent.PhaseVisit) bool { return v.Number < begun }) // of another run of that branch
		for i, v := range own {
			out = append(out, v)
			switch {
			case !opensBlock(v):
			case i+1 < len(own):
				out = append(out, ended(history, around, v.Number, own[i+1].Number)...)
			default:
				begun = v.Number
			}
		}
	}
	slices.SortFunc(out, func(a, b *ent.PhaseVisit) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

func opensBlock(v *ent.PhaseVisit) bool {
	return v.Type == string(definition.InParallel) || v.Type == string(definition.ForEach)
}

// ended returns the visits in the branches of a block that stands in a branch, between two numbers, without those of cancelled branches.
func ended(history []*ent.PhaseVisit, around string, from, to int) (out []*ent.PhaseVisit) {
	within := func(v *ent.PhaseVisit, branch string) bool {
		return v.Number > from && v.Number < to && (branch == "" && v.Branch != nil || strings.HasPrefix(op.Or(v.Branch, ""), branch+between))
	}
	var cancelled []string
	for _, v := range history {
		if within(v, around) && v.Status == phasevisit.StatusSKIPPED && v.Transition == "" {
			cancelled = append(cancelled, *v.Branch)
		}
	}
	for _, v := range history {
		if within(v, around) && !slices.ContainsFunc(cancelled, func(b string) bool { return *v.Branch == b || within(v, b) }) {
			out = append(out, v)
		}
	}
	return out
}

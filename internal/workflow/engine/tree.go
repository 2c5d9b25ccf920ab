package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"atrium/internal/workflow/definition"
)

// clone returns a copy that a step may change.
func (s State) clone() State {
	s.Phases = maps.Clone(s.Phases)
	if s.Visit != nil {
		v := *s.Visit
		s.Visit = &v
	}
	if s.Block != nil {
		b := &Block{Branches: make([]*Branch, len(s.Block.Branches)), Items: s.Block.Items}
		for i, one := range s.Block.Branches {
			b.Branches[i] = &Branch{Name: one.Name, State: one.State.clone()}
		}
		s.Block = b
	}
	return s
}

// last returns the number of the last visit of all.
func (s *State) last() int {
	if s.Last == 0 && s.Visit != nil {
		return s.Visit.Number
	}
	return s.Last
}

// LastVisit returns the number of the last visit of an execution; 0 before Begin.
func (s State) LastVisit() int { return s.last() }

// Open returns the states in which the execution stands: its own or, in a block, those of the branches that are open, in the order of
// the branches.
func (s *State) Open() []*State {
	if s.Block == nil {
		return []*State{s}
	}
	var list []*State
	for _, b := range s.Block.Branches {
		if !b.State.Status.Final() {
			list = append(list, b.State.Open()...)
		}
	}
	if len(list) == 0 {
		return []*State{s} // no branch has begun yet
	}
	return list
}

// At returns the state, of the execution or of a branch, whose visit has a number; nil for none.
func (s *State) At(visit int) *State {
	if s.Visit != nil && s.Visit.Number == visit {
		return s
	}
	if s.Block != nil {
		for _, b := range s.Block.Branches {
			if at := b.State.At(visit); at != nil {
				return at
			}
		}
	}
	return nil
}

// Standing returns the phases in which the execution stands, each once.
func (s *State) Standing() []string {
	ids := []string{}
	for _, one := range s.Open() {
		if one.Visit != nil && !slices.Contains(ids, one.Visit.PhaseID) {
			ids = append(ids, one.Visit.PhaseID)
		}
	}
	return ids
}

// Each calls f for the state and for those of all its branches.
func (s *State) Each(f func(*State)) {
	f(s)
	if s.Block != nil {
		for _, b := range s.Block.Branches {
			b.State.Each(f)
		}
	}
}

// Trouble returns the fault of the incident that has been open longest; nil for none.
func (s *State) Trouble() *Fault {
	var oldest *State
	for _, one := range s.Open() {
		if one.Wait == nil || one.Wait.For != ForIncident {
			continue
		}
		if oldest == nil || one.Wait.Since != nil && oldest.Wait.Since != nil && one.Wait.Since.Before(*oldest.Wait.Since) {
			oldest = one
		}
	}
	if oldest == nil {
		return nil
	}
	return oldest.Visit.Fault
}

// Shown returns the variables as people see them: the state's own and, in a PARALLEL, those of its branches, which expressions outside
// of these read only after the join.
func (s *State) Shown() map[string]any {
	if s.Block == nil || s.Block.Items != nil {
		return s.Phases
	}
	all := maps.Clone(s.Phases)
	for _, b := range s.Block.Branches {
		maps.Copy(all, b.State.Shown())
	}
	return all
}

// Size returns how many bytes of JSON the variables of the state and its branches have.
func (s *State) Size() (n int, err error) {
	s.Each(func(one *State) {
		raw, wrong := json.Marshal(one.Phases)
		n += len(raw)
		if wrong == nil && one.Block != nil && one.Block.Items != nil {
			raw, wrong = json.Marshal(one.Block.Items)
			n += len(raw)
		}
		if wrong != nil {
			err = fmt.Errorf("write the variables: %w", wrong)
		}
	})
	return n, err
}

// Variables returns what expressions read as phases in the state that has a visit.
func (s *State) Variables(d *definition.Definition, visit int) map[string]any {
	return s.variables(d, visit, nil)
}

func (s *State) variables(d *definition.Definition, visit int, around map[string]any) map[string]any {
	own := s.Phases
	if around != nil {
		own = maps.Clone(around)
		maps.Copy(own, s.Phases)
	}
	if s.Block == nil || s.Visit.Number == visit {
		return own
	}
	p := d.Phase(s.Visit.PhaseID)
	for _, b := range s.Block.Branches {
		if b.State.At(visit) != nil {
			return b.State.variables(d, visit, s.item(b, p, own))
		}
	}
	return own
}

// item returns variables with those of the item of a branch of a FOR_EACH.
func (s *State) item(b *Branch, p *definition.Phase, around map[string]any) map[string]any {
	if p.Block.In == nil {
		return around
	}
	n, err := strconv.Atoi(b.Name)
	if err != nil || n > len(s.Block.Items) {
		return around
	}
	all := maps.Clone(around)
	if all == nil {
		all = map[string]any{}
	}
	all[p.ID] = map[string]any{p.Block.As: s.Block.Items[n-1], definition.IndexVariable: n - 1}
	return all
}

// Forget deletes what a phase has left behind, also from what the JOIN of a FOR_EACH tells of its items.
func Forget(phases map[string]any, phaseID string) {
	delete(phases, phaseID)
	for _, one := range phases {
		output, _ := one.(map[string]any)
		list, _ := output[results].([]any)
		for _, item := range list {
			if of, ok := item.(map[string]any); ok {
				Forget(of, phaseID)
			}
		}
	}
}

// all returns how many branches the block has, begun or not.
func (b *Block) all(c *definition.BlockConfig) int {
	if c.In != nil {
		return len(b.Items)
	}
	return len(c.Branches)
}

// branch returns the branch of that name, if it has begun; nil if not.
func (b *Block) branch(name string) *Branch {
	for _, one := range b.Branches {
		if one.Name == name {
			return one
		}
	}
	return nil
}

func newBranch(name string) *Branch {
	return &Branch{Name: name, State: State{Phases: map[string]any{}}}
}

package definition

import (
	"slices"

	"github.com/google/cel-go/cel"
)

// Limits of a block.
const (
	MaxBranches = 10  // of a PARALLEL
	MaxItems    = 100 // of a FOR_EACH
	MaxNesting  = 3   // blocks inside one another, with the outermost

	minBranches     = 2
	maxParallel     = 10
	defaultParallel = 5
)

// IndexVariable is the variable of a FOR_EACH that holds the number of the item, from 0.
const IndexVariable = "index"

// BlockConfig are the branches of a PARALLEL or a FOR_EACH.
type BlockConfig struct {
	Branches []Branch // as written; of a FOR_EACH one without a name, which runs once for each item
	Join     int      // how many branches must complete; 0 for all
	Cancels  bool     // onFault cancel: a fault in a branch ends them all
	End      *Phase   // the JOIN

	In          *Expr  // of a FOR_EACH: a list
	As          string // likewise: the variable that holds the item
	MaxParallel int    // likewise: items that run at once

	end named
}

// Branch is one branch of a block.
type Branch struct {
	Name  string
	Start *Phase

	start named
}

// named is a phase that another one names, and the field that names it.
type named struct{ id, field string }

// Needed returns how many of n branches must complete.
func (b *BlockConfig) Needed(n int) int {
	if b.Join == 0 {
		return n
	}
	return min(b.Join, n)
}

// Index returns the index of the branch of that name; of a FOR_EACH that of its only one. -1 for none.
func (b *BlockConfig) Index(name string) int {
	if b.In != nil {
		return 0
	}
	return slices.IndexFunc(b.Branches, func(one Branch) bool { return one.Name == name })
}

// phaseKeys checks the keys of a phase. What a block and a JOIN are set by stands beside the type.
func (f fields) phaseKeys() {
	switch f.obj.values["type"] {
	case string(InParallel):
		f.keys([]string{"id", "type", "branches", "end"}, "name", "participants", "requestAction", "join", "onFault")
	case string(ForEach):
		f.keys([]string{"id", "type", "in", "as", "start", "end"}, "name", "participants", "requestAction", "maxParallel", "join", "onFault")
	case string(Join):
		f.keys([]string{"id", "type", "next"}, "name", "participants", "requestAction", "failed")
	default:
		f.keys([]string{"id", "type"}, "name", "config", "participants", "sla", "requestAction")
	}
}

// parallel reads the settings of a PARALLEL.
func (c *checker) parallel(f fields) *BlockConfig {
	b := &BlockConfig{}
	names := map[string]bool{}
	starts := map[string]bool{}
	f.objects("branches", minBranches, MaxBranches, func(_ int, one fields) {
		one.keys([]string{"name", "start"})
		branch := Branch{Name: one.str("name", 60), start: one.phase("start")}
		if branch.Name != "" && names[branch.Name] {
			c.fault(one.at("name"), "Another branch has the name %s.", quote(branch.Name))
		}
		if branch.start.id != "" && starts[branch.start.id] {
			c.fault(one.at("start"), "Another branch starts with %s.", quote(branch.start.id))
		}
		names[branch.Name], starts[branch.start.id] = true, true
		b.Branches = append(b.Branches, branch)
	})
	b.ends(f, max(len(b.Branches), 1))
	return b
}

// forEach reads the settings of a FOR_EACH.
func (c *checker) forEach(f fields) *BlockConfig {
	b := &BlockConfig{
		In: f.expression("in", plain, cel.ListType(cel.DynType)), As: f.str("as", 0), MaxParallel: f.whole("maxParallel", 1, maxParallel, defaultParallel),
		Branches: []Branch{{start: f.phase("start")}},
	}
	switch {
	case b.As != "" && !variableName.MatchString(b.As):
		c.fault(f.at("as"), "Is not a variable's name: it takes letters, digits and _.")
	case b.As == IndexVariable:
		c.fault(f.at("as"), "Must not be %s, which holds the number of the item.", IndexVariable)
	}
	b.ends(f, MaxItems)
	return b
}

// ends reads how the block ends; most is how many branches it may wait for.
func (b *BlockConfig) ends(f fields, most int) {
	b.end = f.phase("end")
	b.Cancels = f.oneOf("onFault", "wait", "cancel") == "cancel"
	if word, isText := f.obj.values["join"].(string); !isText {
		b.Join = f.whole("join", 1, most, 0)
	} else if word != "all" && word != "any" {
		f.c.fault(f.at("join"), "Must be all, any or a whole number.")
	} else if word == "any" {
		b.Join = 1
	}
}

// phase reads the id of a phase.
func (f fields) phase(key string) named {
	n := named{f.str(key, 0), f.at(key)}
	if n.id != "" && !f.c.known[n.id] {
		f.c.fault(n.field, "No phase has the id %s.", quote(n.id))
		n.id = ""
	}
	return n
}

// lead is a way out that a phase names itself, beside the transitions.
type lead struct {
	way string
	to  named
}

// join reads the ways out of a JOIN.
func (c *checker) join(f fields) (list []lead) {
	for _, way := range []string{Next, JoinFailed} {
		if to := f.phase(way); to.id != "" {
			list = append(list, lead{way, to})
		}
	}
	return list
}

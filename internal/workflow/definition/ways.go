package definition

import (
	"slices"
	"strings"
)

// ways lists the transitions that a phase can take.
type ways struct {
	must  []string   // each of these must exist
	may   []string   // these may exist
	named []namedWay // the config names these: each must exist
	any   bool       // every other name may exist, too
}

// namedWay is a transition that a config names, and the field that names it.
type namedWay struct{ name, field string }

// name reads the name of a transition from a config.
func (w *ways) name(f fields, key string) string {
	name := f.str(key, 100)
	if name != "" {
		w.named = append(w.named, namedWay{name: name, field: f.at(key)})
	}
	return name
}

// waysOut compares the transitions of every phase with what its type and config can take.
func (g *graph) waysOut() {
	for _, t := range g.edges {
		g.needlessWay(t)
	}
	for _, p := range g.list {
		if p.Type == "" || p.Type == End || g.byID[p.ID] != p || g.left[p.ID] && len(p.ways) == 0 {
			continue
		}
		if len(p.ways) == 0 {
			g.c.fault(p.path, "No transition leaves the phase %s.", quote(p.ID))
			continue
		}
		g.missingWays(p)
	}
}

// missingWays adds rows for transitions that a phase needs and does not have. If a faulty transition leaves
// the phase, it may be the missing one, and its row suffices.
func (g *graph) missingWays(p *Phase) {
	if g.left[p.ID] {
		return
	}
	for _, name := range p.rules.must {
		if p.next[name] == nil && !g.misnamed[p.ID] {
			g.c.fault(p.path, "The phase %s needs a transition named %s.", quote(p.ID), name)
		}
	}
	for _, way := range p.rules.named {
		if p.next[way.name] == nil && !slices.Contains(p.rules.must, way.name) {
			g.c.fault(way.field, "No transition named %s leaves the phase %s.", quote(way.name), quote(p.ID))
		}
	}
}

// needlessWay refuses a transition that its phase can never take.
func (g *graph) needlessWay(t Transition) {
	p := g.byID[t.From]
	if p == nil || p.Type == "" || p.rules.any {
		return
	}
	if p.Block != nil || p.Type == Join {
		g.misnamed[t.From] = true
		g.c.fault(g.paths[t]+".from", "No transition may leave %s, of type %s, which names itself where it leads.", quote(p.ID), p.Type)
		return
	}
	can := slices.Concat(p.rules.must, p.rules.may)
	for _, way := range p.rules.named {
		can = append(can, way.name)
	}
	if slices.Contains(can, t.Name) {
		return
	}
	g.misnamed[t.From] = true
	slices.Sort(can)
	shown := make([]string, 0, len(can))
	for _, name := range slices.Compact(can) {
		shown = append(shown, short(name))
	}
	g.c.fault(g.paths[t]+".name", "The phase %s, of type %s, takes no way out named %s; it takes %s.",
		quote(p.ID), p.Type, quote(t.Name), clip(strings.Join(shown, ", ")))
}

package definition

import "slices"

// graph holds the phases and transitions while they are checked.
type graph struct {
	c     *checker
	list  []*Phase
	byID  map[string]*Phase // the first of each id
	edges []Transition
	paths map[Transition]string // of the edges; from and name together are unique
	led   []Transition          // the ways that blocks and JOINs name themselves
	vague bool                  // one of these is faulty, so nobody knows what can be reached
	start *Phase

	// A faulty transition has a row already. Its valid end counts as connected, so that one fault does not
	// produce further rows about unconnected phases.
	entered  map[string]bool // phases that a faulty transition leads to
	left     map[string]bool // phases that a faulty transition leaves
	misnamed map[string]bool // phases with a transition that they can never take
}

func newGraph(c *checker) *graph {
	return &graph{
		c: c, byID: map[string]*Phase{}, paths: map[Transition]string{},
		entered: map[string]bool{}, left: map[string]bool{}, misnamed: map[string]bool{},
	}
}

func (g *graph) transitions(list []any) {
	for i, v := range list {
		f, ok := g.c.object(index(root+".transitions", i), v)
		if !ok {
			continue
		}
		before := len(g.c.rows)
		f.keys([]string{"from", "name", "to"})
		t := Transition{From: g.end(f, "from"), Name: f.str("name", 100), To: g.end(f, "to")}
		g.direction(f, t)
		g.twice(f, t)
		if len(g.c.rows) > before {
			g.left[t.From], g.entered[t.To] = true, true
			continue
		}
		g.edges = append(g.edges, t)
		g.paths[t] = f.path
		g.connect(t)
	}
}

// end reads one end of a transition, which is the id of a phase.
func (g *graph) end(f fields, key string) string {
	id := f.str(key, 0)
	if id != "" && !g.c.known[id] {
		g.c.fault(f.at(key), "No phase has the id %s.", quote(id))
		return ""
	}
	return id
}

func (g *graph) direction(f fields, t Transition) {
	if to := g.byID[t.To]; to != nil && to.Type == Start {
		g.c.fault(f.at("to"), "No transition may lead into %s, which is a START.", quote(t.To))
	}
	if from := g.byID[t.From]; from != nil && from.Type == End {
		g.c.fault(f.at("from"), "No transition may leave %s, which is an END.", quote(t.From))
	}
}

func (g *graph) twice(f fields, t Transition) {
	if from := g.byID[t.From]; from != nil && t.Name != "" && from.next[t.Name] != nil {
		g.c.fault(f.at("name"), "Two transitions named %s leave the phase %s.", quote(t.Name), quote(t.From))
	}
}

// connect adds the transition to its phase. A malformed end has its own row and no phase.
func (g *graph) connect(t Transition) {
	from, to := g.byID[t.From], g.byID[t.To]
	if from == nil || to == nil {
		return
	}
	if from.next == nil {
		from.next = map[string]*Phase{}
	}
	from.next[t.Name] = to
	from.ways = append(from.ways, t.Name)
}

// check checks the whole graph once every part was read.
func (g *graph) check() {
	g.ends()
	g.waysOut()
	g.reachable()
	if len(g.c.rows) == 0 {
		g.blocks()
	}
	if len(g.c.rows) == 0 {
		g.shows()
		g.told()
	}
}

// all returns the edges that are written and those that are implied.
func (g *graph) all() []Transition { return slices.Concat(g.edges, g.led) }

// forward returns where the phases lead, by their ids.
func (g *graph) forward() map[string][]string {
	out := map[string][]string{}
	for _, t := range g.all() {
		out[t.From] = append(out[t.From], t.To)
	}
	return out
}

// ends finds the one START and at least one END.
func (g *graph) ends() {
	ends := 0
	unknown := false
	for _, p := range g.list {
		switch p.Type {
		case Start:
			if g.start != nil {
				g.c.fault(p.path+".type", "A second START, %s; there may be only one.", quote(p.ID))
				continue
			}
			g.start = p
		case End:
			ends++
		case "":
			unknown = true // it has a row already, and may have been meant as either
		}
	}
	if g.start == nil && !unknown {
		g.c.fault(root, "There must be one phase of the type START.")
	}
	if ends == 0 && !unknown {
		g.c.fault(root, "There must be at least one phase of the type END.")
	}
}

// reachable refuses phases that no execution can enter, and phases from which no END can be reached. A phase
// without any transition has a row already, and ends the search like an END.
func (g *graph) reachable() {
	forward, backward := map[string][]string{}, map[string][]string{}
	for _, t := range g.all() {
		forward[t.From] = append(forward[t.From], t.To)
		backward[t.To] = append(backward[t.To], t.From)
	}
	var sources, sinks []string
	begun, ended := false, false // without START or END, the check says nothing
	for _, p := range g.list {
		if p.Type == Start || p.Type == "" || g.entered[p.ID] {
			sources = append(sources, p.ID)
		}
		if p.Type == End || p.Type == "" || g.left[p.ID] || len(p.ways) == 0 {
			sinks = append(sinks, p.ID)
		}
		begun = begun || p.Type == Start
		ended = ended || p.Type == End
	}
	if g.vague {
		return
	}
	entered, leaves := closure(forward, sources), closure(backward, sinks)
	for _, p := range g.list {
		switch {
		case p.ID == "" || g.byID[p.ID] != p:
		case begun && !entered[p.ID]:
			g.c.fault(p.path, "The phase %s cannot be reached from START.", quote(p.ID))
		case ended && !leaves[p.ID]:
			g.c.fault(p.path, "No END can be reached from the phase %s.", quote(p.ID))
		}
	}
}

// closure returns the nodes that can be reached from the sources, including the sources.
func closure(edges map[string][]string, sources []string) map[string]bool {
	seen := map[string]bool{}
	stack := append([]string(nil), sources...)
	for len(stack) > 0 {
		node := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[node] {
			continue
		}
		seen[node] = true
		stack = append(stack, edges[node]...)
	}
	return seen
}

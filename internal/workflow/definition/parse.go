package definition

import (
	"context"
	"fmt"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"

	"atrium/internal/platform/apperr"
)

// The limits of one definition.
const (
	MaxBytes       = 256 << 10
	MaxPhases      = 200
	MaxTransitions = 1000

	maxExpressions = 1000     // CEL expressions in all, those in templates included
	maxAllSource   = 64 << 10 // bytes of all expressions together; the worst take 30 µs a byte to compile
	maxAllLoops    = 500      // comprehensions of all expressions together
	maxRows        = 500      // rows that one answer lists
	maxEntries     = 100      // rules, approvers, participants, headers or variables in one list
)

const root = "definition" // the path of the whole definition, as the caller sent it

// Parse checks a workflow definition and compiles it. It returns either the definition, or one row for every fault.
// Rows name fields as "definition.phases[<id>]…" (with the index instead of an unusable id),
// "definition.transitions[<i>]…" or "definition". The caller must check with References that the secrets, users,
// teams, agents and calendars exist.
func Parse(raw []byte) (*Definition, []apperr.Detail) { return ParseWithin(context.Background(), raw) }

// ParseWithin is Parse, but stops when ctx ends, with a row that says so.
func ParseWithin(ctx context.Context, raw []byte) (*Definition, []apperr.Detail) {
	d, _, faults := ParseNaming(ctx, raw)
	return d, faults
}

// ParseNaming is ParseWithin, and returns what the definition names also where it has faults.
func ParseNaming(ctx context.Context, raw []byte) (*Definition, References, []apperr.Detail) {
	env, err := environment()
	if err != nil {
		return nil, References{}, []apperr.Detail{{Field: root, Message: "Expressions cannot be checked at the moment."}}
	}
	c := &checker{ctx: ctx, env: env, known: map[string]bool{}}
	d := c.definition(raw)
	if len(c.rows) > 0 {
		return nil, c.refs, c.rows
	}
	return d, c.refs, nil
}

// checker is one run of Parse.
type checker struct {
	ctx context.Context // Parse's own
	env *cel.Env

	rows  []apperr.Detail
	spent budget
	known map[string]bool // every phase id written, including malformed ones
	refs  References
	told  []told
	at    common.Location // of the last expression that CEL refused; nil before
}

// budget is what the expressions read so far have used.
type budget struct {
	expressions, bytes, loops int
	over                      bool // the row about it was added
}

// spend counts the needs of an expression, and reports whether the budget suffices. The first time that it does
// not, spend adds a row; no expression is compiled after that.
func (c *checker) spend(expressions, bytes, loops int) bool {
	b := &c.spent
	if b.over {
		return false
	}
	if c.ctx.Err() != nil {
		b.over = true
		c.fault(root, "The definition takes too long to read. Send it again, or make it smaller.")
		return false
	}
	b.expressions, b.bytes, b.loops = b.expressions+expressions, b.bytes+bytes, b.loops+loops
	if b.expressions <= maxExpressions && b.bytes <= maxAllSource && b.loops <= maxAllLoops {
		return true
	}
	b.over = true
	c.fault(root, "A definition may hold at most %d expressions, of %d KiB and %d loops in all.",
		maxExpressions, maxAllSource>>10, maxAllLoops)
	return false
}

// fault adds a row.
func (c *checker) fault(field, format string, args ...any) {
	switch {
	case len(c.rows) < maxRows:
		c.rows = append(c.rows, apperr.Detail{Field: field, Message: fmt.Sprintf(format, args...)})
	case len(c.rows) == maxRows:
		c.rows = append(c.rows, apperr.Detail{Field: root, Message: "There are more faults than are listed here."})
	}
}

func (c *checker) definition(raw []byte) *Definition {
	if len(raw) > MaxBytes {
		c.fault(root, "A definition may be at most %d KiB.", MaxBytes>>10)
		return nil
	}
	tree, err := decodeTree(raw)
	if err != nil {
		c.fault(root, "The definition cannot be read: %s.", err.Error())
		return nil
	}
	f, ok := c.object(root, tree)
	if !ok {
		return nil
	}
	f.keys([]string{"phases", "transitions"})
	phases := f.list("phases", 0, MaxPhases)
	transitions := f.list("transitions", 0, MaxTransitions)
	if phases == nil || transitions == nil {
		return nil // missing, not a list, or too long to go on
	}
	g := newGraph(c)
	g.phases(phases)
	g.transitions(transitions)
	g.leads()
	g.check()
	return &Definition{Start: g.start, Phases: g.list, Transitions: g.edges, edges: g.all(), byID: g.byID, refs: c.refs}
}

// phases reads every phase; it reads all ids first, because expressions of one phase name others.
func (g *graph) phases(list []any) {
	paths := make([]string, len(list))
	for i, v := range list {
		paths[i] = g.phaseID(i, v)
	}
	for i, v := range list {
		f, ok := g.c.object(paths[i], v)
		if !ok {
			continue
		}
		p := g.c.phase(f)
		g.list = append(g.list, p)
		if p.ID != "" && g.byID[p.ID] == nil {
			g.byID[p.ID] = p
		}
	}
}

var phaseID = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// phaseID checks the id of the i-th phase and returns the phase's path. It ignores other faults, which the reading
// of the phase reports.
func (g *graph) phaseID(i int, v any) string {
	path := index(root+".phases", i)
	obj, _ := v.(*object)
	if obj == nil {
		return path
	}
	id, ok := obj.values["id"].(string)
	if !ok {
		return path
	}
	if !phaseID.MatchString(id) {
		g.c.known[id] = true
		g.c.fault(path+".id", "The id %s is not usable: it takes a lower-case letter, then up to 62 of a-z, 0-9 and _.", quote(id))
		return path
	}
	path = root + ".phases[" + id + "]"
	if g.c.known[id] {
		g.c.fault(path+".id", "The id %s stands at more than one phase.", quote(id))
	}
	g.c.known[id] = true
	return path
}

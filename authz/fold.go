package authz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Folding specialises a residual for one caller and one resource: it inserts the values of the caller and the call,
// and leaves only comparisons of the row's own columns.

// column is a comparison of one attribute of a row with constants.
type column struct {
	op   comparison
	attr *attribute
	key  string      // the key in a map
	want []ast.Value // one value; several for isIn and notIn
}

func (column) isNode() {}

// folder holds the resource, the caller's attributes (nil for a missing one) and, for a decision, the row.
type folder struct {
	on     *resource
	caller func(path []string) ast.Value
	row    *Row // nil for a filter: the row's attributes stay columns
}

// value returns an attribute of the row, the caller or the call; nil if it is missing.
func (f *folder) value(path []string) ast.Value {
	if path[0] != "resource" {
		return f.caller(path)
	}
	return f.row.value(f.on, path[1:])
}

// holds reports whether all conditions of a policy are true for the folder's row.
func (f *folder) holds(p *Compiled) (bool, error) {
	for _, c := range p.conditions {
		if met, err := f.met(c); err != nil || !met {
			return false, err
		}
	}
	return true, nil
}

// met reports whether one condition is true for the folder's row.
func (f *folder) met(c *condition) (bool, error) {
	if !c.fits(f.on) {
		return false, nil
	}
	n, err := f.fold(c.resid)
	if err != nil {
		return false, err
	}
	b, ok := n.(always)
	if !ok {
		return false, fmt.Errorf("decide about %s: the row leaves something open", c.path)
	}
	return bool(b), nil
}

// fold specialises the node for the folder's caller and resource. Returns errUntranslatable, wrapped, for comparisons
// that the databases would answer differently from Rego.
func (f *folder) fold(n node) (node, error) {
	switch n := n.(type) {
	case allOf:
		out := make(allOf, 0, len(n))
		for _, c := range n {
			c, err := f.fold(c)
			if err != nil {
				return nil, err
			}
			if c == always(false) {
				return c, nil
			}
			out = append(out, c)
		}
		return meet(out), nil
	case anyOf:
		out := make(anyOf, 0, len(n))
		for _, c := range n {
			c, err := f.fold(c)
			if err != nil {
				return nil, err
			}
			if c == always(true) {
				return c, nil
			}
			out = append(out, c)
		}
		return join(out), nil
	case noneOf:
		c, err := f.fold(n.node)
		if err != nil {
			return nil, err
		}
		if b, ok := c.(always); ok {
			return !b, nil
		}
		return noneOf{c}, nil
	case compare:
		return f.compare(n)
	}
	return n, nil
}

// side is a resolved operand: an attribute of the row, or a known value; neither when it is missing.
type side struct {
	attr  *attribute
	key   string
	value ast.Value
}

func (f *folder) side(o operand) (side, error) {
	if o.path == nil {
		return side{value: o.value}, nil
	}
	if o.path[0] != "resource" || f.row != nil {
		return side{value: f.value(o.path)}, nil
	}
	a, key := f.on.at(o.path[1:])
	if a == nil && len(o.path) == 1 {
		return side{}, fmt.Errorf("%w: the resource as a whole", errUntranslatable)
	}
	return side{attr: a, key: key}, nil
}

// at finds the attribute at a position in the resource's document; nil when there is none.
func (r *resource) at(path []string) (*attribute, string) {
	if len(path) == 2 {
		if m := r.attrs[path[0]]; m != nil && m.isMap {
			return m, path[1]
		}
	}
	a := r.attrs[strings.Join(path, ".")]
	if a == nil || a.isMap || !slices.Equal(a.path, path) {
		return nil, ""
	}
	return a, ""
}

func (f *folder) compare(c compare) (node, error) {
	l, err := f.side(c.l)
	if err != nil {
		return nil, err
	}
	r, err := f.side(c.r)
	if err != nil {
		return nil, err
	}
	switch {
	case c.op == isNull || c.op == notNull || c.op == isTrue:
		return unary(c.op, l)
	case l.attr == nil && r.attr == nil && c.glob != nil:
		s, ok := l.value.(ast.String) // matching anything but a text is undefined
		return always(ok && c.glob.matches(string(s)) == (c.op == matches)), nil
	case l.attr == nil && r.attr == nil:
		return constants(c.op, l.value, r.value, c.l.orNull || c.r.orNull)
	case l.attr != nil && r.attr != nil:
		return nil, fmt.Errorf("%w: two attributes of the row with each other", errUntranslatable)
	case r.attr != nil && (c.op == isIn || c.op == notIn):
		return membership(c.op, r, l.value)
	case r.attr != nil:
		if c.op == startsWith || c.op == notStartsWith {
			return nil, fmt.Errorf("%w: a value that starts with an attribute", errUntranslatable)
		}
		l, r, c.op, c.l = r, l, mirrored(c.op), c.r
	}
	if l.attr.kind == list {
		return nil, fmt.Errorf("%w: a list compared as a whole", errUntranslatable)
	}
	if c.l.orNull && c.op != equal && c.op != isIn && c.op != startsWith && c.op != matches && c.op != greater && c.op != greaterEqual {
		return nil, fmt.Errorf("%w: a comparison that null may hold for; compare with null first", errUntranslatable)
	}
	return comparedWith(c.op, l, r.value)
}

// unary folds a test for presence, or for true.
func unary(op comparison, s side) (node, error) {
	switch {
	case s.attr == nil && op == isTrue:
		return always(s.value != nil && s.value.Compare(ast.Boolean(false)) != 0), nil
	case s.attr == nil:
		return always((s.value == nil) == (op == isNull)), nil
	case s.attr.kind == list:
		return always(op != isNull), nil // a list always exists, even if it is empty
	case op == isTrue && s.attr.kind == boolean:
		return column{op: equal, attr: s.attr, key: s.key, want: []ast.Value{ast.Boolean(true)}}, nil
	case op == isTrue:
		op = notNull
	}
	return column{op: op, attr: s.attr, key: s.key}, nil
}

// membership folds the test whether a list of the row contains a value.
func membership(op comparison, s side, value ast.Value) (node, error) {
	if s.attr.kind != list {
		return nil, fmt.Errorf("%w: membership in what is no list", errUntranslatable)
	}
	if value == nil {
		return always(false), nil
	}
	if _, ok := value.(ast.String); !ok {
		return always(op == notIn), nil
	}
	return column{op: op, attr: s.attr, want: []ast.Value{value}}, nil
}

// comparedWith folds a comparison of the row's attribute with a known value.
func comparedWith(op comparison, s side, value ast.Value) (node, error) {
	if value == nil {
		return always(false), nil
	}
	there := column{op: notNull, attr: s.attr, key: s.key}
	out := column{op: op, attr: s.attr, key: s.key}
	if op == isIn || op == notIn {
		array, ok := value.(*ast.Array)
		if !ok {
			return always(false), nil
		}
		for i := range array.Len() {
			if v := array.Elem(i).Value; s.attr.takes(v) {
				out.want = append(out.want, v)
			}
		}
		switch {
		case len(out.want) == 0 && op == isIn:
			return always(false), nil
		case len(out.want) == 0:
			return there, nil
		}
		return out, nil
	}
	if !s.attr.takes(value) {
		switch op {
		case equal:
			return always(false), nil
		case unequal:
			return there, nil
		}
		return nil, fmt.Errorf("%w: %s compared with a value of another kind", errUntranslatable, s.attr.name)
	}
	out.want = []ast.Value{value}
	return out, nil
}

// takes reports whether the value has the attribute's kind.
func (a *attribute) takes(v ast.Value) bool {
	switch v := v.(type) {
	case ast.String:
		if a.kind == moment {
			_, ok := momentOf(string(v))
			return ok && len(v) == len(MomentFormat) // compiled policies contain moments only in this format
		}
		return a.kind == text || a.kind == list
	case ast.Number:
		return a.kind == number
	case ast.Boolean:
		return a.kind == boolean
	}
	return false
}

// constants compares two known values as Rego does; nil means missing.
func constants(op comparison, l, r ast.Value, orNull bool) (node, error) {
	if l == nil || r == nil {
		if orNull && op == unequal {
			return nil, fmt.Errorf("%w: a comparison that null may hold for; compare with null first", errUntranslatable)
		}
		return always(false), nil
	}
	switch op {
	case equal:
		return always(l.Compare(r) == 0), nil
	case unequal:
		return always(l.Compare(r) != 0), nil
	case less:
		return always(l.Compare(r) < 0), nil
	case lessEqual:
		return always(l.Compare(r) <= 0), nil
	case greater:
		return always(l.Compare(r) > 0), nil
	case greaterEqual:
		return always(l.Compare(r) >= 0), nil
	case isIn, notIn:
		array, ok := r.(*ast.Array)
		if !ok {
			return always(op == notIn), nil // membership in what is no collection is false
		}
		found := false
		for i := range array.Len() {
			found = found || array.Elem(i).Value.Compare(l) == 0
		}
		return always(found == (op == isIn)), nil
	}
	a, ok := l.(ast.String)
	b, both := r.(ast.String)
	if !ok || !both {
		return always(false), nil // a type error, which is undefined
	}
	switch op {
	case startsWith, notStartsWith:
		return always(strings.HasPrefix(string(a), string(b)) == (op == startsWith)), nil
	}
	return nil, fmt.Errorf("%w: operator %d", errUntranslatable, op)
}

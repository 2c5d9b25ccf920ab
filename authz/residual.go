package authz

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// errUntranslatable is the error for a residual that contains more than comparisons of a row's attributes with values, or that the
// databases would answer differently from Rego.
var errUntranslatable = errors.New("cannot be turned into a filter of rows")

// reader reads what partial evaluation leaves of a rule, as comparisons of the columns of one resource.
type reader struct {
	on      *resource
	vars    map[ast.Var]side
	anybody bool
}

// side is one side of a comparison: an attribute of the row, or a constant; neither if it is missing.
type side struct {
	attr  *attribute
	key   string
	value ast.Value
}

// read returns the residual of a query on a resource. Returns errUntranslatable, wrapped. With anybody, nothing was known of the caller
// either, and what is compared with it counts as missing: that serves to check what the residual of any caller may contain.
func (r *resource) read(left *rego.PartialQueries, anybody bool) (node, error) {
	if len(left.Support) > 0 {
		return nil, fmt.Errorf("%w: it needs rules of its own", errUntranslatable)
	}
	out := make(anyOf, 0, len(left.Queries))
	for _, body := range left.Queries {
		of := reader{on: r, vars: map[ast.Var]side{}, anybody: anybody}
		all := make(allOf, 0, len(body))
		for _, expr := range body {
			n, err := of.expr(expr)
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		out = append(out, meet(all))
	}
	return join(out), nil
}

func (r *reader) expr(e *ast.Expr) (node, error) {
	if len(e.With) > 0 {
		return nil, fmt.Errorf("%w: with", errUntranslatable)
	}
	n, err := r.positive(e)
	if err != nil || !e.Negated {
		return n, err
	}
	switch n := n.(type) {
	case always:
		return !n, nil
	case column:
		if n.op == isNull || n.op == notNull {
			n.op = negations[n.op]
			return n, nil
		}
	}
	return noneOf{n}, nil
}

func (r *reader) positive(e *ast.Expr) (node, error) {
	switch terms := e.Terms.(type) {
	case *ast.Term:
		if b, ok := terms.Value.(ast.Boolean); ok {
			return always(b), nil
		}
		if call, ok := terms.Value.(ast.Call); ok {
			return r.call(call[0], call[1:])
		}
		s, err := r.side(terms)
		if err != nil {
			return nil, err
		}
		return isTrue(s), nil
	case []*ast.Term:
		return r.call(terms[0], terms[1:])
	}
	return nil, fmt.Errorf("%w: %T", errUntranslatable, e.Terms)
}

// isTrue reads an attribute that stands alone: it is there and not false.
func isTrue(s side) node {
	if s.attr != nil && s.attr.kind == boolean {
		return column{op: equal, attr: s.attr, key: s.key, want: []ast.Value{ast.Boolean(true)}}
	}
	return there(s)
}

// there is true where a side has a value. A list always has one, even if it is empty.
func there(s side) node {
	if s.attr == nil || s.attr.kind == list {
		return always(s.attr != nil || s.value != nil)
	}
	return column{op: notNull, attr: s.attr, key: s.key}
}

// calls are the functions that have a counterpart in SQL.
var calls = map[string]comparison{
	"eq": equal, "equal": equal, "neq": unequal, "lt": less, "lte": lessEqual, "gt": greater, "gte": greaterEqual,
	"internal.member_2": isIn, "startswith": startsWith, globBuiltin.Name: matches,
}

// call reads f(a, b), or f(a, b, true) and f(a, b, false): false asks for the opposite, and that there is a value.
func (r *reader) call(f *ast.Term, args []*ast.Term) (node, error) {
	name := f.Value.String()
	op, known := calls[name]
	if !known || len(args) < 2 || len(args) > 3 {
		return nil, fmt.Errorf("%w: %s", errUntranslatable, name)
	}
	if name == "eq" {
		if n, bound, err := r.bind(args[0], args[1]); bound || err != nil {
			return n, err
		}
	}
	a, b := args[0], args[1]
	if op == matches { // the pattern comes first
		a, b = b, a
	}
	c, there, err := r.comparison(op, a, b)
	if err != nil {
		return nil, err
	}
	if len(args) == 3 {
		want, ok := args[2].Value.(ast.Boolean)
		if !ok {
			return nil, fmt.Errorf("%w: the result of %s is used as a value", errUntranslatable, name)
		}
		if !want {
			c.op = negations[c.op]
		}
	}
	switch {
	case !there:
		return always(false), nil
	case c.attr.kind == list && len(c.want) == 0, len(c.want) == 0 && c.op == isIn:
		return always(c.op == notIn), nil // a list is always there
	case len(c.want) == 0:
		return column{op: notNull, attr: c.attr, key: c.key}, nil
	}
	return c, nil
}

// bind records what a new variable stands for.
func (r *reader) bind(a, b *ast.Term) (n node, bound bool, err error) {
	for _, pair := range [][2]*ast.Term{{a, b}, {b, a}} {
		v, ok := pair[0].Value.(ast.Var)
		if _, known := r.vars[v]; !ok || known {
			continue
		}
		s, err := r.side(pair[1])
		if err != nil {
			return nil, true, err
		}
		r.vars[v] = s
		return there(s), true, nil
	}
	return nil, false, nil
}

// side reads a side of a comparison.
func (r *reader) side(t *ast.Term) (side, error) {
	switch v := t.Value.(type) {
	case ast.String, ast.Number, ast.Boolean, ast.Null:
		return side{value: v}, nil
	case *ast.Array, ast.Set:
		switch {
		case ast.IsConstant(v):
			return side{value: v}, nil
		case r.anybody:
			return side{}, nil
		}
	case ast.Var:
		if s, ok := r.vars[v]; ok {
			return s, nil
		}
	case ast.Ref:
		resource := len(v) > 1 && v[1].Value.Compare(ast.String("resource")) == 0
		switch {
		case v[0].Value.Compare(ast.InputRootDocument.Value) != 0:
		case resource && len(v) > 2:
			return r.attribute(v[2:])
		case !resource && len(v) > 1 && r.anybody:
			return side{}, nil
		}
	}
	return side{}, fmt.Errorf("%w: %s", errUntranslatable, ast.ValueName(t.Value))
}

// attribute reads a reference below input.resource. What the resource does not have is missing.
func (r *reader) attribute(ref ast.Ref) (side, error) {
	path := make([]string, len(ref))
	for i, part := range ref {
		key, ok := part.Value.(ast.String)
		if !ok {
			return side{}, fmt.Errorf("%w: an attribute that is chosen by a value", errUntranslatable)
		}
		path[i] = string(key)
	}
	a, key := r.on.at(path)
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

// comparison reads a comparison of the row's attribute with constants: isIn without any is false, notIn is true where there is a
// value. there is false if one of the sides is missing: then neither the comparison nor its opposite is true.
func (r *reader) comparison(op comparison, a, b *ast.Term) (c column, there bool, err error) {
	l, err := r.side(a)
	if err != nil {
		return c, false, err
	}
	s, err := r.side(b)
	if err != nil {
		return c, false, err
	}
	switch {
	case l.attr == nil && l.value == nil, s.attr == nil && s.value == nil:
		return c, false, nil
	case l.attr != nil && s.attr != nil:
		return c, false, fmt.Errorf("%w: two attributes of the row with each other", errUntranslatable)
	case l.attr == nil && s.attr == nil:
		return c, false, fmt.Errorf("%w: two values with each other", errUntranslatable)
	case s.attr != nil && op == isIn:
		return membership(s, l.value)
	case s.attr != nil && (op == startsWith || op == matches):
		return c, false, fmt.Errorf("%w: a value that starts with an attribute", errUntranslatable)
	case s.attr != nil:
		l, s, op = s, l, exchanged(op)
	}
	return comparedWith(op, l, s.value)
}

// membership reads the test whether a list of the row contains a value.
func membership(s side, value ast.Value) (c column, there bool, err error) {
	if s.attr.kind != list {
		return c, false, fmt.Errorf("%w: membership in what is no list", errUntranslatable)
	}
	c = column{op: isIn, attr: s.attr}
	if _, ok := value.(ast.String); ok {
		c.want = []ast.Value{value}
	}
	return c, true, nil
}

// comparedWith reads a comparison of the row's attribute with a constant.
func comparedWith(op comparison, s side, value ast.Value) (c column, there bool, err error) {
	c = column{op: op, attr: s.attr, key: s.key}
	_, null := value.(ast.Null) // documents leave nulls out
	if s.attr.kind == list && (!null || op != unequal) {
		return c, false, fmt.Errorf("%w: a list compared as a whole", errUntranslatable)
	}
	switch v := value.(type) {
	case *ast.Array, ast.Set:
		if op != isIn {
			return c, false, fmt.Errorf("%w: %s compared with a list", errUntranslatable, s.attr.name)
		}
		for _, e := range elements(v) {
			if s.attr.takes(e) {
				c.want = append(c.want, e)
			}
		}
		return c, true, nil
	}
	switch {
	case op == isIn:
		return c, false, nil // what is no collection has no members
	case !null && s.attr.takes(value):
		c.want = []ast.Value{value}
	case op == equal: // no value of another kind is equal
		c.op = isIn
	case op == unequal:
		c.op = notIn
	default:
		return c, false, fmt.Errorf("%w: %s compared with a value of another kind", errUntranslatable, s.attr.name)
	}
	return c, true, nil
}

// elements returns the elements of an array or a set.
func elements(v ast.Value) []ast.Value {
	var out []ast.Value
	add := func(t *ast.Term) { out = append(out, t.Value) }
	switch v := v.(type) {
	case *ast.Array:
		v.Foreach(add)
	case ast.Set:
		v.Foreach(add)
	}
	return out
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

package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// errUntranslatable is the error for a residual that contains more than comparisons of attributes with values.
var errUntranslatable = errors.New("cannot be turned into a filter of rows")

// partially evaluates a query with the whole input unknown, and reads the residual. Returns errUntranslatable, wrapped,
// for a residual that it does not understand.
func partially(ctx context.Context, prepared *ast.Compiler, data func(*rego.Rego), query ast.Body) (node, error) {
	pq, err := rego.New(rego.Compiler(prepared), data, rego.ParsedQuery(query), rego.Unknowns([]string{"input"})).Partial(ctx)
	if err != nil {
		return nil, fmt.Errorf("evaluate partially: %w", err)
	}
	if len(pq.Support) > 0 {
		return nil, fmt.Errorf("%w: it needs rules of its own", errUntranslatable)
	}
	out := make(anyOf, 0, len(pq.Queries))
	for _, q := range pq.Queries {
		n, err := readBody(q)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return join(out), nil
}

// reader turns one body into a node.
type reader struct{ vars map[ast.Var]operand }

// readBody reads the expressions of one residual query, all of which must be true.
func readBody(body ast.Body) (node, error) {
	r := &reader{vars: map[ast.Var]operand{}}
	var out allOf
	for _, expr := range body {
		n, err := r.expr(expr)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return meet(strict(out)), nil
}

// strict removes "is not null" guards from comparisons that fail for a missing side anyway, and makes guarded
// comparisons strict.
func strict(body allOf) allOf {
	var guarded [][]string
	for _, n := range body {
		if c, ok := n.(compare); ok && c.op == notNull {
			guarded = append(guarded, c.l.path)
		}
	}
	var covered [][]string
	for i, n := range body {
		c, ok := n.(compare)
		if !ok || c.op == notNull || c.op == isNull {
			continue
		}
		for _, side := range []*operand{&c.l, &c.r} {
			if side.orNull && hasPath(guarded, side.path) {
				side.orNull = false
			}
			if side.path != nil && !side.orNull {
				covered = append(covered, side.path)
			}
		}
		body[i] = c
	}
	return slices.DeleteFunc(body, func(n node) bool {
		c, ok := n.(compare)
		return ok && c.op == notNull && hasPath(covered, c.l.path)
	})
}

func hasPath(list [][]string, path []string) bool {
	return slices.ContainsFunc(list, func(p []string) bool { return slices.Equal(p, path) })
}

func (r *reader) expr(e *ast.Expr) (node, error) {
	if len(e.With) > 0 {
		return nil, fmt.Errorf("%w: with", errUntranslatable)
	}
	n, err := r.positive(e)
	if err != nil {
		return nil, err
	}
	if e.Negated {
		if b, ok := n.(always); ok {
			return !b, nil
		}
		return noneOf{n}, nil
	}
	return n, nil
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
		o, err := r.operand(terms)
		if err != nil {
			return nil, err
		}
		return compare{op: isTrue, l: o}, nil
	case []*ast.Term:
		return r.call(terms[0], terms[1:])
	}
	return nil, fmt.Errorf("%w: %T", errUntranslatable, e.Terms)
}

// calls are the supported functions, with their numbers of arguments.
var calls = map[string]struct {
	op    comparison
	arity int
}{
	"eq": {equal, 2}, "equal": {equal, 2}, "neq": {unequal, 2}, "lt": {less, 2}, "lte": {lessEqual, 2}, "gt": {greater, 2}, "gte": {greaterEqual, 2},
	"internal.member_2": {isIn, 2}, "startswith": {startsWith, 2}, "regex.match": {matches, 2},
}

// call reads f(a, b), or f(a, b, out) where out is what the call is compared with.
func (r *reader) call(f *ast.Term, args []*ast.Term) (node, error) {
	name := f.Value.String()
	if name == "object.get" && len(args) == 4 {
		return r.get(args)
	}
	known, ok := calls[name]
	if !ok || len(args) < known.arity || len(args) > known.arity+1 {
		return nil, fmt.Errorf("%w: %s", errUntranslatable, name)
	}
	if name == "eq" {
		if n, bound, err := r.bind(args[0], args[1]); bound || err != nil {
			return n, err
		}
	}
	n, err := r.comparison(known.op, args[0], args[1])
	if err != nil || len(args) == known.arity {
		return n, err
	}
	return negated(n, args[2])
}

// negated reads the result that a call is compared with: true means the call itself, false its negation if both sides
// are present.
func negated(n node, out *ast.Term) (node, error) {
	want, ok := out.Value.(ast.Boolean)
	if !ok {
		return nil, fmt.Errorf("%w: a call's result is used as a value", errUntranslatable)
	}
	if want {
		return n, nil
	}
	switch n := n.(type) {
	case always:
		return !n, nil
	case compare:
		if not, ok := negations[n.op]; ok {
			n.op = not
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: a negated call", errUntranslatable)
}

// bind records what a variable stands for.
func (r *reader) bind(a, b *ast.Term) (n node, bound bool, err error) {
	for _, pair := range [][2]*ast.Term{{a, b}, {b, a}} {
		v, ok := pair[0].Value.(ast.Var)
		if _, known := r.vars[v]; !ok || known {
			continue
		}
		o, err := r.operand(pair[1])
		if err != nil {
			return nil, true, err
		}
		r.vars[v] = o
		if o.path == nil || o.orNull {
			return always(true), true, nil
		}
		return compare{op: notNull, l: o}, true, nil
	}
	return nil, false, nil
}

// get reads object.get(input, path, null, out).
func (r *reader) get(args []*ast.Term) (node, error) {
	o, err := r.lookup(args[:3])
	if err != nil {
		return nil, err
	}
	if v, ok := args[3].Value.(ast.Var); ok {
		if _, known := r.vars[v]; !known {
			r.vars[v] = o
			return always(true), nil
		}
	}
	other, err := r.operand(args[3])
	if err != nil {
		return nil, err
	}
	return comparing(equal, o, other)
}

// lookup reads object.get(input, path, null) as an attribute.
func (r *reader) lookup(args []*ast.Term) (operand, error) {
	path, ok := args[1].Value.(*ast.Array)
	if !ok || args[0].String() != "input" || args[2].Value.Compare(ast.NullValue) != 0 {
		return operand{}, fmt.Errorf("%w: object.get of anything but input, a path and null", errUntranslatable)
	}
	o := operand{orNull: true}
	for i := range path.Len() {
		key, ok := path.Elem(i).Value.(ast.String)
		if !ok {
			return operand{}, fmt.Errorf("%w: a path that is not of texts", errUntranslatable)
		}
		o.path = append(o.path, string(key))
	}
	return o, nil
}

// operand reads a side of a comparison.
func (r *reader) operand(t *ast.Term) (operand, error) {
	switch v := t.Value.(type) {
	case ast.String, ast.Number, ast.Boolean, ast.Null:
		return operand{value: v}, nil
	case *ast.Array:
		if v.IsGround() {
			return operand{value: v}, nil
		}
	case ast.Set:
		if v.IsGround() {
			return operand{value: ast.NewArray(v.Slice()...)}, nil
		}
	case ast.Var:
		if o, ok := r.vars[v]; ok {
			return o, nil
		}
	case ast.Call:
		if len(v) == 4 && v[0].Value.String() == "object.get" {
			return r.lookup(v[1:])
		}
	case ast.Ref:
		if len(v) < 2 || v[0].Value.Compare(ast.Var("input")) != 0 {
			break
		}
		var o operand
		for _, part := range v[1:] {
			key, ok := part.Value.(ast.String)
			if !ok {
				return operand{}, fmt.Errorf("%w: an attribute that is chosen by a value", errUntranslatable)
			}
			o.path = append(o.path, string(key))
		}
		return o, nil
	}
	return operand{}, fmt.Errorf("%w: %s", errUntranslatable, ast.ValueName(t.Value))
}

func (r *reader) comparison(op comparison, a, b *ast.Term) (node, error) {
	if op == matches { // the expression comes first
		expr, ok := a.Value.(ast.String)
		pattern, ours := globOf(string(expr))
		if !ok || !ours {
			return nil, fmt.Errorf("%w: an expression that is no glob", errUntranslatable)
		}
		l, err := r.operand(b)
		if err != nil {
			return nil, err
		}
		return compare{op: op, l: l, r: operand{value: ast.String(pattern)}, glob: newGlob(pattern)}, nil
	}
	l, err := r.operand(a)
	if err != nil {
		return nil, err
	}
	o, err := r.operand(b)
	if err != nil {
		return nil, err
	}
	return comparing(op, l, o)
}

// comparing builds a comparison, and normalises null and the order of the sides.
func comparing(op comparison, l, r operand) (node, error) {
	if _, null := l.value.(ast.Null); null {
		l, r = r, l
		op = mirrored(op)
	}
	if _, null := r.value.(ast.Null); !null {
		return compare{op: op, l: l, r: r}, nil
	}
	switch op {
	case equal:
		if !l.orNull {
			return always(false), nil // documents leave nulls out
		}
		return compare{op: isNull, l: l}, nil
	case unequal:
		return compare{op: notNull, l: l}, nil
	}
	return nil, fmt.Errorf("%w: a comparison with null", errUntranslatable)
}

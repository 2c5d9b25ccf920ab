package authz

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/types"
)

// A policy is a rule of Rego: the id that it adds to deny, allow or approve, and its conditions as expressions on the input.
// What is missing in a row or of a caller is missing in the input, so that it makes every expression but exists fail. Attributes
// and constants are compared directly, because that is what OPA's rule index finds rules by.

// companyPackage is the package of a company's policies.
var companyPackage = &ast.Package{Path: ast.MustParseRef("data.atrium.company")}

// sets are the rules of companyPackage, by the effect of the policies that add to them.
var sets = map[string]ast.Var{Deny: "deny", Allow: "allow", RequireApproval: "approve"}

// rule returns the policy in Rego: deny contains "pol_1" if { conditions }.
func (c *Compiled) rule(of *ast.Module) *ast.Rule {
	var body ast.Body
	for _, cond := range c.conditions {
		body = append(body, cond.rego...)
	}
	return ruleOf(of, sets[c.Effect], c.ID, body)
}

// ruleOf returns a rule that adds key to a set when the body is true.
func ruleOf(of *ast.Module, set ast.Var, key string, body ast.Body) *ast.Rule {
	if len(body) == 0 {
		body = ast.NewBody(ast.NewExpr(ast.BooleanTerm(true)))
	}
	body = body.Copy()
	for i, e := range body {
		e.Index = i
	}
	head := ast.NewHead(set, ast.StringTerm(key))
	head.Reference = ast.Ref{ast.NewTerm(set)}
	return &ast.Rule{Head: head, Body: body, Module: of, Location: &ast.Location{}}
}

// moduleOf returns policies as one module.
func moduleOf(policies []*Compiled) *ast.Module {
	m := &ast.Module{Package: companyPackage.Copy()}
	for _, p := range policies {
		m.Rules = append(m.Rules, p.rule(m))
	}
	return m
}

// inputAt returns the term of an attribute: input.resource.tags["env"].
func inputAt(path []string) *ast.Term {
	ref := ast.Ref{ast.InputRootDocument}
	for _, key := range path {
		ref = append(ref, ast.StringTerm(key))
	}
	return ast.NewTerm(ref)
}

// exists is true where there is a value: input.x != null. That there is none is "not input.x", and "not input.x = false" of what may be
// a boolean: "not input.x != null" is never true, because OPA looks input.x up outside of the negation.
func exists(at []string, of []kind, want bool) ast.Body {
	if want {
		return ast.NewBody(ast.NotEqual.Expr(inputAt(at), ast.NullTerm()))
	}
	body := ast.NewBody(ast.NewExpr(inputAt(at)))
	if slices.Contains(of, boolean) {
		body.Append(ast.Equality.Expr(inputAt(at), ast.BooleanTerm(false)))
	}
	for _, e := range body {
		e.Negated = true
	}
	return body
}

// comparisons are the operators that Rego has, too.
var comparisons = map[string]*ast.Builtin{
	"eq": ast.Equal, "ne": ast.NotEqual, "lt": ast.LessThan, "lte": ast.LessThanEq, "gt": ast.GreaterThan, "gte": ast.GreaterThanEq,
	"prefix": ast.StartsWith,
}

// compares compares an attribute with one value: input.x < 3. Of a list, eq and ne ask whether it has the value.
func compares(op string, of kind, at []string, want *ast.Term) ast.Body {
	switch {
	case of == list && op == "eq":
		return ast.NewBody(ast.Member.Expr(want, inputAt(at)))
	case of == list:
		return ast.NewBody(isFalse(ast.Member, want, inputAt(at)))
	case op == "glob":
		return ast.NewBody(globBuiltin.Expr(want, inputAt(at)))
	}
	return ast.NewBody(comparisons[op].Expr(inputAt(at), want))
}

// among asks whether an attribute is one of a collection: input.x in {"a", "b"}; for nin, (input.x in {"a", "b"}) == false, which is
// undefined where there is no value. A set of constants and references compares its answer with true, too, because OPA's rule index
// (v1.22.0) looks for the constants alone.
func among(op string, at []string, collection *ast.Term) ast.Body {
	_, set := collection.Value.(ast.Set)
	switch {
	case op == "nin":
		return ast.NewBody(isFalse(ast.Member, inputAt(at), collection))
	case set && !ast.IsConstant(collection.Value):
		return ast.NewBody(ast.Equal.Expr(ast.Member.Call(inputAt(at), collection), ast.BooleanTerm(true)))
	}
	return ast.NewBody(ast.Member.Expr(inputAt(at), collection))
}

// overlaps asks whether a list has one of several values: v = {"a", "b"}[_]; v in input.x. For nin it asks for none of each.
func overlaps(op string, at []string, values []*ast.Term) ast.Body {
	switch {
	case op == "in" && len(values) == 0:
		return ast.NewBody(ast.NewExpr(ast.BooleanTerm(false)))
	case op == "in":
		one := ast.VarTerm("one")
		return ast.NewBody(ast.Equality.Expr(one, ast.RefTerm(ast.SetTerm(values...), ast.VarTerm(ast.WildcardPrefix+"value"))), ast.Member.Expr(one, inputAt(at)))
	}
	body := exists(at, nil, true)
	for _, v := range values {
		body = append(body, isFalse(ast.Member, v, inputAt(at)))
	}
	return body
}

// isFalse is true if a call is defined and false.
func isFalse(f *ast.Builtin, args ...*ast.Term) *ast.Expr {
	return ast.Equal.Expr(f.Call(args...), ast.BooleanTerm(false))
}

// globBuiltin is atrium.glob(pattern, text). Rego's own glob.match and regex.match can take a hundred milliseconds for one text.
var globBuiltin = &ast.Builtin{Name: "atrium.glob", Decl: types.NewFunction(types.Args(types.S, types.S), types.B)}

// withGlob lets a query call globBuiltin.
var withGlob = rego.Function2(&rego.Function{Name: globBuiltin.Name, Decl: globBuiltin.Decl}, func(_ rego.BuiltinContext, pattern, of *ast.Term) (*ast.Term, error) {
	p, ok := pattern.Value.(ast.String)
	text, both := of.Value.(ast.String)
	if !ok || !both {
		return nil, nil // undefined
	}
	return ast.BooleanTerm(newGlob(string(p)).matches(string(text))), nil
})

// read is what a module reads of its input, so that an input need not hold more.
type read [][]string

// readsOf returns the attributes that conditions of policies read, in order.
func readsOf(policies []*Compiled) read {
	var out read
	for _, p := range policies {
		for _, c := range p.conditions {
			out = append(append(out, c.at), c.from...)
		}
		if p.Effect == RequireApproval {
			out = append(out, []string{"principal", "type"}) // access.rego asks for it
		}
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

// field is a name in an input, with the attribute that stands there or what is below it.
type field struct {
	name  *ast.Term
	path  []string // of the attribute; nil where there is something below
	below []field
}

// fields returns what is read as the shape of an input; depth is the length of the names above. Paths are in order, and none is the
// beginning of another.
func (r read) fields(depth int) []field {
	var out []field
	for from := 0; from < len(r); {
		to := from + 1
		for to < len(r) && r[to][depth] == r[from][depth] {
			to++
		}
		f := field{name: ast.StringTerm(r[from][depth])}
		if len(r[from]) == depth+1 {
			f.path = r[from]
		} else {
			f.below = r[from:to].fields(depth + 1)
		}
		out = append(out, f)
		from = to
	}
	return out
}

// objectOf builds an input; nil if nothing of it is there.
func objectOf(fields []field, value func(path []string) ast.Value) ast.Value {
	items := make([][2]*ast.Term, 0, len(fields))
	for _, f := range fields {
		var v ast.Value
		if f.path != nil {
			v = value(f.path)
		} else {
			v = objectOf(f.below, value)
		}
		if v != nil {
			items = append(items, ast.Item(f.name, ast.NewTerm(v)))
		}
	}
	if len(items) == 0 {
		return nil
	}
	return ast.NewObject(items...)
}

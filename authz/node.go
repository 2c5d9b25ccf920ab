package authz

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// node is what partial evaluation leaves of a rule: comparisons of the row's attributes with what the caller and the
// policy say, joined by and, or and not. It is read once, when a policy is saved, and narrowed down to one caller and
// one resource for each query (fold.go).
type node interface{ isNode() }

type (
	always  bool // true or false whatever the row
	allOf   []node
	anyOf   []node
	noneOf  struct{ node } // not, as Rego has it: true for what is undefined
	compare struct {
		op   comparison
		l, r operand
		glob *glob // r, for matches and notMatches
	}
)

func (always) isNode()  {}
func (allOf) isNode()   {}
func (anyOf) isNode()   {}
func (noneOf) isNode()  {}
func (compare) isNode() {}

// comparison is an operator of a residual. All but isNull are false when a side is missing.
type comparison uint8

const (
	equal comparison = iota
	unequal
	less
	lessEqual
	greater
	greaterEqual
	isIn // l in r
	notIn
	startsWith
	notStartsWith
	matches // a glob
	notMatches
	isNull
	notNull
	isTrue
)

// operand is one side of a comparison: a constant, or an attribute by its place in the input.
type operand struct {
	value  ast.Value
	path   []string
	orNull bool // missing is null, rather than undefined
}

// negations are the operators that hold where the others, with both sides there, do not.
var negations = map[comparison]comparison{
	equal: unequal, unequal: equal, less: greaterEqual, greaterEqual: less, greater: lessEqual, lessEqual: greater,
	isIn: notIn, notIn: isIn, startsWith: notStartsWith, matches: notMatches, isNull: notNull, notNull: isNull,
}

// mirrored is the operator with its sides changed.
func mirrored(op comparison) comparison {
	switch op {
	case less:
		return greater
	case lessEqual:
		return greaterEqual
	case greater:
		return less
	case greaterEqual:
		return lessEqual
	}
	return op
}

// join simplifies an or.
func join(n anyOf) node {
	if slices.ContainsFunc(n, func(c node) bool { return c == always(true) }) {
		return always(true)
	}
	n = slices.DeleteFunc(n, func(c node) bool { return c == always(false) })
	switch len(n) {
	case 0:
		return always(false)
	case 1:
		return n[0]
	}
	return n
}

// meet simplifies an and.
func meet(n allOf) node {
	if slices.ContainsFunc(n, func(c node) bool { return c == always(false) }) {
		return always(false)
	}
	n = slices.DeleteFunc(n, func(c node) bool { return c == always(true) })
	switch len(n) {
	case 0:
		return always(true)
	case 1:
		return n[0]
	}
	return n
}

package authz

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// node is the residual of a rule: comparisons of the row's attributes with values of the caller and the policy,
// joined by and, or and not. It is read once, when a policy is saved, and folded for one caller and one resource in
// each query (fold.go).
type node interface{ isNode() }

type (
	always  bool // true or false for every row
	allOf   []node
	anyOf   []node
	noneOf  struct{ node } // not, as in Rego: true if the operand is undefined
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

// comparison is an operator of a residual. All except isNull are false when a side is missing.
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

// operand is one side of a comparison: a constant, or an attribute by its position in the input.
type operand struct {
	value  ast.Value
	path   []string
	orNull bool // a missing attribute is null instead of undefined
}

// negations maps operators to those that are true when the former are false and both sides are present.
var negations = map[comparison]comparison{
	equal: unequal, unequal: equal, less: greaterEqual, greaterEqual: less, greater: lessEqual, lessEqual: greater,
	isIn: notIn, notIn: isIn, startsWith: notStartsWith, matches: notMatches, isNull: notNull, notNull: isNull,
}

// mirrored returns the operator for exchanged sides.
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

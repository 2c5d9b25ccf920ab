package authz

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// node is what partial evaluation leaves of a rule for one caller: comparisons of a row's columns with constants, joined by and, or
// and not (residual.go makes it, predicate.go writes it as SQL).
type node interface{ isNode() }

type (
	always bool // true or false for every row
	allOf  []node
	anyOf  []node
	noneOf struct{ node } // not, as in Rego: true if the operand is undefined
	column struct {
		op   comparison
		attr *attribute
		key  string      // the key in a map
		want []ast.Value // one value; several for isIn and notIn; none for isNull and notNull
	}
)

func (always) isNode() {}
func (allOf) isNode()  {}
func (anyOf) isNode()  {}
func (noneOf) isNode() {}
func (column) isNode() {}

// comparison is an operator on a column. All except isNull are false when there is no value.
type comparison uint8

const (
	equal comparison = iota
	unequal
	less
	lessEqual
	greater
	greaterEqual
	isIn
	notIn
	startsWith
	notStartsWith
	matches // a glob
	notMatches
	isNull
	notNull
)

// negations maps operators to those that are true when the former are false and there is a value.
var negations = map[comparison]comparison{
	equal: unequal, unequal: equal, less: greaterEqual, greaterEqual: less, greater: lessEqual, lessEqual: greater,
	isIn: notIn, notIn: isIn, startsWith: notStartsWith, matches: notMatches, isNull: notNull, notNull: isNull,
}

// exchanged returns the operator for exchanged sides.
func exchanged(op comparison) comparison {
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

// join simplifies an or. Columns that are compared with several values become one IN: 200 policies that each name one tag cost a
// list what one policy does.
func join(n anyOf) node {
	if slices.ContainsFunc(n, func(c node) bool { return c == always(true) }) {
		return always(true)
	}
	n = merged(slices.DeleteFunc(n, func(c node) bool { return c == always(false) }))
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

// merged joins alternatives that differ only in the values that their first column of that kind may equal.
func merged(n anyOf) anyOf {
	var out anyOf
	at := map[string]int{}
	for _, alternative := range n {
		open, rest, ok := cut(alternative)
		if i, there := at[rest]; ok && there {
			first, _, _ := cut(out[i])
			out[i] = first.with(open.want).in(out[i])
			continue
		}
		if ok {
			at[rest] = len(out)
		}
		out = append(out, alternative)
	}
	return out
}

// cut returns the first column of an alternative that asks for one of several values, and a text of all else. ok is false if it has
// none, or if it is more than an and of columns.
func cut(n node) (open column, rest string, ok bool) {
	parts, several := n.(allOf)
	if !several {
		parts = allOf{n}
	}
	var text strings.Builder
	for _, part := range parts {
		c, is := part.(column)
		if !is {
			return column{}, "", false
		}
		want := c.want
		if !ok && (c.op == equal || c.op == isIn) {
			open, ok, want = c, true, nil
			c.op = isIn
		}
		text.WriteString(c.text(want))
	}
	return open, text.String(), ok
}

// text distinguishes columns.
func (c column) text(want []ast.Value) string {
	out := strings.Join([]string{string(rune('a' + c.op)), c.attr.name, ast.String(c.key).String()}, " ")
	for _, v := range want {
		out += " " + v.String()
	}
	return out + "\n"
}

// with returns the column with further values.
func (c column) with(more []ast.Value) column {
	c.op, c.want = isIn, slices.Clone(c.want)
	for _, v := range more {
		if !slices.ContainsFunc(c.want, func(w ast.Value) bool { return w.Compare(v) == 0 }) {
			c.want = append(c.want, v)
		}
	}
	return c
}

// in returns an alternative with the column in the place of its open one.
func (c column) in(n node) node {
	parts, several := n.(allOf)
	if !several {
		return c
	}
	parts = slices.Clone(parts)
	for i, part := range parts {
		if p, is := part.(column); is && (p.op == equal || p.op == isIn) {
			parts[i] = c
			break
		}
	}
	return parts
}

package definition

import (
	"context"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"atrium/internal/platform/apperr"
)

// Condition is a boolean expression outside of a definition, which reads only the request, or only the call of an inbound webhook. It is
// immutable.
type Condition struct {
	expr  *Expr
	plain cel.Program // nil for a costly expression
}

// ParseCondition compiles an expression over the request, outside of a definition. It returns either the condition, or one row for
// every fault, which names the field.
func ParseCondition(ctx context.Context, field, source string) (*Condition, []apperr.Detail) {
	return parseCondition(ctx, field, source, forRequest)
}

// ParseCallCondition is ParseCondition for an expression over webhook, the call of an inbound webhook.
func ParseCallCondition(ctx context.Context, field, source string) (*Condition, []apperr.Detail) {
	return parseCondition(ctx, field, source, forMapping)
}

func parseCondition(ctx context.Context, field, source string, s scope) (*Condition, []apperr.Detail) {
	env, err := environment()
	if err != nil {
		return nil, []apperr.Detail{{Field: field, Message: "Expressions cannot be checked at the moment."}}
	}
	c := &checker{ctx: ctx, env: env, known: map[string]bool{}}
	e := c.expression(field, source, s, cel.BoolType)
	for i := range c.rows {
		if c.rows[i].Field == root { // a fault of all expressions together
			c.rows[i] = apperr.Detail{Field: field, Message: "The expression is too long, or holds too many loops."}
		}
	}
	if len(c.rows) > 0 {
		return nil, c.rows
	}
	if costly(e) {
		return &Condition{e, nil}, nil
	}
	plain, err := env.Program(e.checked, cel.CustomDecorator(absentIsNull()), cel.CustomDecorator(bounded), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, []apperr.Detail{{Field: field, Message: "The expression does not compile."}}
	}
	return &Condition{e, plain}, nil
}

// costly reports whether an expression may take more than a few steps for each of its operators: it contains a loop, a
// regular expression, an encoding or a function on texts.
func costly(e *Expr) bool {
	tree := ast.NavigateAST(e.checked.NativeRep())
	return len(ast.MatchDescendants(tree, func(n ast.NavigableExpr) bool {
		return n.Kind() == ast.ComprehensionKind ||
			n.Kind() == ast.CallKind && (n.AsCall().FunctionName() == overloads.Matches || strings.HasPrefix(n.AsCall().FunctionName(), "base64.") ||
				slices.Contains(TextFunctions, n.AsCall().FunctionName()))
	})) > 0
}

// Costly reports whether the condition may take as long as any expression may.
func (c *Condition) Costly() bool { return c.plain == nil }

// Holds evaluates the condition. A condition that cannot be evaluated, because it computes with a value that is not there, is
// false. Conditions that are not costly are evaluated without a deadline and without counting their cost: 50 of them take 14 µs
// instead of 220 (BenchmarkConditions).
func (c *Condition) Holds(ctx context.Context, b Bound) bool {
	if c.Costly() {
		ok, err := c.expr.Bool(ctx, b)
		return err == nil && ok
	}
	out, _, err := c.plain.Eval(b.cel)
	return err == nil && out == types.True
}

// Decide evaluates the condition under the limits of any expression, and returns why it cannot be evaluated: it computes with a
// value that is not there, or compares values that do not compare.
func (c *Condition) Decide(ctx context.Context, b Bound) (bool, error) { return c.expr.Bool(ctx, b) }

// requestNames refuses every variable except request in a condition.
func (c *checker) requestNames(path string, ident ast.NavigableExpr) {
	if otherThan("request", ident) {
		c.fault(path, "The expression reads request alone, not %s.", ident.AsIdent())
	}
}

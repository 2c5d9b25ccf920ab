package authz

import (
	"context"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"atrium/internal/platform/principal"
)

// DecideAnew is Decide without the cache, on all of the caller's scopes.
func DecideAnew(ctx context.Context, e *Engine, p *principal.Principal, q Question) (Decision, error) {
	key := memoOf(p, q)
	key.scopes = p.Scopes
	v, err := evaluate(ctx, e.own.decision, ast.NewObject(key.input()...))
	if err != nil {
		return Decision{}, err
	}
	return decode(v)
}

// Remembered returns how many decisions the engine remembers.
func Remembered(e *Engine) (n int) {
	e.known.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}

// Matches reports whether a glob matches a text.
func Matches(pattern, text string) bool { return newGlob(pattern).matches(text) }

// InRego returns whether the set's policies allow an action on a row according to OPA. It evaluates the rule from which the
// residuals derive ("conditions hold") in full, with the documented input.
func InRego(ctx context.Context, e *Engine, set *Set, c *Caller, q Question, row Row) (bool, error) {
	input, err := ast.InterfaceToValue(operatorInput(c, q, row))
	if err != nil {
		return false, err
	}
	allowed := false
	for _, p := range set.policies {
		if !p.covers(q.Action, q.Resource) || p.Effect == Allow && allowed {
			continue
		}
		var query []string
		for _, cond := range p.conditions {
			if !cond.fits(resourceOf(q.Resource)) {
				query = append(query, "false")
				continue
			}
			parts := cond.term.Value.(*ast.Array)
			query = append(query, fmt.Sprintf("data.atrium.authz.holds(%s, %s, %s)", parts.Elem(0), parts.Elem(1), parts.Elem(2)))
		}
		rs, err := rego.New(rego.Compiler(e.own.compiler), rego.Store(e.own.data), rego.Query(strings.Join(append(query, "true"), "; ")),
			rego.ParsedInput(input)).Eval(ctx)
		if err != nil {
			return false, err
		}
		if len(rs) == 0 {
			continue
		}
		if p.Effect == Deny {
			return false, nil
		}
		allowed = true
	}
	for _, above := range row.parents {
		if q.Resource = above.Resource; !allowed || Exempt(c.Principal, q.Resource) {
			continue
		}
		if allowed, err = InRego(ctx, e, set, c, q, above); err != nil {
			return false, err
		}
	}
	return allowed, nil
}

package authz

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/internal/principal"
)

// DecideAnew is Decide without what is remembered.
func DecideAnew(ctx context.Context, e *Engine, p *principal.Principal, q Question) (Decision, error) {
	v, err := evaluate(ctx, e.own.decision, ast.NewObject(memoOf(p, q).input()...))
	if err != nil {
		return Decision{}, err
	}
	return decode(v)
}

package authz

import (
	"context"
	"regexp"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

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

// Rego returns the policies that can apply to an action on a resource as OPA sees them.
func Rego(set *Set, action, resource string) (string, error) {
	text, err := format.Ast(moduleOf(set.about(action, resource).policies))
	return membershipRE.ReplaceAllString(string(text), "($1) == false"), err
}

// membershipRE finds a negated in, which OPA's formatter writes without its parentheses.
var membershipRE = regexp.MustCompile(`(\S+ in \S+) == false`)

// Policies returns the set's policies.
func Policies(set *Set) []*Compiled { return set.policies }

// Above returns the rows that a row belongs to.
func Above(row Row) []Row { return row.parents }

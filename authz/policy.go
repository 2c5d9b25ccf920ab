package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// The effects of a policy.
const (
	Allow = "Allow"
	Deny  = "Deny"

	// RequireApproval makes an agent's action wait for a person. It applies only to agents, and neither allows nor denies.
	RequireApproval = "RequireApproval"
)

// Policy is an access policy as it is stored.
type Policy struct {
	ID        string
	Version   int
	Effect    string // Allow, Deny or RequireApproval
	Action    string // one of Actions, or Any
	Resource  string // one of Resources, or Any
	Condition []byte // JSON: {path: value}
	Kept      bool   // it was saved before, so faults that make it only useless or slow are accepted
}

// Compiled is a policy that was read, checked and partially evaluated. It is immutable.
type Compiled struct {
	Policy
	conditions []*condition
}

// Compile reads a policy. Returns validation_error with a detail for each fault, named "effect", "action", "resource" or
// "condition.<path>". Among the faults are a condition that can never be true, and a condition that cannot become a filter
// of rows.
func (e *Engine) Compile(ctx context.Context, p Policy) (*Compiled, error) {
	var bad faults
	if p.Effect != Allow && p.Effect != Deny && p.Effect != RequireApproval {
		bad = append(bad, apperr.Detail{Field: "effect", Message: "must be Allow, Deny or RequireApproval"})
	}
	if p.Effect == RequireApproval && p.Action == "read" {
		bad = append(bad, apperr.Detail{Field: "action", Message: "must be create, update, delete or * for RequireApproval: nobody approves reading"})
	}
	if p.Action != Any && !slices.Contains(Actions, p.Action) {
		bad = append(bad, apperr.Detail{Field: "action", Message: "must be one of: " + strings.Join(Actions, ", ") + ", *"})
	}
	if p.Resource != Any && resources[p.Resource] == nil {
		bad = append(bad, apperr.Detail{Field: "resource", Message: "must be one of: " + strings.Join(Resources(), ", ") + ", *"})
		return nil, apperr.Invalid(bad...)
	}
	conditions, more := parseCondition(p)
	if p.Effect == RequireApproval && !p.Kept && !meetsAgents(conditions) {
		bad.add("principal.type", "cannot leave agents out: RequireApproval binds them alone")
	}
	if bad = append(bad, more...); len(bad) > 0 {
		return nil, apperr.Invalid(bad...)
	}
	c := &Compiled{Policy: p, conditions: conditions}
	for _, cond := range conditions {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("compile the policy: %w", ctx.Err())
		}
		n, err := e.residual(ctx, cond.term)
		if err == nil {
			cond.resid = n
			err = cond.foldsOn(p.Resource)
		}
		switch {
		case errors.Is(err, errUntranslatable):
			bad.add(cond.path, "cannot be turned into a filter of rows")
		case err != nil:
			return nil, fmt.Errorf("compile the policy: %w", err)
		}
	}
	if len(bad) > 0 {
		return nil, apperr.Invalid(bad...)
	}
	return c, nil
}

// meetsAgents reports whether conditions can be true for an agent.
func meetsAgents(conditions []*condition) bool {
	return !slices.ContainsFunc(conditions, func(c *condition) bool {
		agent := string(principal.TypeAgent)
		return c.path == "principal.type" && (c.op == "eq" && c.raw != agent || c.op == "ne" && c.raw == agent)
	})
}

// residual returns the residual of "the condition holds" with the whole input unknown.
func (e *Engine) residual(ctx context.Context, term *ast.Term) (node, error) {
	parts, ok := term.Value.(*ast.Array)
	if !ok || parts.Len() != 3 {
		return nil, errors.New("a condition has three parts")
	}
	query := ast.NewBody(ast.NewExpr([]*ast.Term{ast.NewTerm(holds), parts.Elem(0), parts.Elem(1), parts.Elem(2)}))
	return partially(ctx, e.own.compiler, rego.Store(e.own.data), query)
}

// holds is the rule that decides about one condition.
var holds = ast.MustParseRef("data.atrium.authz.holds")

// foldsOn folds the condition on every resource that it can apply to, with a value for every attribute of the caller.
// Returns errUntranslatable, wrapped.
func (c *condition) foldsOn(name string) error {
	sample := func(path []string) ast.Value {
		switch {
		case slices.Equal(path, []string{"context", "time"}):
			return ast.String(MomentFormat)
		case slices.Equal(path, []string{"principal", "teamIds"}):
			return ast.NewArray()
		}
		return ast.String("")
	}
	for _, r := range resources {
		if name != Any && name != r.name || !c.fits(r) {
			continue
		}
		f := folder{on: r, caller: sample}
		if _, err := f.fold(c.resid); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether the condition can be true on rows of the resource: the resource has the attribute, with the kind
// that the condition compares. exists with false is also true for an attribute that the resource lacks.
func (c *condition) fits(r *resource) bool {
	if c.at[0] != "resource" {
		return true
	}
	a, _ := r.at(c.at[1:])
	if a == nil {
		return c.op == "exists" && c.raw == false
	}
	return c.op == "exists" || a.kind == c.kind
}

// covers reports whether the policy is about an action on a resource.
func (c *Compiled) covers(action, resource string) bool {
	return (c.Action == Any || c.Action == action) && (c.Resource == Any || c.Resource == resource)
}

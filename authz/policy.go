package authz

import (
	"context"
	"errors"
	"slices"
	"strings"

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

// Compiled is a policy that was read and checked, with its conditions in Rego. It is immutable.
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
	if p.Kept {
		return c, nil
	}
	var on []*resource
	for _, r := range resources {
		if c.covers(p.Action, r.name) && c.onResource(r) != nil {
			on = append(on, r)
		}
	}
	switch err := e.own.translatable(ctx, []*Compiled{c}, on...); {
	case errors.Is(err, errUntranslatable):
		bad.whole("cannot be turned into a filter of rows")
		return nil, apperr.Invalid(bad...)
	case err != nil:
		return nil, err
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

// onResource returns the policy as it applies to rows of a resource: without conditions that hold there whatever the row. It returns
// nil if a condition can never hold there, because the resource lacks the attribute or has it with another kind.
func (c *Compiled) onResource(r *resource) *Compiled {
	out := *c
	out.conditions = nil
	for _, cond := range c.conditions {
		a, _ := r.at(cond.at[1:])
		switch {
		case cond.at[0] != "resource", a != nil && (cond.op == "exists" || a.kind == cond.kind):
			out.conditions = append(out.conditions, cond)
		case a != nil || cond.op != "exists" || cond.raw != false:
			return nil
		}
	}
	return &out
}

// covers reports whether the policy is about an action on a resource.
func (c *Compiled) covers(action, resource string) bool {
	return (c.Action == Any || c.Action == action) && (c.Resource == Any || c.Resource == resource)
}

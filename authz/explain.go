package authz

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/internal/principal"
)

// Unmet is a condition that did not hold.
type Unmet struct {
	PolicyID string
	Path     string // "resource.tags.env"
	Op       string // "eq"
	Want     any    // what it was compared with: a variable's value, where it has one
	Have     any    // nil when the attribute is missing
}

// Explain is DecideRow with every condition, of the policies about the action and the resource, that did not hold.
func (e *Engine) Explain(ctx context.Context, set *Set, c *Caller, q Question, row Row) (Decision, []Unmet, error) {
	d, err := e.DecideRow(ctx, set, c, q, row)
	if err != nil {
		return Decision{}, nil, err
	}
	f := folder{on: resourceOf(q.Resource), caller: c.value, row: &row}
	out, last := []Unmet{}, Unmet{}
	for _, p := range set.policies {
		if !p.covers(q.Action, q.Resource) || p.Effect == RequireApproval && (c.Principal.Type != principal.TypeAgent || q.Action == "read") {
			continue
		}
		for _, cond := range p.conditions {
			holds, err := f.met(cond)
			if err != nil {
				return Decision{}, nil, err
			}
			u := Unmet{PolicyID: p.ID, Path: cond.path, Op: cond.op}
			if holds || u == last { // an operator that became several conditions is told once
				continue
			}
			last = u
			u.Want = c.resolved(cond.raw)
			if at, _, ok := resolve(Any, cond.path); ok {
				u.Have = plain(f.value(at))
			}
			out = append(out, u)
		}
	}
	return d, out, nil
}

// resolved puts the caller's values in place of variables.
func (c *Caller) resolved(raw any) any {
	switch v := raw.(type) {
	case string:
		if len(v) > 3 && v[0] == '$' {
			if from, _, ok := resolve("", v[2:len(v)-1]); ok {
				return plain(c.value(from))
			}
		}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = c.resolved(e)
		}
		return out
	}
	return raw
}

// plain is a value as JSON has it; nil for none.
func plain(v ast.Value) any {
	if v == nil {
		return nil
	}
	out, err := ast.JSON(v)
	if err != nil {
		return nil
	}
	return out
}

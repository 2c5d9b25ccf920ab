package authz

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/internal/platform/principal"
)

// Unmet is a condition that was false.
type Unmet struct {
	PolicyID string
	Path     string // "resource.tags.env"
	Op       string // "eq"
	Want     any    // the value that it was compared with; for a variable, the variable's value
	Have     any    // nil when the attribute is missing
}

// Explain is DecideRow, and also returns every condition that was false in the policies about the action and the
// resource.
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
			if holds || u == last { // an operator that became several conditions is reported once
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

// resolved replaces variables by the caller's values.
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

// plain returns a value as in JSON; nil for none.
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

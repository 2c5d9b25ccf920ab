package authz

import (
	"context"
	"fmt"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

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
	var asked []*Compiled
	for _, p := range set.policies {
		if p.covers(q.Action, q.Resource) && (p.Effect != RequireApproval || c.Principal.Type == principal.TypeAgent && q.Action != "read") {
			asked = append(asked, p)
		}
	}
	met, err := e.met(ctx, asked, c, q, row)
	if err != nil {
		return Decision{}, nil, err
	}
	out, on := []Unmet{}, resourceOf(q.Resource)
	for _, p := range asked {
		for _, cond := range p.conditions {
			if met[cond] {
				continue
			}
			u := Unmet{PolicyID: p.ID, Path: cond.path, Op: cond.op, Want: c.resolved(cond.raw)}
			if at, _, ok := resolve(Any, cond.path); ok && at[0] == "resource" {
				u.Have = plain(row.value(on, at[1:]))
			} else if ok {
				u.Have = plain(c.value(at))
			}
			out = append(out, u)
		}
	}
	return d, out, nil
}

// met asks OPA about each condition on its own.
func (e *Engine) met(ctx context.Context, policies []*Compiled, c *Caller, q Question, row Row) (map[*condition]bool, error) {
	m := moduleOf(nil)
	on, met := resourceOf(q.Resource), map[*condition]bool{}
	var of []*condition
	for _, p := range policies {
		for _, cond := range p.conditions {
			alone := (&Compiled{conditions: []*condition{cond}}).onResource(on)
			if alone == nil {
				continue
			}
			if len(alone.conditions) == 0 {
				met[cond] = true
				continue
			}
			m.Rules = append(m.Rules, ruleOf(m, "met", strconv.Itoa(len(of)), cond.rego))
			of = append(of, cond)
		}
	}
	if len(of) == 0 {
		return met, nil
	}
	compiler, err := compile(map[string]*ast.Module{"company.rego": m}, false)
	if err != nil {
		return nil, err
	}
	query, err := rego.New(rego.Compiler(compiler), rego.Store(noData), withGlob, rego.Query("data.atrium.company.met")).PrepareForEval(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepare the conditions: %w", err)
	}
	v, err := evaluate(ctx, query, e.own.input(readsOf(policies).fields(0), c, q.Action, on, &row))
	if err != nil {
		return nil, err
	}
	names, _ := v.([]any)
	for _, name := range names {
		text, _ := name.(string)
		i, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("read which conditions hold: %w", err)
		}
		met[of[i]] = true
	}
	return met, nil
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

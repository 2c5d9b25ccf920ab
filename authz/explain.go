package authz

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"
)

// Unmet is a condition that did not hold.
type Unmet struct {
	PolicyID string
	Path     string // "resource.tags.env"
	Op       string // "eq"
	Want     any    // what it was compared with: a variable's value, where it has one
	Have     any    // nil when the attribute is missing
}

// neverHolds is a condition that holds for nothing.
var neverHolds = ast.ArrayTerm(ast.StringTerm("never"), ast.ArrayTerm(ast.StringTerm("never")), ast.NullTerm())

// Explain is DecideRow with every condition, of the policies about the action and the resource, that did not hold.
func (e *Engine) Explain(ctx context.Context, set *Set, c *Caller, q Question, row Row) (Decision, []Unmet, error) {
	d, err := e.DecideRow(ctx, set, c, q, row)
	if err != nil {
		return Decision{}, nil, err
	}
	b := &bucket{on: resources[q.Resource], action: ast.StringTerm(q.Action), resource: ast.StringTerm(q.Resource)}
	if b.on == nil {
		b.on = &resource{name: q.Resource}
	}
	for _, p := range set.policies {
		if !p.covers(q.Action, q.Resource) {
			continue
		}
		here := *p
		here.conditions = slices.Clone(p.conditions)
		for i, cond := range here.conditions {
			if !cond.fits(b.on) {
				other := *cond
				other.term = neverHolds
				here.conditions[i] = &other
			}
		}
		b.allow = append(b.allow, &here)
	}
	b.term = policiesTerm(b.allow, nil)
	b.needs, _ = shapesOf(b.on, b.allow)
	rs, err := e.now.Load().unmet.Eval(ctx, rego.EvalParsedInput(b.input(c, row, false)), rego.EvalMetrics(metrics.NoOp()))
	if err != nil {
		return Decision{}, nil, fmt.Errorf("explain the decision: %w", err)
	}
	if len(rs) != 1 || len(rs[0].Expressions) != 1 {
		return d, nil, nil
	}
	pairs, _ := rs[0].Expressions[0].Value.([]any)
	return d, b.unmet(c, row, pairs), nil
}

// unmet turns the Rego's pairs of policy and place into conditions, each of the policy's own once.
func (b *bucket) unmet(c *Caller, row Row, pairs []any) []Unmet {
	failed := map[string][]int{}
	for _, p := range pairs {
		pair, _ := p.([]any)
		if len(pair) != 2 {
			continue
		}
		id, _ := pair[0].(string)
		if n, ok := pair[1].(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				failed[id] = append(failed[id], int(i))
			}
		}
	}
	value := b.value(c, row)
	out := []Unmet{}
	for _, p := range b.allow {
		slices.Sort(failed[p.ID])
		for _, i := range failed[p.ID] {
			if i < 0 || i >= len(p.conditions) {
				continue
			}
			cond := p.conditions[i]
			u := Unmet{PolicyID: p.ID, Path: cond.path, Op: cond.op, Want: c.resolved(cond.raw)}
			if at, _, ok := resolve(Any, cond.path); ok {
				u.Have = plain(value(at))
			}
			if len(out) == 0 || out[len(out)-1].PolicyID != u.PolicyID || out[len(out)-1].Path != u.Path || out[len(out)-1].Op != u.Op {
				out = append(out, u)
			}
		}
	}
	return out
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

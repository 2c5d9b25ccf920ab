// Package authz decides. One prepared OPA query answers whether a caller may do a verb on a resource, by which scope,
// role or policy, and on which rows; internal/op asks it, and nobody else does.
//
// Scopes and roles are Rego and static data (package policies). What an answer depends on is small and finite, so
// answers are kept: a second question of the same kind costs a map look-up.
package authz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"atrium/internal/principal"
	"atrium/policies"
)

// Rows says which rows of a resource a decision reaches.
type Rows string

// The reaches of a role.
const (
	RowsAll      Rows = "all"
	RowsOwn      Rows = "own"      // created by the caller
	RowsAssigned Rows = "assigned" // assigned to the caller
	RowsNone     Rows = "none"
)

// By names what decided: a scope, the method of authentication, or a role.
type By struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Decision is the answer to one question. The zero value refuses.
type Decision struct {
	Allow bool `json:"allow"`
	By    By   `json:"by"`
	Rows  Rows `json:"rows"`
}

// Question is what is asked of the caller's rights.
type Question struct {
	Verb       string // "request.accept"
	Scope      string // the one the operation needs; empty for none
	AdminLayer bool   // settings that only a person may touch
}

// Engine holds the prepared query. Safe for concurrent use.
type Engine struct {
	query rego.PreparedEvalQuery
	known sync.Map // memo → Decision
}

// memo is all that an answer depends on.
type memo struct {
	role   principal.Role
	method principal.Method
	scopes principal.Scopes // cut down to what the question looks at
	q      Question
}

// New prepares the embedded policies.
func New(ctx context.Context) (*Engine, error) {
	module, err := policies.Files.ReadFile("atrium.rego")
	if err != nil {
		return nil, fmt.Errorf("read the policies: %w", err)
	}
	raw, err := policies.Files.ReadFile("data.json")
	if err != nil {
		return nil, fmt.Errorf("read the roles: %w", err)
	}
	var data map[string]any
	if err := json.Unmarshal(raw, &data); err != nil {
		return nil, fmt.Errorf("read the roles: %w", err)
	}
	q, err := rego.New(
		rego.Query("data.atrium.authz.decision"),
		rego.Module("atrium.rego", string(module)),
		rego.Store(inmem.NewFromObject(data)),
		rego.Strict(true),
	).PrepareForEval(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepare the policies: %w", err)
	}
	return &Engine{query: q}, nil
}

// Decide answers q for the caller. An error means no: callers must treat it as a refusal.
func (e *Engine) Decide(ctx context.Context, p *principal.Principal, q Question) (Decision, error) {
	key := memo{role: p.Role, method: p.Method, q: q}
	if q.AdminLayer {
		key.scopes = p.Scopes
	} else if want := principal.MustScope(q.Scope); p.Scopes.Has(want) {
		key.scopes = want
	}
	if d, ok := e.known.Load(key); ok {
		return d.(Decision), nil //nolint:forcetypeassert // only decisions are stored
	}
	d, err := e.eval(ctx, key)
	if err != nil {
		return Decision{}, err
	}
	e.known.Store(key, d)
	return d, nil
}

func (e *Engine) eval(ctx context.Context, k memo) (Decision, error) {
	scopes := make([]*ast.Term, 0, len(principal.ScopeNames))
	for _, name := range k.scopes.Names() {
		scopes = append(scopes, ast.StringTerm(name))
	}
	input := ast.NewObject(
		ast.Item(ast.StringTerm("role"), ast.StringTerm(string(k.role))),
		ast.Item(ast.StringTerm("method"), ast.StringTerm(string(k.method))),
		ast.Item(ast.StringTerm("scopes"), ast.ArrayTerm(scopes...)),
		ast.Item(ast.StringTerm("scope"), ast.StringTerm(k.q.Scope)),
		ast.Item(ast.StringTerm("verb"), ast.StringTerm(k.q.Verb)),
		ast.Item(ast.StringTerm("admin_layer"), ast.BooleanTerm(k.q.AdminLayer)),
	)
	rs, err := e.query.Eval(ctx, rego.EvalParsedInput(input), rego.EvalMetrics(metrics.NoOp()))
	if err != nil {
		return Decision{}, fmt.Errorf("evaluate the policies: %w", err)
	}
	if len(rs) != 1 || len(rs[0].Expressions) != 1 {
		return Decision{}, errors.New("evaluate the policies: no answer")
	}
	return decode(rs[0].Expressions[0].Value)
}

// decode reads the query's object; anything unexpected is an error.
func decode(v any) (Decision, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return Decision{}, fmt.Errorf("read the decision: %w", err)
	}
	var d Decision
	if err := json.Unmarshal(b, &d); err != nil {
		return Decision{}, fmt.Errorf("read the decision: %w", err)
	}
	switch d.Rows {
	case RowsAll, RowsOwn, RowsAssigned, RowsNone:
	default:
		return Decision{}, fmt.Errorf("read the decision: unknown rows %q", d.Rows)
	}
	if d.Allow && d.Rows == RowsNone {
		return Decision{}, errors.New("read the decision: allowed on no rows")
	}
	return d, nil
}

package authz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"

	"atrium/ent"
	"atrium/internal/platform/principal"
)

// Reach says which rows of a resource a role reaches.
type Reach string

// The reaches of a role.
const (
	RowsAll      Reach = "all"
	RowsOwn      Reach = "own"      // created by the caller
	RowsAssigned Reach = "assigned" // assigned to the caller
	RowsNone     Reach = "none"
)

// By names the deciding rule: a scope, the method of authentication, a role, an access policy, or the operator's own
// policies. A policy without an id means that nothing allows the action.
type By struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Decision is the answer to one question. The zero value refuses.
type Decision struct {
	Allow bool  `json:"allow"`
	By    By    `json:"by"`
	Rows  Reach `json:"rows"`

	Approval string `json:"-"` // the policy that makes an agent wait for a person's approval; empty for none
}

// Question is a question about the caller's rights.
type Question struct {
	Verb       string // "request.accept"
	Scope      string // the scope that the operation requires; empty for none
	AdminLayer bool   // settings that only a person may change
	Action     string // for access policies: "update"
	Resource   string // for access policies: "Request"
}

// Options name the folder of the operator's own modules.
type Options struct {
	PolicyDir string // a folder of *.rego in the package atrium.operator; empty for none
}

// Engine holds the prepared queries. Safe for concurrent use.
type Engine struct {
	dir   string
	seen  string  // the state of the folder when it was read at the start
	own   *bundle // only the embedded modules; policies are compiled with them
	now   atomic.Pointer[bundle]
	known sync.Map // memo → Decision
}

// memo holds everything that an answer of scopes and roles depends on.
type memo struct {
	role   principal.Role
	method principal.Method
	scopes principal.Scopes // reduced to those that the question depends on
	q      Question
}

// New prepares the embedded policies and the operator's own. It returns an error if a module does not compile in strict
// mode.
func New(ctx context.Context, o Options) (*Engine, error) {
	own, err := loadBundle(ctx, "")
	if err != nil {
		return nil, err
	}
	e := &Engine{dir: o.PolicyDir, seen: fingerprint(o.PolicyDir), own: own}
	e.now.Store(own)
	if o.PolicyDir != "" {
		if _, err := e.Reload(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Reload reads the operator's modules again, and reports whether they have changed. If they do not compile, the previous
// ones stay in force.
func (e *Engine) Reload(ctx context.Context) (changed bool, err error) {
	if e.dir == "" {
		return false, nil
	}
	b, err := loadBundle(ctx, e.dir)
	if err != nil {
		return false, err
	}
	return e.now.Swap(b).version != b.version, nil
}

// Bundle returns the version of the deciding modules, which derives from their content.
func (e *Engine) Bundle() string { return e.now.Load().version }

// Verbs returns, in order, the rights that are given or denied to roles by name. It leaves out rights that owners and admins
// have because they have all rights.
func (e *Engine) Verbs() []string { return e.now.Load().verbs }

// Decide answers q for the caller by scopes and roles. Callers must treat an error as a refusal.
func (e *Engine) Decide(ctx context.Context, p *principal.Principal, q Question) (Decision, error) {
	q.Action, q.Resource = "", ""
	q.AdminLayer = q.AdminLayer || e.own.person[q.Verb]
	key := memoOf(p, q)
	if d, ok := e.known.Load(key); ok {
		return d.(Decision), nil // only decisions are stored
	}
	v, err := evaluate(ctx, e.own.decision, ast.NewObject(key.input()...), rego.EvalExternalCancel(never))
	if err != nil {
		return Decision{}, err
	}
	d, err := decode(v)
	if err != nil {
		return Decision{}, err
	}
	e.known.Store(key, d)
	return d, nil
}

// TakesRecentProof reports whether a verb requires a recent sign-in of a person.
func (e *Engine) TakesRecentProof(verb string) bool { return e.own.recent[verb] }

func memoOf(p *principal.Principal, q Question) memo {
	key := memo{role: p.Role, method: p.Method, q: q}
	// The modules ask whether the wanted scope is held and, for the admin layer, whether all are. With whole sets of scopes as keys, a
	// company could fill the memory.
	if q.AdminLayer && p.Scopes.Has(principal.AllScopes) {
		key.scopes = principal.AllScopes
	} else if want := principal.ScopeOf(q.Scope); p.Scopes.Has(want) {
		key.scopes = want
	}
	return key
}

// DecideRow answers q by scopes, roles and the company's policies, for the row in question; the zero Row means none. Callers
// must treat an error as a refusal. It returns one also when ctx ends first.
func (e *Engine) DecideRow(ctx context.Context, set *Set, c *Caller, q Question, row Row) (Decision, error) {
	d, err := e.Decide(ctx, c.Principal, q)
	if err != nil || !d.Allow || Exempt(c.Principal, q.Resource) {
		return d, err
	}
	by, err := e.byPolicies(ctx, set, c, q, row)
	if err != nil || !by.Allow {
		return by, err
	}
	d.By, d.Approval = by.By, by.Approval
	if q.Action != "read" {
		return d, nil
	}
	for i, p := range parents[q.Resource] { // a row is hidden if one of its parents is
		above := Row{Resource: p.Entity}
		if i < len(row.parents) {
			if above = row.parents[i]; above.Resource == "" {
				continue // it belongs to none
			}
		} else if !e.Unconditional(set, "read", p.Entity) {
			return Decision{By: By{Kind: "policy"}, Rows: RowsNone}, nil
		}
		q.Resource = p.Entity
		if of, err := e.DecideRow(ctx, set, c, q, above); err != nil || !of.Allow {
			return of, err
		}
	}
	return d, nil
}

// byPolicies answers by the operator's and the company's policies alone.
func (e *Engine) byPolicies(ctx context.Context, set *Set, c *Caller, q Question, row Row) (Decision, error) {
	b, r := e.now.Load(), set.about(q.Action, q.Resource)
	if r.unconditional && !b.operator {
		return r.same(ctx, b)
	}
	p, err := set.program(ctx, b, r)
	if err != nil {
		return Decision{}, err
	}
	return b.answer(ctx, p.decision, b.input(p.fields, c, q.Action, r.on, &row))
}

// answer evaluates access.rego's decision.
func (b *bundle) answer(ctx context.Context, decision rego.PreparedEvalQuery, input ast.Value) (Decision, error) {
	v, err := evaluate(ctx, decision, input, rego.EvalExternalCancel(until{ctx}))
	if ctx.Err() != nil {
		return Decision{}, fmt.Errorf("decide by the policies: %w", ctx.Err())
	}
	if err != nil {
		return Decision{}, err
	}
	return decodeAnswer(v)
}

// until ends an evaluation with a context. OPA's own way starts a goroutine for each evaluation.
type until struct{ context.Context }

func (until) Cancel()           {}
func (u until) Cancelled() bool { return u.Err() != nil }

// Ready compiles what a write needs of the set, before its transaction: the policies about its own action, and those about reading.
func (e *Engine) Ready(ctx context.Context, set *Set, action, resource string) error {
	b := e.now.Load()
	made := func(action, resource string) error {
		r := set.about(action, resource)
		if r.unconditional && !b.operator {
			return nil
		}
		_, err := set.program(ctx, b, r)
		return err
	}
	if !e.Open(set) {
		for name := range resources {
			if err := made("read", name); err != nil {
				return err
			}
		}
	}
	return made(action, resource)
}

// Open reports whether everybody may read every row of the company, which is the default.
func (e *Engine) Open(set *Set) bool { return set.open && !e.now.Load().operator }

// Unconditional reports whether the policies give the same answer for every row, so that they can be asked before there is a row.
func (e *Engine) Unconditional(set *Set, action, resource string) bool {
	return set.about(action, resource).unconditional && !e.now.Load().operator &&
		(action != "read" || !slices.ContainsFunc(parents[resource], func(p ent.Owner) bool { return !e.Unconditional(set, action, p.Entity) }))
}

// AsksCaller reports whether policies read the caller's teams or attributes, so that a Caller needs them.
func (e *Engine) AsksCaller(set *Set) bool {
	return set.asks || e.now.Load().operator
}

// names of the input, made once.
var (
	termRole, termMethod, termScopes  = ast.StringTerm("role"), ast.StringTerm("method"), ast.StringTerm("scopes")
	termScope, termVerb, termLayer    = ast.StringTerm("scope"), ast.StringTerm("verb"), ast.StringTerm("admin_layer")
	termTrue, termFalse, termNoScopes = ast.BooleanTerm(true), ast.BooleanTerm(false), ast.ArrayTerm()
)

// input returns the part of the input on which scopes and roles depend.
func (k memo) input() [][2]*ast.Term {
	scopes, layer := termNoScopes, termFalse
	if names := k.scopes.Names(); len(names) > 0 {
		scopes = ast.NewTerm(texts(names))
	}
	if k.q.AdminLayer {
		layer = termTrue
	}
	return append(make([][2]*ast.Term, 0, 6),
		ast.Item(termRole, ast.StringTerm(string(k.role))), ast.Item(termMethod, ast.StringTerm(string(k.method))),
		ast.Item(termScopes, scopes), ast.Item(termScope, ast.StringTerm(k.q.Scope)),
		ast.Item(termVerb, ast.StringTerm(k.q.Verb)), ast.Item(termLayer, layer))
}

// evaluate runs a query, and returns its one answer.
func evaluate(ctx context.Context, q rego.PreparedEvalQuery, input ast.Value, options ...rego.EvalOption) (any, error) {
	rs, err := q.Eval(ctx, append(options, rego.EvalParsedInput(input), rego.EvalMetrics(metrics.NoOp()))...)
	if err != nil {
		return nil, fmt.Errorf("evaluate the policies: %w", err)
	}
	if len(rs) != 1 || len(rs[0].Expressions) != 1 {
		return nil, errors.New("evaluate the policies: no answer")
	}
	return rs[0].Expressions[0].Value, nil
}

// never means that the evaluation of scopes and roles is never cancelled: customers cannot influence its cost, its answer is
// cached, and a goroutine that watches the caller's context would cost more.
var never = notCancelled{}

type notCancelled struct{}

func (notCancelled) Cancel()         {}
func (notCancelled) Cancelled() bool { return false }

// decodeAnswer reads the object of the policies' decision; anything unexpected is an error.
func decodeAnswer(v any) (Decision, error) {
	d, m, err := decodeBy(v)
	if err != nil {
		return Decision{}, err
	}
	if !d.Allow {
		d.Rows = RowsNone
		return d, nil
	}
	approval, ok := m["approval"].(string)
	if !ok {
		return Decision{}, errors.New("read the decision: it lacks something")
	}
	d.Approval = approval
	return d, nil
}

// decodeBy reads what both decisions have in common.
func decodeBy(v any) (Decision, map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Decision{}, nil, errors.New("read the decision: no object")
	}
	allow, ok1 := m["allow"].(bool)
	by, ok2 := m["by"].(map[string]any)
	kind, ok3 := by["kind"].(string)
	if kind == "operator" && by["id"] != nil {
		by["id"] = fmt.Sprint(by["id"]) // an operator's denial may be any value
	}
	name, ok4 := by["id"].(string)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return Decision{}, nil, errors.New("read the decision: it lacks something")
	}
	return Decision{Allow: allow, By: By{Kind: kind, ID: name}}, m, nil
}

// decode reads the object of the decision by scopes and roles; anything unexpected is an error.
func decode(v any) (Decision, error) {
	d, m, err := decodeBy(v)
	if err != nil {
		return Decision{}, err
	}
	reach, ok := m["rows"].(string)
	if !ok {
		return Decision{}, errors.New("read the decision: it lacks something")
	}
	d.Rows = Reach(reach)
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

func intText(i int64) json.Number { return json.Number(strconv.FormatInt(i, 10)) }

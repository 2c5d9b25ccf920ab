// Package authz decides. Prepared OPA queries answer whether a caller may do a verb on a resource, by which scope, role or
// policy; internal/op asks them, and internal/policy where policies are tried out. "decision" is the whole answer, and
// what it says of scopes and roles is remembered; "verdict" is the part of it that the policies have, asked of each row.
//
// Scopes and roles are Rego and static data (package policies). A company's access policies are rows: each is read,
// checked and partially evaluated once (Compile), and a company's policies together are a Set. A decision about one row
// evaluates the policies that are about its action and resource (DecideRow); a list carries the same policies as a
// predicate of its SQL (Rows), made from what partial evaluation left. That both agree is held by a differential test.
//
//	resource.go, attribute.go       what policies can look at: one table, made from the entities
//	condition.go, policy.go         the policies' language
//	residual.go, node.go, fold.go   what partial evaluation leaves, narrowed down to a caller and a resource
//	predicate.go, rows.go           the same as SQL
//	set.go, document.go             a company's policies, and the input of a decision
//	bundle.go                       the modules, the operator's own among them
package authz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"

	"atrium/internal/principal"
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

// By names what decided: a scope, the method of authentication, a role, an access policy, or the operator's own
// policies. A policy without an id is the rule that what nothing allows is denied.
type By struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Decision is the answer to one question. The zero value refuses.
type Decision struct {
	Allow bool  `json:"allow"`
	By    By    `json:"by"`
	Rows  Reach `json:"rows"`
}

// Question is what is asked of the caller's rights.
type Question struct {
	Verb       string // "request.accept"
	Scope      string // the one the operation needs; empty for none
	AdminLayer bool   // settings that only a person may touch
	Action     string // of access policies: "update"
	Resource   string // of access policies: "Request"
}

// Options say where the operator's own modules are.
type Options struct {
	PolicyDir string // a folder of *.rego in the package atrium.operator; empty for none
}

// Engine holds the prepared queries. Safe for concurrent use.
type Engine struct {
	dir   string
	seen  string  // the state of the folder that was read at the start
	own   *bundle // the embedded modules alone: what policies are compiled with
	now   atomic.Pointer[bundle]
	known sync.Map // memo → Decision
}

// memo is all that an answer of scopes and roles depends on.
type memo struct {
	role   principal.Role
	method principal.Method
	scopes principal.Scopes // cut down to what the question looks at
	q      Question
}

// New prepares the embedded policies and the operator's own. Modules that do not compile, strictly, are an error.
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

// Reload reads the operator's modules again, and tells whether they have changed. Modules that are broken change
// nothing: those that were good stay in force.
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

// Bundle names the modules that decide, by their content.
func (e *Engine) Bundle() string { return e.now.Load().version }

// Decide answers q by scopes and roles, for the caller. An error means no: callers must treat it as a refusal.
func (e *Engine) Decide(ctx context.Context, p *principal.Principal, q Question) (Decision, error) {
	q.Action, q.Resource = "", ""
	key := memoOf(p, q)
	if d, ok := e.known.Load(key); ok {
		return d.(Decision), nil //nolint:forcetypeassert // only decisions are stored
	}
	v, err := evaluate(ctx, e.own.decision, ast.NewObject(key.input()...))
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

func memoOf(p *principal.Principal, q Question) memo {
	key := memo{role: p.Role, method: p.Method, q: q}
	if q.AdminLayer {
		key.scopes = p.Scopes
	} else if want := principal.MustScope(q.Scope); p.Scopes.Has(want) {
		key.scopes = want
	}
	return key
}

// DecideRow answers q by scopes, roles and the company's policies, for the row that it is about: the zero Row where there
// is none. An error means no.
func (e *Engine) DecideRow(ctx context.Context, set *Set, c *Caller, q Question, row Row) (Decision, error) {
	d, err := e.Decide(ctx, c.Principal, q)
	if err != nil || !d.Allow {
		return d, err
	}
	now, b := e.now.Load(), set.bucket(q.Action, q.Resource)
	settled := b.settled && now.operator == nil
	if settled {
		if by, ok := b.known.Load(c.Principal.Role); ok {
			return d.and(by.(verdict)), nil //nolint:forcetypeassert // only verdicts are stored
		}
	}
	value, err := evaluate(ctx, now.verdict, b.input(c, row, now.operator != nil))
	if err != nil {
		return Decision{}, err
	}
	v, err := decodeVerdict(value)
	if err != nil {
		return Decision{}, err
	}
	if settled {
		b.known.Store(c.Principal.Role, v)
	}
	return d.and(v), nil
}

// verdict is the policies' part of a decision.
type verdict struct {
	allow bool
	by    By
}

// and is the decision of scopes and roles, which allow, with the policies' verdict.
func (d Decision) and(v verdict) Decision {
	if !v.allow {
		return Decision{By: v.by, Rows: RowsNone}
	}
	d.By = v.by
	return d
}

// Open tells whether everybody may read every row of the company, as they do by default.
func (e *Engine) Open(set *Set) bool { return set.open && e.now.Load().operator == nil }

// Settled tells whether the policies answer for an action on a resource whatever the row, so that they can be asked
// before there is one.
func (e *Engine) Settled(set *Set, action, resource string) bool {
	return set.bucket(action, resource).settled && e.now.Load().operator == nil
}

// AsksCaller tells whether policies look at the caller's teams or attributes, which a Caller must then be given.
func (e *Engine) AsksCaller(set *Set) bool {
	return set.asks || e.now.Load().operator != nil
}

// AsksLists tells whether policies look at a list of the row, which RowOf must then be given.
func (e *Engine) AsksLists(set *Set, action, resource string) bool {
	return set.bucket(action, resource).lists || e.now.Load().operator != nil
}

// names of the input, made once.
var (
	termRole, termMethod, termScopes  = ast.StringTerm("role"), ast.StringTerm("method"), ast.StringTerm("scopes")
	termScope, termVerb, termLayer    = ast.StringTerm("scope"), ast.StringTerm("verb"), ast.StringTerm("admin_layer")
	termPolicies, termAction          = ast.StringTerm("policies"), ast.StringTerm("action")
	termType, termResource            = ast.StringTerm("resource_type"), ast.StringTerm("resource")
	termPrincipal, termContext        = ast.StringTerm("principal"), ast.StringTerm("context")
	termTrue, termFalse, termNoScopes = ast.BooleanTerm(true), ast.BooleanTerm(false), ast.ArrayTerm()
)

// roleTerms are the roles as terms, made once.
var roleTerms = func() map[principal.Role]*ast.Term {
	out := map[principal.Role]*ast.Term{}
	for _, role := range []principal.Role{principal.Member, principal.Agent, principal.Admin, principal.Owner, principal.OperatorRole} {
		out[role] = ast.StringTerm(string(role))
	}
	return out
}()

// input is the part that scopes and roles are decided by.
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

// input is what a verdict takes: what the bucket's conditions look at, or all there is.
func (b *bucket) input(c *Caller, row Row, whole bool) ast.Object {
	role, ok := roleTerms[c.Principal.Role]
	if !ok {
		role = ast.StringTerm(string(c.Principal.Role))
	}
	in := append(make([][2]*ast.Term, 0, 8), ast.Item(termPolicies, b.term), ast.Item(termRole, role), ast.Item(termType, b.resource))
	if whole {
		return ast.NewObject(append(append(in, ast.Item(termAction, b.action)), wholeInput(c, row)...)...)
	}
	return ast.NewObject(append(in, fill(b.needs, b.value(c, row))...)...)
}

// value looks an attribute of the input up.
func (b *bucket) value(c *Caller, row Row) func([]string) ast.Value {
	return func(path []string) ast.Value {
		if path[0] != "resource" {
			return c.value(path)
		}
		return row.value(b.on, path[1:])
	}
}

// wholeInput is the documented input of the operator's modules.
func wholeInput(c *Caller, row Row) [][2]*ast.Term {
	object := func(v map[string]any) *ast.Term {
		value, err := ast.InterfaceToValue(v)
		if err != nil || v == nil {
			return ast.ObjectTerm()
		}
		return ast.NewTerm(value)
	}
	doc := c.Document()
	caller, _ := doc["principal"].(map[string]any)
	call, _ := doc["context"].(map[string]any)
	return [][2]*ast.Term{
		ast.Item(termPrincipal, object(caller)), ast.Item(termContext, object(call)), ast.Item(termResource, object(row.Document())),
	}
}

// evaluate asks a query, and returns its one answer.
func evaluate(ctx context.Context, q rego.PreparedEvalQuery, input ast.Value) (any, error) {
	rs, err := q.Eval(ctx, rego.EvalParsedInput(input), rego.EvalMetrics(metrics.NoOp()), rego.EvalExternalCancel(never))
	if err != nil {
		return nil, fmt.Errorf("evaluate the policies: %w", err)
	}
	if len(rs) != 1 || len(rs[0].Expressions) != 1 {
		return nil, errors.New("evaluate the policies: no answer")
	}
	return rs[0].Expressions[0].Value, nil
}

// never cancels an evaluation: it takes microseconds, and a goroutine to watch the caller's context would cost more.
var never = notCancelled{}

type notCancelled struct{}

func (notCancelled) Cancel()         {}
func (notCancelled) Cancelled() bool { return false }

// decode reads the query's object; anything unexpected is an error.
func decode(v any) (Decision, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Decision{}, errors.New("read the decision: no object")
	}
	allow, ok1 := m["allow"].(bool)
	by, ok2 := m["by"].(map[string]any)
	kind, ok3 := by["kind"].(string)
	name, ok4 := by["id"].(string)
	reach, ok5 := m["rows"].(string)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return Decision{}, errors.New("read the decision: it lacks something")
	}
	d := Decision{Allow: allow, By: By{Kind: kind, ID: name}, Rows: Reach(reach)}
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

// decodeVerdict reads whether the policies allow it, and which of them decided.
func decodeVerdict(v any) (verdict, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return verdict{}, errors.New("read the policies' verdict: no object")
	}
	allow, ok1 := m["allow"].(bool)
	kind, ok2 := m["kind"].(string)
	name, ok3 := m["id"].(string)
	if !ok1 || !ok2 || !ok3 {
		return verdict{}, errors.New("read the policies' verdict: it lacks something")
	}
	return verdict{allow: allow, by: By{Kind: kind, ID: name}}, nil
}

func intText(i int64) json.Number { return json.Number(strconv.FormatInt(i, 10)) }

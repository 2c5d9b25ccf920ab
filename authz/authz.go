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
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"

	"atrium/ent"
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

	Approval string `json:"-"` // the policy by which an agent waits for a person to approve it; empty for none
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

// Reload reads the operator's modules again, and reports whether they have changed. Modules that are broken change
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

// Verbs returns the rights that roles are given or denied by name, in order; those that owners and admins have as everything
// else are not among them.
func (e *Engine) Verbs() []string { return e.now.Load().verbs }

// Decide answers q by scopes and roles, for the caller. An error means no: callers must treat it as a refusal.
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

// TakesRecentProof reports whether a verb takes a person who has just shown who it is.
func (e *Engine) TakesRecentProof(verb string) bool { return e.own.recent[verb] }

func memoOf(p *principal.Principal, q Question) memo {
	key := memo{role: p.Role, method: p.Method, q: q}
	if q.AdminLayer {
		key.scopes = p.Scopes
	} else if want := principal.MustScope(q.Scope); p.Scopes.Has(want) {
		key.scopes = want
	}
	return key
}

// maxDecision bounds the time that a company's policies may take for one decision. They are bounded when they are saved,
// so that only a company that writes the worst of them meets it.
const maxDecision = 50 * time.Millisecond

// DecideRow answers q by scopes, roles and the company's policies, for the row that it is about: the zero Row where there
// is none. An error means no; it is returned, too, when ctx ends first or the policies take longer than maxDecision.
func (e *Engine) DecideRow(ctx context.Context, set *Set, c *Caller, q Question, row Row) (Decision, error) {
	d, err := e.Decide(ctx, c.Principal, q)
	if err != nil || !d.Allow || Exempt(c.Principal, q.Resource) {
		return d, err
	}
	if b := e.now.Load(); b.operator != nil {
		name, denied, err := b.denies(ctx, c, q, row)
		if err != nil {
			return Decision{}, err
		}
		if denied {
			return Decision{By: By{Kind: "operator", ID: name}, Rows: RowsNone}, nil
		}
	}
	a := set.bucket(q.Action, q.Resource).decide(ctx, c, row)
	switch {
	case a.err != nil:
		return Decision{}, a.err
	case !a.allowed:
		return Decision{By: By{Kind: "policy", ID: a.by}, Rows: RowsNone}, nil
	}
	d.By, d.Approval = By{Kind: "policy", ID: a.by}, a.approval
	if q.Action != "read" {
		return d, nil
	}
	for i, p := range parents[q.Resource] { // a row is hidden with what it belongs to
		above := Row{Resource: p.Entity}
		if i < len(row.parents) {
			above = row.parents[i]
		} else if !e.Settled(set, "read", p.Entity) {
			return Decision{By: By{Kind: "policy"}, Rows: RowsNone}, nil
		}
		q.Resource = p.Entity
		if of, err := e.DecideRow(ctx, set, c, q, above); err != nil || !of.Allow {
			return of, err
		}
	}
	return d, nil
}

// Open reports whether everybody may read every row of the company, as they do by default.
func (e *Engine) Open(set *Set) bool { return set.open && e.now.Load().operator == nil }

// Settled reports whether the policies answer for an action on a resource whatever the row, so that they can be asked
// before there is one.
func (e *Engine) Settled(set *Set, action, resource string) bool {
	return set.bucket(action, resource).settled && e.now.Load().operator == nil &&
		(action != "read" || !slices.ContainsFunc(parents[resource], func(p ent.Owner) bool { return !e.Settled(set, action, p.Entity) }))
}

// Heavy reports whether decisions about an action on a resource may take so long that they are made before a transaction.
func (e *Engine) Heavy(set *Set, action, resource string) bool {
	return set.bucket(action, resource).weight >= heavy ||
		action == "read" && slices.ContainsFunc(parents[resource], func(p ent.Owner) bool { return e.Heavy(set, action, p.Entity) })
}

// AsksCaller reports whether policies look at the caller's teams or attributes, which a Caller must then be given.
func (e *Engine) AsksCaller(set *Set) bool {
	return set.asks || e.now.Load().operator != nil
}

// names of the input, made once.
var (
	termRole, termMethod, termScopes  = ast.StringTerm("role"), ast.StringTerm("method"), ast.StringTerm("scopes")
	termScope, termVerb, termLayer    = ast.StringTerm("scope"), ast.StringTerm("verb"), ast.StringTerm("admin_layer")
	termTrue, termFalse, termNoScopes = ast.BooleanTerm(true), ast.BooleanTerm(false), ast.ArrayTerm()
)

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

// evaluate asks a query, and returns its one answer.
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

// never cancels the evaluation of scopes and roles: no customer has a say in what it costs, its answer is remembered, and
// a goroutine to watch the caller's context would cost more.
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

func intText(i int64) json.Number { return json.Number(strconv.FormatInt(i, 10)) }

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

// maxDecision limits the time of a company's policies for one decision. Policies are limited when they are saved, so only a
// company with the worst possible ones reaches it.
const maxDecision = 50 * time.Millisecond

// DecideRow answers q by scopes, roles and the company's policies, for the row in question; the zero Row means none. Callers
// must treat an error as a refusal. It returns one also when ctx ends first or the policies take longer than maxDecision.
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
	for i, p := range parents[q.Resource] { // a row is hidden if one of its parents is
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

// Open reports whether everybody may read every row of the company, which is the default.
func (e *Engine) Open(set *Set) bool { return set.open && e.now.Load().operator == nil }

// Settled reports whether the policies give the same answer for every row, so that they can be asked before there is a row.
func (e *Engine) Settled(set *Set, action, resource string) bool {
	return set.bucket(action, resource).settled && e.now.Load().operator == nil &&
		(action != "read" || !slices.ContainsFunc(parents[resource], func(p ent.Owner) bool { return !e.Settled(set, action, p.Entity) }))
}

// Heavy reports whether decisions about an action on a resource may take so long that they should be made before a
// transaction.
func (e *Engine) Heavy(set *Set, action, resource string) bool {
	return set.bucket(action, resource).weight >= heavy ||
		action == "read" && slices.ContainsFunc(parents[resource], func(p ent.Owner) bool { return e.Heavy(set, action, p.Entity) })
}

// AsksCaller reports whether policies read the caller's teams or attributes, so that a Caller needs them.
func (e *Engine) AsksCaller(set *Set) bool {
	return set.asks || e.now.Load().operator != nil
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

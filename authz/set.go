package authz

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/share"
)

// Set holds all enabled policies of one company. It is immutable but for what it has made of them: for each action on each resource,
// the Rego module of the policies that can apply.
type Set struct {
	version  string
	policies []*Compiled // in the order of their ids
	asks     bool        // a policy reads the caller's teams or attributes
	open     bool        // everybody may read every row
	globs    bool        // a policy has a glob

	rules sync.Map // about → *rules

	mu       sync.Mutex // held while a module compiles
	programs map[string]*program
}

// NewSet returns the set of the policies, all of them enabled.
func NewSet(policies []*Compiled) *Set {
	s := &Set{policies: slices.Clone(policies), programs: map[string]*program{}}
	slices.SortFunc(s.policies, func(a, b *Compiled) int { return strings.Compare(a.ID, b.ID) })
	sum := sha256.New()
	allows, denies := false, false
	for _, p := range s.policies {
		sum.Write(fmt.Appendf(nil, "%s/%d\n", p.ID, p.Version))
		for _, c := range p.conditions {
			s.globs = s.globs || c.op == "glob"
			for _, path := range append([][]string{c.at}, c.from...) {
				s.asks = s.asks || path[0] == "principal" && (path[1] == "teamIds" || path[1] == "attributes")
			}
		}
		if p.Action != Any && p.Action != "read" {
			continue
		}
		denies = denies || p.Effect == Deny
		allows = allows || p.Effect == Allow && p.Resource == Any && len(p.conditions) == 0
	}
	s.open = allows && !denies
	s.version = hex.EncodeToString(sum.Sum(nil)[:8])
	return s
}

// Version identifies the set by its policies and their versions.
func (s *Set) Version() string { return s.version }

// Slow reports whether statements with the set's filters may take long: a database takes up to 6 ms for a glob on a row.
func (s *Set) Slow() bool { return s.globs }

// about is the subject of a question.
type about struct{ action, resource string }

// rules are the policies about an action on a resource, without those that cannot change the answer.
type rules struct {
	on            *resource
	policies      []*Compiled
	unconditional bool // none of them has a condition or makes agents wait: the answer is the same for all rows and callers
	key           string

	once   sync.Once // of unconditional rules
	answer Decision
	err    error

	made    atomic.Pointer[program] // the latest
	mu      sync.Mutex
	filters map[string]filter // by what the rules read of the caller
}

func (s *Set) about(action, resource string) *rules {
	key := about{action, resource}
	if r, ok := s.rules.Load(key); ok {
		return r.(*rules) // only rules are stored
	}
	r, _ := s.rules.LoadOrStore(key, s.newRules(action, resource))
	return r.(*rules) // only rules are stored
}

// newRules selects the policies that can apply. If some of one effect decide for every row, it leaves out what they make irrelevant.
func (s *Set) newRules(action, on string) *rules {
	r := &rules{on: resourceOf(on), filters: map[string]filter{}}
	by := map[string][]*Compiled{}
	for _, p := range s.policies {
		if !p.covers(action, on) || p.Effect == RequireApproval && action == "read" {
			continue
		}
		if p = p.onResource(r.on); p != nil {
			by[p.Effect] = append(by[p.Effect], p)
		}
	}
	free := func(p *Compiled) bool { return len(p.conditions) == 0 }
	bound := func(p *Compiled) bool { return !free(p) }
	switch {
	case slices.ContainsFunc(by[Deny], free):
		by = map[string][]*Compiled{Deny: slices.DeleteFunc(by[Deny], bound)}
	case len(by[Allow]) == 0:
		by = nil
	case len(by[Deny]) == 0 && slices.ContainsFunc(by[Allow], free):
		by[Allow] = slices.DeleteFunc(by[Allow], bound)
	}
	r.policies = slices.Concat(by[Deny], by[Allow], by[RequireApproval])
	r.unconditional = len(by[RequireApproval]) == 0 && !slices.ContainsFunc(r.policies, bound)
	var key strings.Builder
	for _, p := range r.policies {
		fmt.Fprintf(&key, "%s/%d ", p.ID, len(p.conditions))
		for _, c := range p.conditions {
			key.WriteString(c.path + " " + c.op + " ")
		}
	}
	r.key = key.String()
	return r
}

// same returns the answer of unconditional rules, which OPA is asked for once.
func (r *rules) same(ctx context.Context, b *bundle) (Decision, error) {
	r.once.Do(func() { r.answer, r.err = b.answer(context.WithoutCancel(ctx), b.unconditional, r.ids()) })
	return r.answer, r.err
}

// ids returns the policies' ids by their effects, as the input of bundle.unconditional.
func (r *rules) ids() ast.Value {
	by := map[ast.Var]*ast.Array{}
	for _, name := range sets {
		by[name] = ast.NewArray()
	}
	for _, p := range r.policies {
		by[sets[p.Effect]] = by[sets[p.Effect]].Append(ast.StringTerm(p.ID))
	}
	company := ast.NewObject()
	for name, ids := range by {
		company.Insert(ast.StringTerm(string(name)), ast.NewTerm(ids))
	}
	return ast.NewObject(ast.Item(ast.StringTerm("company"), ast.NewTerm(company)))
}

// program is policies as a module of Rego with the queries on it. Resources to which the same policies apply share one.
type program struct {
	bundle            *bundle
	decision          rego.PreparedEvalQuery
	permitted, denied rego.PreparedPartialQuery
	reads             read
	fields            []field // the shape of what it reads
}

// program returns the rules' program. The first call compiles it, which takes about 1 ms and 0.1 ms for each policy, so that writes make
// it before their transaction (Ready).
func (s *Set) program(ctx context.Context, b *bundle, r *rules) (*program, error) {
	if p := r.made.Load(); p != nil && p.bundle == b {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.programs[r.key]; p != nil && p.bundle == b {
		r.made.Store(p)
		return p, nil
	}
	leave, err := compilers.Take(ctx, companyOf(ctx))
	if err != nil {
		return nil, fmt.Errorf("compile the policies: %w", err)
	}
	defer leave()
	p, err := b.program(ctx, r.policies)
	if err != nil {
		return nil, err
	}
	s.programs[r.key] = p
	r.made.Store(p)
	return p, nil
}

// compilers limits how many modules compile at once, one of each company, so that companies with many policies leave processors to others.
var compilers = share.New(max(1, runtime.GOMAXPROCS(0)/2), 1)

// companyOf returns the company for whose call something is computed; empty for what the product does across companies.
func companyOf(ctx context.Context) string {
	if p, ok := principal.From(ctx); ok {
		return p.CompanyID
	}
	return ""
}

// program compiles policies together with the rules that combine them.
func (b *bundle) program(ctx context.Context, policies []*Compiled) (*program, error) {
	compiler, err := b.with(moduleOf(policies))
	if err != nil {
		return nil, err
	}
	p := &program{bundle: b, reads: readsOf(policies)}
	p.fields = p.reads.fields(0)
	if p.decision, err = query(compiler, "decision", "").PrepareForEval(ctx); err != nil {
		return nil, fmt.Errorf("prepare the policies: %w", err)
	}
	for name, into := range map[string]*rego.PreparedPartialQuery{"permitted": &p.permitted, "denied": &p.denied} {
		if *into, err = query(compiler, name, "input.resource").PrepareForPartial(ctx); err != nil {
			return nil, fmt.Errorf("prepare the policies: %w", err)
		}
	}
	return p, nil
}

// query returns a query of access.rego.
func query(compiler *ast.Compiler, name, unknown string) *rego.Rego {
	return rego.New(rego.Compiler(compiler), rego.Store(noData), withGlob, rego.Query("data.atrium.access."+name), rego.Unknowns([]string{unknown}))
}

// translatable returns errUntranslatable, wrapped, if policies, and the operator's denials, cannot become a filter of the rows of the
// resources, for whatever caller.
func (b *bundle) translatable(ctx context.Context, policies []*Compiled, on ...*resource) error {
	compiler, err := b.with(moduleOf(policies))
	if err != nil {
		return err
	}
	for _, name := range []string{"permitted", "denied"} {
		left, err := query(compiler, name, "input").Partial(ctx)
		if err != nil {
			return fmt.Errorf("evaluate the policies partially: %w", err)
		}
		for _, r := range on {
			if _, err := r.read(left, true); err != nil {
				return fmt.Errorf("on a %s: %w", r.name, err)
			}
		}
	}
	return nil
}

// maxFilters limits the filters that rules keep; when it is reached, all are dropped.
const maxFilters = 500

// filter returns the rows that the rules let the caller read.
func (s *Set) filter(ctx context.Context, b *bundle, r *rules, c *Caller) (filter, error) {
	if r.unconditional && !b.operator {
		d, err := r.same(ctx, b)
		return filter{on: r.on, permitted: always(d.Allow), denied: always(false)}, err
	}
	p, err := s.program(ctx, b, r)
	if err != nil {
		return filter{}, err
	}
	key, fixed := b.version+p.reads.key(c), !p.reads.changes()
	if b.operator {
		fixed = false // its modules may read all of the caller and of the call
	}
	r.mu.Lock()
	f, known := r.filters[key]
	r.mu.Unlock()
	if known && fixed {
		return f, nil
	}
	input := b.input(p.fields, c, "read", r.on, nil)
	f = filter{on: r.on}
	for query, into := range map[*rego.PreparedPartialQuery]*node{&p.permitted: &f.permitted, &p.denied: &f.denied} {
		left, err := query.Partial(ctx, rego.EvalParsedInput(input), rego.EvalMetrics(metrics.NoOp()))
		if err != nil {
			return filter{}, fmt.Errorf("evaluate the policies partially: %w", err)
		}
		if *into, err = r.on.read(left, false); err != nil {
			return filter{}, err
		}
	}
	if fixed {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.filters) >= maxFilters {
			clear(r.filters)
		}
		r.filters[key] = f
	}
	return f, nil
}

// key is a text that distinguishes callers by what is read of them.
func (r read) key(c *Caller) string {
	var out strings.Builder
	for _, path := range r {
		if path[0] == "resource" {
			continue
		}
		if v := c.value(path); v != nil {
			out.WriteString(v.String())
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// changes reports whether what is read differs with each call.
func (r read) changes() bool {
	return slices.ContainsFunc(r, func(path []string) bool { return len(path) == 2 && path[0] == "context" && path[1] == "time" })
}

// input returns the input of a module that reads these fields; all of what is documented for operators where there are operator's
// modules. A row is nil where it is unknown.
func (b *bundle) input(fields []field, c *Caller, action string, on *resource, row *Row) ast.Value {
	if b.operator {
		return b.wholeInput(c, action, on, row)
	}
	in := objectOf(fields, func(path []string) ast.Value {
		switch {
		case path[0] != "resource":
			return c.value(path)
		case row == nil:
			return nil
		}
		return row.value(on, path[1:])
	})
	if in == nil {
		return noInput
	}
	return in
}

var noInput = ast.NewObject()

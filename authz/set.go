package authz

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Set is all policies of one company that are in force. It is immutable, and keeps what was found out about it.
type Set struct {
	version  string
	policies []*Compiled // in the order of their ids
	buckets  sync.Map    // slot → *bucket
	asks     bool        // a policy looks at the caller's teams or attributes
	open     bool        // every row may be read by everybody
}

// NewSet returns the set of the policies, all of them enabled.
func NewSet(policies []*Compiled) *Set {
	s := &Set{policies: slices.Clone(policies)}
	slices.SortFunc(s.policies, func(a, b *Compiled) int { return strings.Compare(a.ID, b.ID) })
	sum := sha256.New()
	allows, denies := false, false
	for _, p := range s.policies {
		sum.Write(fmt.Appendf(nil, "%s/%d\n", p.ID, p.Version))
		for _, c := range p.conditions {
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

// Version names the set by its policies and their versions.
func (s *Set) Version() string { return s.version }

// slot is what a question is about.
type slot struct{ action, resource string }

// bucket is the part of a set that is about one action on one resource, made once.
type bucket struct {
	on               *resource
	allow            []*Compiled
	deny             []*Compiled
	settled          bool // no row and no caller makes a difference
	action, resource *ast.Term
	term             *ast.Term // {allow: […], deny: […]}, as the Rego reads them
	needs            []shape   // what of the input the conditions look at
	lists            bool      // they look at a list of the row
	known            sync.Map  // role → verdict, when settled
}

func (s *Set) bucket(action, on string) *bucket {
	key := slot{action, on}
	if b, ok := s.buckets.Load(key); ok {
		return b.(*bucket) //nolint:forcetypeassert // only buckets are stored
	}
	b, _ := s.buckets.LoadOrStore(key, s.newBucket(action, on))
	return b.(*bucket) //nolint:forcetypeassert // only buckets are stored
}

// newBucket picks the policies that can apply. Where one decides alone, whatever the row, the others are left out.
func (s *Set) newBucket(action, on string) *bucket {
	b := &bucket{on: resources[on], action: ast.StringTerm(action), resource: ast.StringTerm(on)}
	if b.on == nil {
		b.on = &resource{name: on}
	}
	for _, p := range s.policies {
		if !p.covers(action, on) || slices.ContainsFunc(p.conditions, func(c *condition) bool { return !c.fits(b.on) }) {
			continue
		}
		if p.Effect == Deny {
			b.deny = append(b.deny, p)
		} else {
			b.allow = append(b.allow, p)
		}
	}
	free := func(p *Compiled) bool { return len(p.conditions) == 0 }
	bound := func(p *Compiled) bool { return !free(p) }
	switch {
	case slices.ContainsFunc(b.deny, free):
		b.deny, b.allow, b.settled = slices.DeleteFunc(b.deny, bound), nil, true
	case len(b.allow) == 0:
		b.deny, b.settled = nil, true
	case len(b.deny) == 0 && slices.ContainsFunc(b.allow, free):
		b.allow, b.settled = slices.DeleteFunc(b.allow, bound), true
	}
	b.term = policiesTerm(b.allow, b.deny)
	b.needs, b.lists = shapesOf(b.on, slices.Concat(b.allow, b.deny))
	return b
}

// policiesTerm is how the Rego sees policies.
func policiesTerm(allow, deny []*Compiled) *ast.Term {
	terms := func(list []*Compiled) *ast.Term {
		out := make([]*ast.Term, len(list))
		for i, p := range list {
			conditions := make([]*ast.Term, len(p.conditions))
			for j, c := range p.conditions {
				conditions[j] = c.term
			}
			out[i] = ast.ObjectTerm(
				ast.Item(ast.StringTerm("id"), ast.StringTerm(p.ID)),
				ast.Item(ast.StringTerm("conditions"), ast.ArrayTerm(conditions...)))
		}
		return ast.ArrayTerm(out...)
	}
	return ast.ObjectTerm(ast.Item(ast.StringTerm("allow"), terms(allow)), ast.Item(ast.StringTerm("deny"), terms(deny)))
}

// filter folds the bucket for one caller.
func (b *bucket) filter(caller func([]string) ast.Value, operator node) (filter, error) {
	f := folder{on: b.on, caller: caller}
	fold := func(policies []*Compiled) (node, error) {
		out := make(anyOf, 0, len(policies))
		for _, p := range policies {
			all := make(allOf, len(p.conditions))
			for i, c := range p.conditions {
				all[i] = c.resid
			}
			out = append(out, all)
		}
		return f.fold(out)
	}
	var out filter
	var err error
	out.on = b.on
	if out.permitted, err = fold(b.allow); err != nil {
		return filter{}, err
	}
	if out.denied, err = fold(b.deny); err != nil || operator == nil {
		return out, err
	}
	more, err := f.fold(operator)
	if err != nil {
		return filter{}, err
	}
	out.denied = join(anyOf{out.denied, more})
	return out, nil
}

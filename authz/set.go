package authz

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/internal/platform/principal"
)

// Set holds all enabled policies of one company. It is immutable, and caches what was computed from it.
type Set struct {
	version  string
	policies []*Compiled // in the order of their ids
	buckets  sync.Map    // slot → *bucket
	asks     bool        // a policy reads the caller's teams or attributes
	open     bool        // everybody may read every row

	once     sync.Once
	heaviest int
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

// Version identifies the set by its policies and their versions.
func (s *Set) Version() string { return s.version }

// slot is the subject of a question.
type slot struct{ action, resource string }

// bucket is the part of a set about one action on one resource. It is built once.
type bucket struct {
	on      *resource
	allow   []*Compiled
	deny    []*Compiled
	approve []*Compiled // policies that make agents wait
	settled bool        // the answer is the same for all rows and callers
	weight  int         // the cost of a decision: its conditions, where a glob counts as globWeight
	places  [][]string  // positions of the row's attributes that conditions read
}

func (s *Set) bucket(action, on string) *bucket {
	key := slot{action, on}
	if b, ok := s.buckets.Load(key); ok {
		return b.(*bucket) // only buckets are stored
	}
	b, _ := s.buckets.LoadOrStore(key, s.newBucket(action, on))
	return b.(*bucket) // only buckets are stored
}

// newBucket selects the policies that can apply. If one decides alone for every row, it leaves out the others.
func (s *Set) newBucket(action, on string) *bucket {
	b := &bucket{on: resourceOf(on)}
	for _, p := range s.policies {
		if !p.covers(action, on) || slices.ContainsFunc(p.conditions, func(c *condition) bool { return !c.fits(b.on) }) {
			continue
		}
		switch p.Effect {
		case Deny:
			b.deny = append(b.deny, p)
		case Allow:
			b.allow = append(b.allow, p)
		case RequireApproval:
			if action != "read" {
				b.approve = append(b.approve, p)
			}
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
		b.allow, b.settled = slices.DeleteFunc(b.allow, bound), len(b.approve) == 0
	}
	for _, p := range slices.Concat(b.allow, b.deny, b.approve) {
		for _, c := range p.conditions {
			if b.weight++; c.op == "glob" {
				b.weight += globWeight - 1
			}
			if c.at[0] == "resource" {
				b.places = append(b.places, c.at[1:])
			}
		}
	}
	slices.SortFunc(b.places, slices.Compare)
	b.places = slices.CompactFunc(b.places, slices.Equal)
	return b
}

const (
	globWeight = 25
	heavy      = 100        // at this weight, a bucket's decisions may take more than a millisecond
	slow       = globWeight // at this weight, a list's statement may take long: a database takes up to 6 ms for a glob on a row
)

// Slow reports whether statements with the set's filters may take long.
func (s *Set) Slow() bool { return s.weight() >= slow }

// Heavy reports whether decisions about reading rows may take so long that they should be made before a transaction.
func (s *Set) Heavy() bool { return s.weight() >= heavy }

// weight returns the weight of the heaviest bucket for reading.
func (s *Set) weight() int {
	s.once.Do(func() {
		for _, name := range Resources() {
			s.heaviest = max(s.heaviest, s.bucket("read", name).weight)
		}
	})
	return s.heaviest
}

// seen returns the values of a row that the bucket's policies read, as a text that distinguishes rows.
func (b *bucket) seen(row Row) string {
	var s strings.Builder
	for _, place := range b.places {
		v := row.value(b.on, place)
		if v == nil {
			s.WriteString("-")
			continue
		}
		text := v.String()
		s.WriteString(strconv.Itoa(len(text)) + " " + text)
	}
	return s.String()
}

// decide answers whether the policies allow it, and names the deciding policy: the first that denies, else the first that allows,
// else none. For an agent's action it also names the first policy that makes it wait for a person. Heavy policies are aborted
// with an error after maxDecision. Light ones are limited by their weight, so that a busy machine does not make them refuse what
// they allow. Heavy decisions are remembered for the caller, who may ask before a transaction (see op).
func (b *bucket) decide(ctx context.Context, c *Caller, row Row) answer {
	if b.weight < heavy {
		return b.evaluate(ctx, c, row)
	}
	key := question{b, b.seen(row)}
	c.mu.Lock()
	known, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return known
	}
	out := b.evaluate(ctx, c, row)
	if out.err != nil && !errors.Is(out.err, errTooLong) {
		return out
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[question]answer{}
	}
	c.known[key] = out
	return out
}

// question identifies a question that a caller may ask again; answer is its answer.
type question struct {
	about *bucket
	seen  string
}

type answer struct {
	allowed  bool
	by       string // the deciding policy
	approval string // the policy that makes an agent wait for a person
	err      error  // errTooLong, in a remembered answer
}

// errTooLong is the error for policies that take longer than maxDecision.
var errTooLong = errors.New("decide by the policies: they take too long")

func (b *bucket) evaluate(ctx context.Context, c *Caller, row Row) answer {
	f := folder{on: b.on, caller: c.value, row: &row}
	until := time.Now().Add(maxDecision)
	first := func(policies []*Compiled) (string, error) {
		for _, p := range policies {
			holds, err := f.holds(p)
			switch {
			case err != nil:
				return "", err
			case holds:
				return p.ID, nil
			case ctx.Err() != nil:
				return "", fmt.Errorf("decide by the policies: %w", ctx.Err())
			case b.weight >= heavy && time.Now().After(until):
				return "", errTooLong
			}
		}
		return "", nil
	}
	denies, err := first(b.deny)
	if err != nil || denies != "" {
		return answer{by: denies, err: err}
	}
	allows, err := first(b.allow)
	if err != nil || allows == "" {
		return answer{err: err}
	}
	out := answer{allowed: true, by: allows}
	if c.Principal.Type == principal.TypeAgent {
		out.approval, out.err = first(b.approve)
	}
	return out
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

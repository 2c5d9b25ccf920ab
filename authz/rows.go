package authz

import (
	"context"
	"slices"
	"strings"
	"sync"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/ent/auditentry"
	"atrium/internal/platform/principal"
)

// visible is the part of a company's rows that one caller may read. It implements principal.Rows, and builds each entity's
// filter when a query first needs it.
type visible struct {
	set    *Set
	caller *Caller
	bundle *bundle

	mu   sync.Mutex
	made map[string]func(*sql.Selector)
}

// Enter sets no bound; internal/op does.
func (v *visible) Enter(ctx context.Context, _ string) (within context.Context, leave func(), err error) {
	return ctx, func() {}, nil
}

// Exempt reports whether policies do not apply: owners may always read and write policies, and the operator belongs to no company.
func Exempt(p *principal.Principal, resource string) bool {
	return p.Role == principal.OperatorRole || p.Role == principal.Owner && resource == "AccessPolicy"
}

// Rows returns the filter of the caller's queries; nil when the policies let everybody read everything.
func (e *Engine) Rows(set *Set, c *Caller) principal.Rows {
	if e.Open(set) || c.Principal.Role == principal.OperatorRole {
		return nil
	}
	return &visible{set: set, caller: c, bundle: e.now.Load(), made: map[string]func(*sql.Selector){}}
}

// Narrow returns the predicate of an entity's rows; nil when all are visible. Rows are hidden if the policies cannot be decided.
func (v *visible) Narrow(entity string) func(*sql.Selector) {
	if !HasRows(entity) && parents[entity] == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if where, ok := v.made[entity]; ok {
		return where
	}
	where := v.make(entity)
	v.made[entity] = where
	return where
}

func (v *visible) make(entity string) func(*sql.Selector) {
	f := v.scope(entity)
	if !AboutOthers(entity) {
		if f.all() {
			return nil
		}
		return f.where
	}
	var hiding []scope                 // resources of which some rows are hidden
	for _, name := range Resources() { // in a fixed order, so that prepared statements can be reused
		if name == AuditEntry || name == entity || !HasRows(name) {
			continue
		}
		if other := v.scope(name); !other.all() {
			hiding = append(hiding, other)
		}
	}
	if f.all() && len(hiding) == 0 {
		return nil
	}
	return func(s *sql.Selector) {
		f.where(s)
		if len(hiding) == 0 {
			return
		}
		told := toldOf(s, hiding)
		if entity == AccessDecision {
			told = sql.Or(told, sql.EQ(s.C(accessdecision.FieldPrincipalID), v.caller.Principal.ID))
		}
		s.Where(told)
	}
}

// scope is the part of an entity that a caller may read: rows that the filter accepts and whose parents may be read.
type scope struct {
	filter
	within []within
}

// within is a parent of which some rows are hidden.
type within struct {
	column   string
	optional bool // a row may belong to none
	of       scope
}

func (v *visible) scope(entity string) scope {
	out := scope{filter: v.filter(entity)}
	for _, p := range parents[entity] {
		if of := v.scope(p.Entity); !of.all() {
			out.within = append(out.within, within{p.Column, optional(entity, p.Column), of})
		}
	}
	return out
}

// optional reports whether rows of an entity may be without a value in the column.
func optional(entity, column string) bool {
	return slices.ContainsFunc(ent.EntityNamed(entity).Fields, func(f ent.Field) bool { return f.Column == column && !strings.HasSuffix(f.Type, "!") })
}

// all reports whether every row may be read.
func (f scope) all() bool { return f.filter.all() && len(f.within) == 0 }

// where narrows a selector of the entity's table by the scope.
func (f scope) where(s *sql.Selector) { s.Where(f.predicate(s)) }

// predicate returns the scope's predicate for the rows that s selects.
func (f scope) predicate(s *sql.Selector) *sql.Predicate {
	all := []*sql.Predicate{f.filter.predicate(s)}
	for _, w := range f.within {
		seen := w.of.exists(s, w.column)
		if w.optional {
			seen = sql.Or(sql.IsNull(s.C(w.column)), seen)
		}
		all = append(all, seen)
	}
	return sql.And(all...)
}

// exists returns the predicate that the row named by a column of s may be read.
func (f scope) exists(s *sql.Selector, column string) *sql.Predicate {
	if f.none() {
		return sql.False()
	}
	rows := sql.Dialect(s.Dialect()).Table(f.on.table).As("policy_" + f.on.table)
	q := sql.Dialect(s.Dialect()).Select().From(rows).WithContext(s.Context()).AppendSelectExpr(sql.Raw("1"))
	q.Where(sql.And(
		sql.ColumnsEQ(rows.C(auditentry.FieldCompanyID), s.C(auditentry.FieldCompanyID)),
		sql.ColumnsEQ(rows.C(auditentry.FieldID), s.C(column)),
		f.predicate(q),
	))
	return sql.Exists(q)
}

// filter returns the filter of one resource for the caller; it accepts all rows of an entity that is no resource.
func (v *visible) filter(name string) filter {
	if resources[name] == nil || Exempt(v.caller.Principal, name) {
		return filter{on: resources[name], permitted: always(true), denied: always(false)}
	}
	f, err := v.set.filter(context.Background(), v.bundle, v.set.about("read", name), v.caller)
	if err != nil {
		return filter{on: resources[name], permitted: always(false), denied: always(true)}
	}
	return f
}

// toldOf limits audit entries and decisions to those about visible rows and those about none. If some rows of a kind are hidden,
// an entry about a deleted row of that kind is hidden too, because nothing is left to decide by.
func toldOf(s *sql.Selector, hiding []scope) *sql.Predicate {
	types := make([]any, len(hiding))
	told := []*sql.Predicate{sql.IsNull(s.C(auditentry.FieldResourceID))}
	for i, f := range hiding {
		types[i] = f.on.name
		if f.none() {
			continue
		}
		told = append(told, sql.And(sql.EQ(s.C(auditentry.FieldResourceType), f.on.name), f.exists(s, auditentry.FieldResourceID)))
	}
	return sql.Or(append(told, sql.NotIn(s.C(auditentry.FieldResourceType), types...))...)
}

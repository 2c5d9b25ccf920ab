package authz

import (
	"context"
	"sync"

	"entgo.io/ent/dialect/sql"
	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/ent/accessdecision"
	"atrium/ent/auditentry"
	"atrium/internal/platform/principal"
)

// visible is the part of a company's rows that one caller may read. It implements principal.Rows, and builds each entity's
// filter when a query first needs it.
type visible struct {
	set      *Set
	caller   *Caller
	operator node

	mu    sync.Mutex
	made  map[string]func(*sql.Selector)
	known map[string]*known // by entity
}

// known are rows of an entity about which decisions were made.
type known struct{ visible, hidden []any }

// where returns the predicate p for the rows that s selects. The database does not evaluate p for known rows.
func (k *known) where(s *sql.Selector, p *sql.Predicate) *sql.Predicate {
	if k == nil {
		return p
	}
	if len(k.hidden) > 0 {
		p = sql.And(sql.NotIn(s.C(idColumn), k.hidden...), p)
	}
	if len(k.visible) > 0 {
		p = sql.Or(sql.In(s.C(idColumn), k.visible...), p)
	}
	return p
}

// Knows lets queries return this row, or leave it out, without evaluating the filter, because a decision about it was made. Code
// that changes the row must decide again on the row that it read.
func (v *visible) Knows(entity, id string, shown bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		v.known = map[string]*known{}
	}
	k := v.known[entity]
	if k == nil {
		k = &known{}
		v.known[entity] = k
	}
	if shown {
		k.visible = append(k.visible, id)
	} else {
		k.hidden = append(k.hidden, id)
	}
	clear(v.made)
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
	return &visible{set: set, caller: c, operator: e.now.Load().operator, made: map[string]func(*sql.Selector){}}
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
	if !Tells(entity) {
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
	known  *known
}

// within is a parent of which some rows are hidden.
type within struct {
	column string
	of     scope
}

func (v *visible) scope(entity string) scope {
	out := scope{filter: v.filter(entity), known: v.known[entity]}
	for _, p := range parents[entity] {
		if of := v.scope(p.Entity); !of.all() {
			out.within = append(out.within, within{p.Column, of})
		}
	}
	return out
}

// all reports whether every row may be read.
func (f scope) all() bool { return f.filter.all() && len(f.within) == 0 }

// where narrows a selector of the entity's table by the scope.
func (f scope) where(s *sql.Selector) { s.Where(f.predicate(s)) }

// predicate returns the scope's predicate for the rows that s selects.
func (f scope) predicate(s *sql.Selector) *sql.Predicate {
	all := []*sql.Predicate{f.filter.predicate(s)}
	for _, w := range f.within {
		all = append(all, w.of.exists(s, w.column))
	}
	return f.known.where(s, sql.And(all...))
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
	f, err := v.set.bucket("read", name).filter(v.value(name), v.operator)
	if err != nil {
		return filter{on: resources[name], permitted: always(false), denied: always(true)}
	}
	return f
}

// value returns the input's values that are known before there is a row.
func (v *visible) value(resource string) func([]string) ast.Value {
	return func(path []string) ast.Value {
		if len(path) == 1 {
			switch path[0] {
			case "resource_type":
				return ast.String(resource)
			case "action":
				return ast.String("read")
			}
		}
		return v.caller.value(path)
	}
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

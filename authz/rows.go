package authz

import (
	"context"
	"sync"

	"entgo.io/ent/dialect/sql"
	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/ent/accessdecision"
	"atrium/ent/auditentry"
	"atrium/internal/principal"
)

// visible is what one caller may read of a company's rows. It implements principal.Rows; each entity's filter is made
// when a query first asks for it.
type visible struct {
	set      *Set
	caller   *Caller
	operator node

	mu    sync.Mutex
	made  map[string]func(*sql.Selector)
	known map[string]*known // by entity
}

// known are the rows of an entity that decisions have been made about.
type known struct{ visible, hidden []any }

// where is the predicate p of the rows that s selects, which is not evaluated for those that are known.
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

// Knows lets queries return this row, or leave it out, without evaluating the filter, because a decision has been made about it.
// Who changes the row must decide again on what was read.
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

// Enter bounds nothing: internal/op does.
func (v *visible) Enter(ctx context.Context, _ string) (within context.Context, leave func(), err error) {
	return ctx, func() {}, nil
}

// Exempt reports whether policies are not asked, as the Rego's rule of that name has it: owners keep reading and writing
// policies, and the operator is of no company.
func Exempt(p *principal.Principal, resource string) bool {
	return p.Role == principal.OperatorRole || p.Role == principal.Owner && resource == "AccessPolicy"
}

// Rows returns what the caller's queries are narrowed by; nil when the policies let everybody read everything.
func (e *Engine) Rows(set *Set, c *Caller) principal.Rows {
	if e.Open(set) || c.Principal.Role == principal.OperatorRole {
		return nil
	}
	return &visible{set: set, caller: c, operator: e.now.Load().operator, made: map[string]func(*sql.Selector){}}
}

// Narrow returns the predicate of an entity's rows; nil when all are visible. What cannot be decided is not visible.
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
	for _, name := range Resources() { // in one order, so that statements can be kept ready
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

// scope is what a caller may read of an entity: the rows that the filter lets through and whose parents may be read.
type scope struct {
	filter
	within []within
	known  *known
}

// within are the parents of which some are hidden.
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

// predicate is the scope of the rows that s selects.
func (f scope) predicate(s *sql.Selector) *sql.Predicate {
	all := []*sql.Predicate{f.filter.predicate(s)}
	for _, w := range f.within {
		all = append(all, w.of.exists(s, w.column))
	}
	return f.known.where(s, sql.And(all...))
}

// exists is whether the row that a column of s names may be read.
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

// filter is what the policies let the caller read of one resource, and everything of an entity that is none.
func (v *visible) filter(name string) filter {
	if resources[name] == nil || Exempt(v.caller.Principal, name) {
		return filter{on: resources[name], permitted: always(true), denied: always(false)} // exempt as the Rego has it
	}
	f, err := v.set.bucket("read", name).filter(v.value(name), v.operator)
	if err != nil {
		return filter{on: resources[name], permitted: always(false), denied: always(true)}
	}
	return f
}

// value is what of the input is known before a row is.
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

// toldOf narrows audit entries, and decisions, to those about rows that are visible, and those about none. An entry of a
// row that was deleted stays hidden where rows of its kind may be: nothing is left that would tell which.
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

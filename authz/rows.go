package authz

import (
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
	known map[string]string // by entity, the id of a row that was decided to be visible
}

// Knows lets queries return this row without evaluating the filter, because a decision has allowed it. The caller must decide
// again on the row that was read.
func (v *visible) Knows(entity, id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known = map[string]string{entity: id}
	delete(v.made, entity)
}

// Exempt tells whether policies are not asked, as the Rego's rule of that name has it: owners keep reading and writing
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
		if id := v.known[entity]; id != "" {
			return func(s *sql.Selector) { s.Where(sql.Or(sql.EQ(s.C(idColumn), id), f.predicate(s))) }
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
}

// within are the parents of which some are hidden.
type within struct {
	column string
	of     scope
}

func (v *visible) scope(entity string) scope {
	out := scope{filter: v.filter(entity)}
	for _, p := range parents[entity] {
		if of := v.scope(p.resource); !of.all() {
			out.within = append(out.within, within{p.column, of})
		}
	}
	return out
}

// all tells whether every row may be read.
func (f scope) all() bool { return f.filter.all() && len(f.within) == 0 }

// where narrows a selector of the entity's table by the scope.
func (f scope) where(s *sql.Selector) { s.Where(f.predicate(s)) }

// predicate is the scope of the rows that s selects.
func (f scope) predicate(s *sql.Selector) *sql.Predicate {
	all := []*sql.Predicate{f.filter.predicate(s)}
	for _, w := range f.within {
		all = append(all, w.of.exists(s, w.column))
	}
	return sql.And(all...)
}

// exists is whether the row that a column of s names may be read.
func (f scope) exists(s *sql.Selector, column string) *sql.Predicate {
	if f.none() {
		return sql.False()
	}
	rows := sql.Dialect(s.Dialect()).Table(f.on.table).As("policy_" + f.on.table)
	q := sql.Dialect(s.Dialect()).Select().From(rows).AppendSelectExpr(sql.Raw("1"))
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

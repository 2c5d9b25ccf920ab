package authz

import (
	"context"
	"maps"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/teammember"
	"atrium/internal/id"
)

// Any stands for every resource, or every action, in a policy.
const Any = "*"

// The resources whose rows tell of other rows: who may not see those may not see their rows either.
const (
	AuditEntry     = "AuditEntry"
	AccessDecision = "AccessDecision" // but for the caller's own
)

// Tells reports whether a resource's rows are about other rows.
func Tells(name string) bool { return name == AuditEntry || name == AccessDecision }

// resources are what policies name, by name: the entities that ent/schema calls ruled, and plain ones that have no rows of
// their own. Whoever adds an operation on another resource of that kind adds it here; a test asks for it.
var resources = func() map[string]*resource {
	all := map[string]*resource{
		"Credit": {name: "Credit"}, // read as a whole: a balance over some entries would be none
	}
	for _, e := range ent.Entities {
		if e.Ruled {
			all[e.Name] = entity(e)
		}
	}
	all["User"].list("teamIds", teammember.FieldUserID, teammember.FieldTeamID)
	all["Team"].list("memberIds", teammember.FieldTeamID, teammember.FieldUserID)
	return all
}()

// unbound are what operations are about and policies are not, with the reason.
var unbound = map[string]string{
	"Company":      "everybody in a company knows it; its settings are the roles' matter",
	"Notification": "each person's own matter",
	"SavedView":    "a name and words of a filter: whoever opens one reads by their own rights",
	"Session":      "whoever signed in must be able to sign out",
}

// Bound reports whether policies are about a resource.
func Bound(name string) bool { return unbound[name] == "" }

// parents are what the rows of an entity belong to: who may not see one of those may not see the row either.
var parents = func() map[string][]ent.Owner {
	all := map[string][]ent.Owner{}
	for _, e := range ent.Entities {
		if len(e.Within) > 0 {
			all[e.Name] = e.Within
		}
	}
	return all
}()

// resource is one kind of thing that policies are about.
type resource struct {
	name  string
	table string                // empty for a plain resource: it has no rows that could be told apart
	attrs map[string]*attribute // by the API's name: "ownerTeamId", "sla.responseMinutes"; maps by theirs: "tags"
	byDoc []*attribute          // in the entity's order
	load  func(ctx context.Context, db *ent.Client, id string) (any, error)
}

// resourceOf returns the resource of that name; one without attributes where policies know none.
func resourceOf(name string) *resource {
	if r := resources[name]; r != nil {
		return r
	}
	return &resource{name: name}
}

// entity describes a resource whose rows are an Ent entity's; its attributes are the entity's columns.
func entity(e *ent.Entity) *resource {
	r := &resource{name: e.Name, table: e.Table, attrs: map[string]*attribute{}, load: e.Get}
	r.byDoc = columns(e.Name, e.Row)
	for _, a := range r.byDoc {
		r.attrs[a.name] = a
	}
	return r
}

// list adds an attribute that is a list of ids, kept as team memberships: own is the column that names the row.
func (r *resource) list(name, own, other string) {
	r.attrs[name] = &attribute{name: name, path: []string{name}, kind: list, column: other, own: own}
}

// Resources returns the names that a policy's resource can have, besides Any.
func Resources() []string { return slices.Sorted(maps.Keys(resources)) }

// Actions are what a policy's action can be, besides Any.
var Actions = []string{"read", "create", "update", "delete"}

// HasRows reports whether policies reach a resource's rows one by one.
func HasRows(name string) bool { r := resources[name]; return r != nil && r.table != "" }

// EntityOfTable returns the entity whose rows a table holds, as Narrow takes it; empty for one that policies do not reach.
func EntityOfTable(table string) string {
	for _, e := range ent.Entities {
		if e.Table == table && (e.Ruled || len(e.Within) > 0) {
			return e.Name
		}
	}
	return ""
}

// OfID returns the resource whose row an id may be of; empty for what is no id, or of no resource of policies.
func OfID(s string) string {
	prefix, _, _ := strings.Cut(s, "_")
	for _, e := range ent.Entities {
		if e.Prefix == prefix && e.Ruled && id.Valid(prefix, s) {
			return e.Name
		}
	}
	return ""
}

// Load reads a row of a resource through db. Returns Ent's not-found error when there is none, or when the resource
// has no rows.
func Load(ctx context.Context, db *ent.Client, name, id string) (any, error) {
	r := resources[name]
	if r == nil || r.load == nil {
		return nil, &ent.NotFoundError{}
	}
	return r.load(ctx, db, id)
}

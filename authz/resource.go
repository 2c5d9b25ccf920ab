package authz

import (
	"context"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/teammember"
)

// Any stands for every resource, or every action, in a policy.
const Any = "*"

// The resources whose rows are about other rows: a caller who may not see those may not see these either.
const (
	AuditEntry     = "AuditEntry"
	AccessDecision = "AccessDecision" // except the caller's own
)

// AboutOthers reports whether the rows of a resource are about other rows.
func AboutOthers(name string) bool { return name == AuditEntry || name == AccessDecision }

// resources are the resources that policies can name: the entities that ent/schema calls ruled, and plain resources
// without rows. An operation on a further resource of this kind needs an entry here; a test checks that.
var resources = func() map[string]*resource {
	all := map[string]*resource{
		"Credit": {name: "Credit"}, // read as a whole, because a balance over some entries would be wrong
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

// unbound lists resources of operations that policies do not cover, with the reason.
var unbound = map[string]string{
	"Company":            "everybody in a company knows it; its settings are the roles' matter",
	"InboundMail":        "what came by mail is the roles' matter; what it became is a request or a comment",
	"Mailbox":            "a setting of the company",
	"Notification":       "each person's own matter",
	"Pack":               "a text; what it makes is asked about one by one",
	"ReportSubscription": "each person's own matter; its report is computed by their own rights",
	"RequestImport":      "what somebody brings in; its requests are asked about one by one",
	"SavedReply":         "a text: whoever writes one for a request reads that by their own rights",
	"SavedView":          "a name and words of a filter: everybody who opens one reads by their own rights",
	"ServiceTemplate":    "a text; what stands in it is read one by one",
	"Session":            "a person who signed in must be able to sign out",
}

// Bound reports whether policies cover a resource.
func Bound(name string) bool { return unbound[name] == "" }

// parents are the entities that the rows of an entity belong to: a caller who may not see a parent may not see the row.
var parents = func() map[string][]ent.Owner {
	all := map[string][]ent.Owner{}
	for _, e := range ent.Entities {
		if len(e.Within) > 0 {
			all[e.Name] = e.Within
		}
	}
	return all
}()

// resource is a kind of thing that policies cover.
type resource struct {
	name  string
	table string                // empty for a plain resource, which has no rows to tell apart
	attrs map[string]*attribute // by the API's name: "ownerTeamId", "sla.responseMinutes", "tags" for a map
	byDoc []*attribute          // in the entity's order
	load  func(ctx context.Context, db *ent.Client, id string) (any, error)
}

// resourceOf returns the resource of that name, or one without attributes if policies do not know it.
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

// list adds an attribute that is a list of ids, stored as team memberships; own is the column with the row's id.
func (r *resource) list(name, own, other string) {
	r.attrs[name] = &attribute{name: name, path: []string{name}, kind: list, column: other, own: own}
}

// Resources returns the values of a policy's resource, besides Any.
func Resources() []string { return slices.Sorted(maps.Keys(resources)) }

// Actions are the values of a policy's action, besides Any.
var Actions = []string{"read", "create", "update", "delete"}

// HasRows reports whether policies apply to a resource's rows one by one.
func HasRows(name string) bool { r := resources[name]; return r != nil && r.table != "" }

// EntityOfTable returns the entity of a table, as Narrow needs it; empty if policies do not cover it.
func EntityOfTable(table string) string {
	for _, e := range ent.Entities {
		if e.Table == table && (e.Ruled || len(e.Within) > 0) {
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

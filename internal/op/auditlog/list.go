package auditlog

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/predicate"
	"atrium/internal/op"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/op/paging"
)

// sorts are the fields that lists can be ordered by. All are one column: an entry is created when the event happens, and changes only
// when it is sealed or erased, which is no event.
var sorts = op.Sorts{"at": auditentry.FieldCreatedAt, "createdAt": auditentry.FieldCreatedAt, "updatedAt": auditentry.FieldCreatedAt}

// ListEntries lists audit entries, newest first.
var ListEntries = op.New("audit.list", op.Spec{
	Resource: "AuditEntry", Action: op.Read, Scope: "audit:read", Sorts: sorts,
	Summary: "Query the audit log",
}, listEntries)

// LookUpEntries reads the entries with the given ids that match a filter and that the caller may see.
var LookUpEntries = op.New("audit.lookup", op.Spec{
	Resource: "AuditEntry", Action: op.Read, Scope: "audit:read",
	Summary: "Look audit entries up by their ids",
}, lookUpEntries)

// LookUpEntriesInput holds the ids of entries, and filters them as the list does.
type LookUpEntriesInput struct {
	ListEntriesInput
	IDs []string `json:"-"`
}

func lookUpEntries(ctx context.Context, tx *op.Tx, in LookUpEntriesInput) (map[string]*ent.AuditEntry, error) {
	return paging.LookUp(ctx, tx.AuditEntry.Query().Where(in.where()...), paging.ByIDs{IDs: in.IDs})
}

// ListEntriesInput filters and pages the log. All filters must match; a filter with several values matches any of them.
type ListEntriesInput struct {
	paging.Page
	ActorID      []string   `json:"-" query:"actorId" maxLength:"64" doc:"Entries of these users, service accounts or API keys."`
	Action       []string   `json:"-" query:"action" maxLength:"64" doc:"Entries of these actions, such as request.created."`
	ResourceType []string   `json:"-" query:"resourceType" maxLength:"64" doc:"Entries about resources of these types, such as Request."`
	ResourceID   []string   `json:"-" query:"resourceId" maxLength:"64" doc:"Entries about these resources."`
	Outcome      []string   `json:"-" query:"outcome" enum:"allowed,denied,failed" doc:"Entries of calls that ended in any of these ways."`
	From         *time.Time `json:"-" query:"from" doc:"Entries of this moment or later."`
	To           *time.Time `json:"-" query:"to" doc:"Entries from before this moment."`
}

func listEntries(ctx context.Context, tx *op.Tx, in ListEntriesInput) (paging.List[*ent.AuditEntry], error) {
	where := in.where()
	q := tx.AuditEntry.Query().Where(where...)
	if len(where) == 0 {
		return placed(ctx, tx)(paging.Counted(ctx, tx, in.Page, sorts, paging.Counter{Entity: "AuditEntry", Kind: "audit"}, q))
	}
	return placed(ctx, tx)(paging.Of(ctx, in.Page, sorts, q))
}

// placed sets the indexes of a page's entries in the company's log.
func placed(ctx context.Context, tx *op.Tx) func(paging.List[*ent.AuditEntry], error) (paging.List[*ent.AuditEntry], error) {
	return func(l paging.List[*ent.AuditEntry], err error) (paging.List[*ent.AuditEntry], error) {
		if err != nil {
			return l, err
		}
		return l, merkle.Indexes(ctx, tx.Client, l.Rows)
	}
}

// where returns the filters as predicates.
func (in ListEntriesInput) where() []predicate.AuditEntry {
	var where []predicate.AuditEntry
	where = paging.In(where, in.ActorID, auditentry.ActorIDIn)
	where = paging.In(where, in.Action, auditentry.ActionIn)
	where = paging.In(where, in.ResourceType, auditentry.ResourceTypeIn)
	where = paging.In(where, in.ResourceID, auditentry.ResourceIDIn)
	where = paging.In(where, in.Outcome, auditentry.OutcomeIn)
	if in.From != nil {
		where = append(where, auditentry.CreatedAtGTE(in.From.UTC()))
	}
	if in.To != nil {
		where = append(where, auditentry.CreatedAtLT(in.To.UTC()))
	}
	return where
}

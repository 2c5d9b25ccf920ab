package auditlog

import (
	"context"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/op/audit/merkle"
)

// GetEntry returns one audit entry. Returns not_found for an entry that the caller may not see.
var GetEntry = op.Get("audit.read", op.Spec{
	Resource: "AuditEntry", Action: op.Read, Scope: "audit:read",
	Summary: "Get an audit entry",
}, func(ctx context.Context, tx *op.Tx, id string) (*ent.AuditEntry, error) {
	e, err := tx.AuditEntry.Query().Where(auditentry.ID(id)).Only(ctx)
	if err != nil {
		return nil, err
	}
	return e, merkle.Indexes(ctx, tx.Client, []*ent.AuditEntry{e})
})

package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/internal/auditlog"
)

func (r *mutationResolver) ExportAudit(ctx context.Context, input auditlog.ExportInput) (*generated.ExportAuditPayload, error) {
	in, err := run(ctx, r.engine, auditlog.Export, input)
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, r.engine, auditlog.ReadExport, in)
	return &generated.ExportAuditPayload{Export: out}, err
}

func (r *auditEntryResolver) Actor(_ context.Context, e *ent.AuditEntry) (*ent.AuditEntry, error) {
	return e, nil
}

func (r *auditEntryResolver) Resource(_ context.Context, e *ent.AuditEntry) (*ent.AuditEntry, error) {
	return e, nil
}

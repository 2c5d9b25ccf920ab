package graph

import (
	"context"
	"encoding/json"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/audit"
)

func (r *queryResolver) AuditEntry(ctx context.Context, id string) (*ent.AuditEntry, error) {
	return read(ctx, r.engine, audit.GetEntry, id)
}

func (r *queryResolver) AuditEntries(ctx context.Context, first *int, after *string, filter *audit.ListEntriesInput, orderBy *relay.Order) (*relay.Connection[ent.AuditEntry], error) {
	return list(ctx, r.engine, audit.ListEntries, filter, first, after, orderBy)
}

func (r *mutationResolver) ExportAudit(ctx context.Context, input audit.ExportInput) (*generated.ExportAuditPayload, error) {
	in, err := run(ctx, r.engine, audit.Export, input)
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, r.engine, audit.ReadExport, in)
	return &generated.ExportAuditPayload{Export: out}, err
}

// AuditEntry returns the resolver of an audit entry's fields that are no columns.
func (r *Resolver) AuditEntry() generated.AuditEntryResolver { return &auditEntryResolver{r} }

type auditEntryResolver struct{ *Resolver }

func (r *auditEntryResolver) Actor(_ context.Context, e *ent.AuditEntry) (*ent.AuditEntry, error) {
	return e, nil
}

func (r *auditEntryResolver) Resource(_ context.Context, e *ent.AuditEntry) (*ent.AuditEntry, error) {
	return e, nil
}

func (r *auditEntryResolver) IP(_ context.Context, e *ent.AuditEntry) (*string, error) {
	return textOrNil(e.IP), nil
}

func (r *auditEntryResolver) UserAgent(_ context.Context, e *ent.AuditEntry) (*string, error) {
	return textOrNil(e.UserAgent), nil
}

func (r *auditEntryResolver) RequestID(_ context.Context, e *ent.AuditEntry) (*string, error) {
	return textOrNil(e.RequestID), nil
}

func (r *auditEntryResolver) Changes(_ context.Context, e *ent.AuditEntry) (json.RawMessage, error) {
	return objectOf(e.Changes), nil
}

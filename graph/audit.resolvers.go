package graph

import (
	"context"
	"encoding/base64"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/internal/audit/merkle"
	"atrium/internal/auditlog"
	"atrium/internal/op"
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

func (r *auditEntryResolver) LeafHash(_ context.Context, e *ent.AuditEntry) (*string, error) {
	if e.LeafHash == nil {
		return nil, nil // an entry of an older version that has no leaf yet
	}
	return new(base64.StdEncoding.EncodeToString(e.LeafHash)), nil
}

func (r *queryResolver) VerifyAudit(ctx context.Context) (*merkle.Report, error) {
	report, err := run(ctx, r.engine, auditlog.Verify, auditlog.VerifyInput{})
	return &report, err
}

func (r *queryResolver) AuditProof(ctx context.Context, id string) (*auditlog.Proof, error) {
	return run(ctx, r.engine, auditlog.Prove, op.ByID{ID: id})
}

func (r *auditProofResolver) Leaf(_ context.Context, p *auditlog.Proof) (string, error) {
	return base64.StdEncoding.EncodeToString(p.Leaf), nil
}

func (r *auditProofResolver) LeafHash(_ context.Context, p *auditlog.Proof) (string, error) {
	return base64.StdEncoding.EncodeToString(p.LeafHash), nil
}

package graph

import (
	"context"
	"encoding/base64"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/op/auditlog"
)

// ExportAudit reads the entries after the export was recorded. A repeat with the same idempotency key records nothing and reads the
// same entries again.
func (r *mutationResolver) ExportAudit(ctx context.Context, input auditlog.ExportInput) (*generated.ExportAuditPayload, error) {
	recorded, err := resolve.UnderKey(ctx, r.Engine, auditlog.Export, input, &op.Call{})
	if err != nil {
		return nil, err
	}
	out, err := resolve.Run(ctx, r.Engine, auditlog.ReadExport, input.AsOf(recorded))
	return &generated.ExportAuditPayload{Export: out}, err
}

func (r *auditEntryResolver) Actor(_ context.Context, e *ent.AuditEntry) (*ent.AuditEntry, error) {
	return e, nil
}

func (r *requestHistoryEntryResolver) Actor(_ context.Context, e *ent.AuditEntry) (*ent.AuditEntry, error) {
	return e, nil
}

func (r *queryResolver) RequestHistory(ctx context.Context, id string) ([]*ent.AuditEntry, error) {
	return resolve.Run(ctx, r.Engine, auditlog.RequestHistory, op.ByID{ID: id})
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
	report, err := resolve.Run(ctx, r.Engine, auditlog.Verify, auditlog.VerifyInput{})
	return &report, err
}

func (r *queryResolver) AuditProof(ctx context.Context, id string) (*auditlog.Proof, error) {
	return resolve.Run(ctx, r.Engine, auditlog.Prove, op.ByID{ID: id})
}

func (r *auditProofResolver) Leaf(_ context.Context, p *auditlog.Proof) (string, error) {
	return base64.StdEncoding.EncodeToString(p.Leaf), nil
}

func (r *auditProofResolver) LeafHash(_ context.Context, p *auditlog.Proof) (string, error) {
	return base64.StdEncoding.EncodeToString(p.LeafHash), nil
}

func (r *subscriptionResolver) AuditEntryChanged(ctx context.Context, filter *auditlog.ListEntriesInput) (<-chan *generated.AuditEntryChange, error) {
	in := auditlog.LookUpEntriesInput{ListEntriesInput: op.Or(filter, auditlog.ListEntriesInput{})}
	return watch(ctx, watched{feed.AuditEntries, feed.Filter{}}, func(ctx context.Context, ids, _ []string) (map[string]*ent.AuditEntry, error) {
		in.IDs = ids
		return resolve.Run(ctx, r.Engine, auditlog.LookUpEntries, in)
	}, func(kind generated.ChangeKind, e *ent.AuditEntry) *generated.AuditEntryChange {
		return &generated.AuditEntryChange{Change: kind, AuditEntry: e}
	})
}

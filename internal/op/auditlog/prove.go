package auditlog

import (
	"context"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/share"
)

// Both need the right to read the log.
var (
	Verify = op.New("audit.verify", op.Spec{
		Resource: "AuditEntry", Action: op.Read, AdminLayer: true,
		Summary: "Compute the company's log anew and compare",
	}, verify)

	Prove = op.OnRow("audit.prove", op.Spec{
		Resource: "AuditEntry", Action: op.Read, AdminLayer: true,
		Summary: "Prove that an entry stands in the log",
	}, func(ctx context.Context, tx *op.Tx, id string) (*ent.AuditEntry, error) {
		return tx.AuditEntry.Query().Where(auditentry.ID(id)).Only(ctx)
	}, prove)
)

// VerifyInput is empty: Verify is about the log of the caller's company.
type VerifyInput struct{}

// Proof proves that an entry is in its company's log. Hashes and bytes are base64.
type Proof struct {
	Index      int64
	Size       int64 // of the log
	RootHash   string
	Path       []string // from the leaf's sibling to the root
	Checkpoint string   // a signed note of this size and root
	Leaf       []byte   // the canonical form that is hashed
	LeafHash   []byte
}

// How many calls of this process read much of a log at once, one of each company.
var (
	verifying = share.New(2, 1) // each reads a whole log
	exporting = share.New(2, 1) // each holds up to MaxExportBytes, and its text
)

func verify(ctx context.Context, tx *op.Tx, _ VerifyInput) (merkle.Report, error) {
	late := func(cause error) error {
		return apperr.Wrap(cause, apperr.Unavailable, "The log takes too long to verify here. Try again, or use atrium audit verify.")
	}
	leave, err := verifying.Take(ctx, tx.Principal().CompanyID)
	if err != nil {
		return merkle.Report{}, late(err)
	}
	defer leave()
	report, err := merkle.Verify(ctx, tx.Client, tx.Principal().CompanyID, nil)
	if err != nil && ctx.Err() != nil {
		return report, late(err)
	}
	return report, err
}

func prove(ctx context.Context, tx *op.Tx, e *ent.AuditEntry, _ op.ByID) (*Proof, error) {
	p, err := proverOf(ctx, tx, e)
	if err != nil {
		return nil, err
	}
	if e.Index == nil || *e.Index >= p.Size {
		return nil, apperr.New(apperr.Conflict, "The entry has no place in the log yet; it gets one within 10 seconds.")
	}
	proofs, err := p.Prove([]int64{*e.Index})
	if err != nil {
		return nil, err
	}
	leaf, err := audit.Leaf(e)
	if err != nil {
		return nil, err
	}
	out := &Proof{Index: *e.Index, Size: p.Size, RootHash: p.Root.String(), Path: make([]string, len(proofs[0].Path)), Leaf: leaf, LeafHash: e.LeafHash}
	for i, h := range proofs[0].Path {
		out.Path[i] = h.String()
	}
	out.Checkpoint, err = sign(ctx, tx, p.Checkpoint)
	return out, err
}

// proverOf sets the indexes of the entries and returns a prover for the company's log.
func proverOf(ctx context.Context, tx *op.Tx, rows ...*ent.AuditEntry) (*merkle.Prover, error) {
	if err := merkle.Indexes(ctx, tx.Client, rows); err != nil {
		return nil, err
	}
	return merkle.NewProver(ctx, tx.Client, tx.Principal().CompanyID)
}

func sign(ctx context.Context, tx *op.Tx, c merkle.Checkpoint) (string, error) {
	key, err := merkle.OpenKey(ctx, tx.Client, tx.Sealer())
	if err != nil {
		return "", err
	}
	return key.Sign(c)
}

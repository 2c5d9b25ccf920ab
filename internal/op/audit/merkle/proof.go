package merkle

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/auditleaf"
)

// Proof proves that an entry has its index in a log.
type Proof struct {
	Index int64
	Path  tlog.RecordProof // from the leaf's sibling to the root
}

// Indexes sets the index of each entry that is sealed.
func Indexes(ctx context.Context, db *ent.Client, rows []*ent.AuditEntry) error {
	byID := make(map[string]*ent.AuditEntry, len(rows))
	var ids []string
	for _, r := range rows {
		byID[r.ID] = r
		ids = append(ids, r.ID)
	}
	for len(ids) > 0 {
		n := min(len(ids), readBatch)
		leaves, err := db.AuditLeaf.Query().Where(auditleaf.IDIn(ids[:n]...)).
			Select(auditleaf.FieldID, auditleaf.FieldIndex).All(system(ctx))
		if err != nil {
			return fmt.Errorf("look the leaves up: %w", err)
		}
		for _, l := range leaves {
			byID[l.ID].Index = &l.Index
		}
		ids = ids[n:]
	}
	return nil
}

// Prover makes proofs for one state of a log. It reads every hash at most once.
type Prover struct {
	Checkpoint
	read tlog.HashReader
	seen map[int64]tlog.Hash
}

// NewProver returns a prover for the current state of a company's log.
func NewProver(ctx context.Context, db *ent.Client, company string) (*Prover, error) {
	head, err := Head(ctx, db, company)
	return &Prover{Checkpoint: head, read: reader(ctx, db, company), seen: map[int64]tlog.Hash{}}, err
}

// Prove returns proofs of the leaves with the given indexes. An index outside the log is an error.
func (p *Prover) Prove(indexes []int64) ([]Proof, error) {
	var missing []int64
	collect := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		for _, i := range at {
			if _, ok := p.seen[i]; !ok {
				p.seen[i] = tlog.Hash{}
				missing = append(missing, i)
			}
		}
		return make([]tlog.Hash, len(at)), nil
	})
	for _, i := range indexes {
		if _, err := tlog.ProveRecord(p.Size, i, collect); err != nil {
			clear(p.seen)
			return nil, fmt.Errorf("prove entry %d: %w", i, err)
		}
	}
	hashes, err := p.read.ReadHashes(missing)
	if err != nil {
		clear(p.seen)
		return nil, err
	}
	for j, i := range missing {
		p.seen[i] = hashes[j]
	}
	known := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(at))
		for j, i := range at {
			out[j] = p.seen[i]
		}
		return out, nil
	})
	proofs := make([]Proof, len(indexes))
	for j, i := range indexes {
		path, err := tlog.ProveRecord(p.Size, i, known)
		if err != nil {
			return nil, fmt.Errorf("prove entry %d: %w", i, err)
		}
		proofs[j] = Proof{Index: i, Path: path}
	}
	return proofs, nil
}

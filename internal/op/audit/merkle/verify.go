package merkle

import (
	"bytes"
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"
	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/auditleaf"
	"atrium/ent/predicate"
	"atrium/internal/op/audit"
)

// Report is the result of verifying one log.
type Report struct {
	Company  string `json:"company"`
	Size     int64  `json:"size"`
	RootHash string `json:"rootHash"` // base64
	Sealed   int64  `json:"sealed"`   // entries with an index in the log
	Unsealed int64  `json:"unsealed"` // entries that are not sealed yet
	Erased   int64  `json:"erased"`   // sealed entries with an erased personal part
	Intact   bool   `json:"intact"`
	BrokenAt *int64 `json:"brokenAt"` // the lowest index that differs
	Reason   string `json:"reason,omitempty"`
}

// broken records a difference at an index. The one with the lowest index is reported.
func (r *Report) broken(index int64, why string, args ...any) {
	if r.BrokenAt == nil || index < *r.BrokenAt {
		r.BrokenAt, r.Reason = &index, fmt.Sprintf(why, args...)
	}
}

// Verify computes a company's log again from its entries and compares it with the stored log and with checkpoints, which must
// be sorted by size. The report says what is wrong with the log. An error means that the log could not be read.
func Verify(ctx context.Context, db *ent.Client, company string, checkpoints []Checkpoint) (r Report, err error) {
	for range 3 { // an erasure may have been half visible
		if r, err = verify(system(ctx), db, company, checkpoints); err != nil || r.Reason != unloggedErasure {
			break
		}
	}
	return r, err
}

const unloggedErasure = "values are missing without an erasure that the log tells of"

func verify(ctx context.Context, db *ent.Client, company string, checkpoints []Checkpoint) (Report, error) {
	v := &verifier{db: db, report: Report{Company: company}, checkpoints: checkpoints, erasures: map[string]*erasure{}}
	size, err := Size(ctx, db, company)
	if err != nil {
		return v.report, err
	}
	v.report.Size = size
	v.compare()
	for from := int64(0); from < size; from += readBatch {
		if err := v.batch(ctx, from, min(from+readBatch, size)); err != nil {
			return v.report, err
		}
	}
	for _, c := range v.checkpoints {
		v.report.broken(v.tree.size, "a checkpoint knows a log of %d entries", c.Size)
		break
	}
	waiting, err := db.AuditEntry.Query().Where(auditentry.CompanyID(company), notBelow(size), erased).All(ctx)
	if err != nil {
		return v.report, fmt.Errorf("read the erased entries that wait: %w", err)
	}
	for _, e := range waiting {
		v.collect(size, e) // the digest of an erasure covers the parts of unsealed entries too
	}
	if err := v.checkErasures(ctx); err != nil {
		return v.report, err
	}
	unsealed, err := db.AuditEntry.Query().Where(auditentry.CompanyID(company), withoutLeaf).Count(ctx)
	if err != nil {
		return v.report, fmt.Errorf("count the entries that wait: %w", err)
	}
	v.report.Unsealed = int64(unsealed)
	v.report.RootHash, v.report.Intact = v.tree.root().String(), v.report.BrokenAt == nil
	return v.report, nil
}

type verifier struct {
	db          *ent.Client
	report      Report
	tree        frontier
	checkpoints []Checkpoint // those not compared yet
	agreed      int64        // the size of the last checkpoint that agreed
	erasures    map[string]*erasure
	lost        bool // a leaf is missing or moved, so all later hashes of the tree differ anyway
}

// erasure collects the erased parts that name one audit.erased entry.
type erasure struct {
	lowest int64
	names  []string
}

// batch verifies the leaves with an index from from to below to.
func (v *verifier) batch(ctx context.Context, from, to int64) error {
	leaves, err := v.db.AuditLeaf.Query().Where(auditleaf.CompanyID(v.report.Company), auditleaf.IndexGTE(from), auditleaf.IndexLT(to)).All(ctx)
	if err != nil {
		return fmt.Errorf("read the leaves: %w", err)
	}
	at, ids := map[int64]*ent.AuditLeaf{}, make([]string, len(leaves))
	for i, l := range leaves {
		at[l.Index], ids[i] = l, l.ID
	}
	rows, err := v.db.AuditEntry.Query().Where(auditentry.CompanyID(v.report.Company), auditentry.IDIn(ids...)).All(ctx)
	if err != nil {
		return fmt.Errorf("read the entries: %w", err)
	}
	entries := make(map[string]*ent.AuditEntry, len(rows))
	for _, r := range rows {
		entries[r.ID] = r
	}
	for i := from; i < to; i++ {
		leaf := at[i]
		if leaf == nil {
			v.report.broken(i, "the leaf is missing")
			v.tree.add(tlog.Hash{})
			v.lost = true
			continue
		}
		v.report.Sealed++
		v.leaf(i, leaf, entries[leaf.ID])
		v.compare()
	}
	return nil
}

// leaf verifies one leaf against its entry, its index and the tree so far.
func (v *verifier) leaf(i int64, leaf *ent.AuditLeaf, e *ent.AuditEntry) {
	var h tlog.Hash
	copy(h[:], leaf.Hashes)
	if e == nil {
		v.report.broken(i, "the entry %s was removed", leaf.ID)
	} else {
		got, err := audit.Hash(e)
		switch {
		case err != nil:
			v.report.broken(i, "%s: %s", leaf.ID, err)
		case got != h || !bytes.Equal(got[:], e.LeafHash):
			v.report.broken(i, "the entry %s was changed", leaf.ID)
		}
		v.collect(i, e)
	}
	stored := v.tree.add(h)
	want := pack(i, stored)
	if v.lost || bytes.Equal(leaf.Hashes, want) {
		return
	}
	if marks := len(stored) * tlog.HashSize; len(leaf.Hashes) != len(want) || !bytes.Equal(leaf.Hashes[marks:], want[marks:]) {
		v.lost = true
		v.report.broken(i, "the leaf of %s was not sealed here", leaf.ID)
		return
	}
	// The row has its original index, but a subtree that it completed had other leaves when it was sealed.
	level := 0
	for bytes.Equal(leaf.Hashes[:(level+1)*tlog.HashSize], want[:(level+1)*tlog.HashSize]) {
		level++
	}
	v.report.broken(i+1-int64(1)<<level, "a leaf is not the one that was sealed here")
}

// collect records the erased parts of an entry.
func (v *verifier) collect(i int64, e *ent.AuditEntry) {
	erasers := audit.Erasers(e)
	if len(erasers) > 0 && i < v.report.Size {
		v.report.Erased++
	}
	for name, by := range erasers {
		one := v.erasures[by]
		if one == nil {
			one = &erasure{lowest: i}
			v.erasures[by] = one
		}
		one.names = append(one.names, name)
	}
}

// notBelow selects the entries that have no leaf with an index below size.
func notBelow(size int64) predicate.AuditEntry {
	return func(s *sql.Selector) {
		t := sql.Table(auditleaf.Table)
		s.Where(sql.NotExists(sql.Select(t.C(auditleaf.FieldID)).From(t).
			Where(sql.And(sql.ColumnsEQ(t.C(auditleaf.FieldID), s.C(auditentry.FieldID)), sql.LT(t.C(auditleaf.FieldIndex), size)))))
	}
}

// erased selects the entries with an erased part.
func erased(s *sql.Selector) {
	s.Where(sql.ExprP(fmt.Sprintf("(length(%s) > %d OR length(%s) > %[2]d)", s.C(auditentry.FieldActorSeal), audit.CommitmentSize, s.C(auditentry.FieldChangesSeal))))
}

// compare checks the tree so far against the checkpoints of its size.
func (v *verifier) compare() {
	for len(v.checkpoints) > 0 && v.checkpoints[0].Size == v.tree.size {
		if v.checkpoints[0].Root == v.tree.root() {
			v.agreed = v.tree.size
		} else {
			v.report.broken(v.agreed, "a checkpoint of %d entries has another root", v.tree.size)
		}
		v.checkpoints = v.checkpoints[1:]
	}
}

// checkErasures checks that for all erased parts there is an unchanged audit.erased entry with the digest of these parts.
func (v *verifier) checkErasures(ctx context.Context) error {
	for by, found := range v.erasures {
		e, err := v.db.AuditEntry.Query().Where(auditentry.CompanyID(v.report.Company), auditentry.ID(by)).Only(ctx)
		if err != nil && !ent.IsNotFound(err) {
			return fmt.Errorf("read an erasure: %w", err)
		}
		logged := false
		if err == nil {
			h, herr := audit.Hash(e)
			said, ok := audit.ErasureIn(e)
			logged = ok && herr == nil && bytes.Equal(h[:], e.LeafHash) && said == audit.ErasureOf(found.names)
		}
		if !logged {
			v.report.broken(found.lowest, unloggedErasure)
		}
	}
	return nil
}

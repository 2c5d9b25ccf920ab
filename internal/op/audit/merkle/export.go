package merkle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op/audit"
)

// maxLine bounds a line of an export, in bytes: an entry of at most 300 kB, twice, and its proof.
const maxLine = 4 << 20

// ExportProof holds the fields of an export's line that prove the entry. The line has the entry's own fields too.
type ExportProof struct {
	Index    *int64           `json:"index"`    // null until the entry is sealed
	LeafHash []byte           `json:"leafHash"` // base64, like all bytes in an export
	Leaf     []byte           `json:"leaf"`     // the canonical form that is hashed
	Seals    Seals            `json:"seals"`
	Size     int64            `json:"size,omitempty"` // of the log whose root the path leads to
	Path     tlog.RecordProof `json:"path,omitempty"` // from the leaf's sibling to the root
	// Checkpoint is the signed note of that log. Only the first line with a sealed entry has it.
	Checkpoint string `json:"checkpoint,omitempty"`
}

// Seals holds the salts that open an entry's commitments. For an erased part it holds the commitment instead.
type Seals struct {
	Actor   []byte `json:"actor"`
	Changes []byte `json:"changes"`
}

// line is a line of an export as VerifyExport reads it.
type line struct {
	ExportProof
	ID        string             `json:"id"`
	At        time.Time          `json:"at"`
	Action    string             `json:"action"`
	Outcome   auditentry.Outcome `json:"outcome"`
	IP        *string            `json:"ip"`
	UserAgent *string            `json:"userAgent"`
	RequestID *string            `json:"requestId"`
	Changes   json.RawMessage    `json:"changes"`
	Actor     struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"actor"`
	Resource struct {
		Type string  `json:"type"`
		ID   *string `json:"id"`
	} `json:"resource"`
}

// entry returns the entry of the line, without its company.
func (l line) entry() *ent.AuditEntry {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	e := &ent.AuditEntry{
		ID: l.ID, CreatedAt: l.At.UTC(), ActorType: l.Actor.Type, ActorID: l.Actor.ID, ActorName: l.Actor.Name, Action: l.Action,
		ResourceType: l.Resource.Type, ResourceID: l.Resource.ID, Outcome: l.Outcome, IP: text(l.IP), UserAgent: text(l.UserAgent), RequestID: text(l.RequestID),
		ActorSeal: l.Seals.Actor, ChangesSeal: l.Seals.Changes,
	}
	if !bytes.Equal(l.Changes, []byte("{}")) && !bytes.Equal(l.Changes, []byte("null")) {
		e.Changes = l.Changes
	}
	return e
}

// sealedWithin is how long an entry may stay unsealed while later ones are sealed.
const sealedWithin = 5 * time.Minute

// VerifyExport verifies an export in JSON lines with nothing but a trusted public key: the values of each line against its
// leaf, and the leaf against the checkpoint. It cannot tell whether entries are missing from the export. It reports an entry
// that occurs twice, and an unsealed entry that is more than sealedWithin older than a sealed one. Returns an error for an
// export without sealed entries, because it proves nothing.
func VerifyExport(r io.Reader, public string) (Report, error) {
	var report Report
	var head *Checkpoint
	var newest time.Time // of the sealed entries
	seen := map[int64]bool{}
	var oldest time.Time // of the entries without a seal
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return report, fmt.Errorf("line %d is no entry: %w", n, err)
		}
		if l.Index == nil {
			if report.Unsealed == 0 || l.At.Before(oldest) {
				oldest = l.At
			}
			report.Unsealed++
			continue
		}
		if l.Checkpoint != "" && head == nil {
			c, err := OpenCheckpoint(l.Checkpoint, public)
			if err != nil {
				return report, err
			}
			head = &c
			report.Company, report.Size, report.RootHash = c.Company, c.Size, c.Root.String()
		}
		if head == nil {
			return report, errors.New("the export has no checkpoint before its first sealed entry")
		}
		report.Sealed++
		if seen[*l.Index] {
			report.broken(*l.Index, "line %d: the entry stands in the export twice", n)
		}
		seen[*l.Index] = true
		if l.At.After(newest) {
			newest = l.At
		}
		if len(audit.Erasers(l.entry())) > 0 {
			report.Erased++
		}
		if err := l.verify(*head); err != nil {
			report.broken(*l.Index, "line %d: %s", n, err)
		}
	}
	if err := in.Err(); err != nil {
		return report, fmt.Errorf("read the export: %w", err)
	}
	if report.Sealed == 0 {
		return report, errors.New("the export has no sealed entry, so that nothing in it can be verified")
	}
	if report.Unsealed > 0 && newest.Sub(oldest) > sealedWithin {
		report.broken(report.Size, "the entry of %s has no seal, and later ones have theirs", oldest.Format(time.RFC3339))
	}
	report.Intact = report.BrokenAt == nil
	return report, nil
}

// verify checks the values of a line against its leaf, and the leaf against the checkpoint.
func (l line) verify(head Checkpoint) error {
	e := l.entry()
	if err := audit.CheckLeaf(l.Leaf, e); err != nil {
		return err
	}
	if company, err := audit.CompanyOf(l.Leaf); err != nil || company != head.Company {
		return errors.New("the entry is of another company than the checkpoint")
	}
	h := tlog.RecordHash(l.Leaf)
	if !bytes.Equal(h[:], l.LeafHash) {
		return errors.New("the leaf has another hash")
	}
	if *l.Index < 0 || *l.Index >= head.Size {
		return errors.New("the checkpoint's log is shorter")
	}
	if err := tlog.CheckRecord(l.Path, head.Size, head.Root, *l.Index, h); err != nil {
		return fmt.Errorf("the log does not hold the entry here: %w", err)
	}
	return nil
}

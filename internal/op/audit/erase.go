package audit

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/platform/id"
)

// Erased is the action of entries about erasures. The changes of these entries are never erased, because they record what
// was erased.
const Erased = "audit.erased"

// Parts are the personal parts of an entry that an erasure removes.
type Parts struct{ Actor, Changes bool }

// Erasure records, in an entry with the action Erased, which parts were removed.
type Erasure struct {
	Parts  int    `json:"parts"`
	Digest string `json:"digest"` // of the parts' names, in order: SHA-256, base64
}

// PartNames returns an erasure's names for the parts of an entry.
func PartNames(entryID string, p Parts) (out []string) {
	if p.Actor {
		out = append(out, entryID+" actor")
	}
	if p.Changes {
		out = append(out, entryID+" changes")
	}
	return out
}

// ErasureOf summarises the removed parts. Their order does not matter.
func ErasureOf(names []string) Erasure {
	names = slices.Sorted(slices.Values(names))
	h := sha256.New()
	for _, n := range names {
		h.Write([]byte(n + "\n"))
	}
	return Erasure{Parts: len(names), Digest: base64.StdEncoding.EncodeToString(h.Sum(nil))}
}

// ErasureIn reads the Erasure of an entry with the action Erased; false if the entry has none.
func ErasureIn(e *ent.AuditEntry) (Erasure, bool) {
	var changes struct {
		Erased struct{ To *Erasure } `json:"erased"`
	}
	if e.Action != Erased || json.Unmarshal(e.Changes, &changes) != nil || changes.Erased.To == nil {
		return Erasure{}, false
	}
	return *changes.Erased.To, true
}

// Erase removes personal parts from entries of one company, and writes the entry about it: e names who erases, whose data,
// and why. It skips parts that are already erased, entries without a leaf, and the changes of entries about erasures.
// Returns how many parts it removed.
func Erase(ctx context.Context, db *ent.Client, e Entry, rows []*ent.AuditEntry, which func(*ent.AuditEntry) Parts) (int, error) {
	e.ID, e.Action = id.New("aud"), Erased
	var names []string
	for _, row := range rows {
		p := which(row)
		p.Actor = p.Actor && len(row.ActorSeal) == SaltSize
		p.Changes = p.Changes && len(row.ChangesSeal) == SaltSize && row.Action != Erased
		if taken := PartNames(row.ID, p); len(taken) > 0 {
			if err := eraseOne(ctx, db, row, p, e.ID); err != nil {
				return 0, err
			}
			names = append(names, taken...)
		}
	}
	if len(names) == 0 {
		return 0, nil
	}
	e.Changes = map[string]Change{"erased": {To: ErasureOf(names)}}
	return len(names), Write(ctx, db, e)
}

func eraseOne(ctx context.Context, db *ent.Client, row *ent.AuditEntry, p Parts, by string) error {
	u := db.AuditEntry.Update().Where(auditentry.ID(row.ID))
	if p.Actor {
		c, err := ActorCommitment(row)
		if err != nil {
			return err
		}
		u.SetActorName("").SetIP("").SetUserAgent("").SetActorSeal(ErasedSeal(c, by))
	}
	if p.Changes {
		c, err := ChangesCommitment(row)
		if err != nil {
			return err
		}
		u.ClearChanges().SetChangesSeal(ErasedSeal(c, by))
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("erase parts of an audit entry: %w", err)
	}
	return nil
}

// Erasers returns the ids of the entries about the erasure of an entry's parts, by the parts' names.
func Erasers(e *ent.AuditEntry) map[string]string {
	out := map[string]string{}
	if ActorErased(e) {
		out[PartNames(e.ID, Parts{Actor: true})[0]] = string(e.ActorSeal[CommitmentSize:])
	}
	if ChangesErased(e) {
		out[PartNames(e.ID, Parts{Changes: true})[0]] = string(e.ChangesSeal[CommitmentSize:])
	}
	return out
}

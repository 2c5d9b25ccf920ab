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
	"atrium/internal/id"
)

// Erased is the action of the entries that tell of erasures. Their own changes are never erased: they say what was.
const Erased = "audit.erased"

// Parts are the personal parts of an entry that an erasure takes.
type Parts struct{ Actor, Changes bool }

// Erasure is what an entry of the action Erased says of the parts that were taken.
type Erasure struct {
	Parts  int    `json:"parts"`
	Digest string `json:"digest"` // of their names, in order: SHA-256, base64
}

// PartNames returns what an erasure calls the parts of an entry.
func PartNames(entryID string, p Parts) (out []string) {
	if p.Actor {
		out = append(out, entryID+" actor")
	}
	if p.Changes {
		out = append(out, entryID+" changes")
	}
	return out
}

// ErasureOf sums up the parts that were taken. Their order does not matter.
func ErasureOf(names []string) Erasure {
	names = slices.Sorted(slices.Values(names))
	h := sha256.New()
	for _, n := range names {
		h.Write([]byte(n + "\n"))
	}
	return Erasure{Parts: len(names), Digest: base64.StdEncoding.EncodeToString(h.Sum(nil))}
}

// ErasureIn reads what an entry of the action Erased says; false when it says nothing such.
func ErasureIn(e *ent.AuditEntry) (Erasure, bool) {
	var changes struct {
		Erased struct{ To *Erasure } `json:"erased"`
	}
	if e.Action != Erased || json.Unmarshal(e.Changes, &changes) != nil || changes.Erased.To == nil {
		return Erasure{}, false
	}
	return *changes.Erased.To, true
}

// Erase takes personal parts out of entries of one company, and writes the entry that tells of it: e names who does it, to
// whom and why. What is erased already, has no leaf yet or tells of erasures stays. Returns how many parts it took.
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

// Erasers returns the entries that tell of the erasure of an entry's parts, by the parts' names.
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

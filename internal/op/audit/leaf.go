package audit

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
)

// The two personal parts of an entry: who did it, and what changed. The leaf contains a commitment to each, under a salt of its
// own, so that one can be erased without the other.
const (
	actorPart   = "atrium audit actor\x00"
	changesPart = "atrium audit changes\x00"
)

// SaltSize is the length of a seal that contains a salt. A longer seal contains a commitment, of CommitmentSize, followed by the
// id of the entry about the erasure.
const (
	SaltSize       = 16
	CommitmentSize = sha256.Size
)

// leafForm is the hashed form of an entry: these fields in this order, as JSON without spaces.
type leafForm struct {
	Version      int     `json:"v"`
	ID           string  `json:"id"`
	Company      string  `json:"company"`
	At           string  `json:"at"` // UTC, to the microsecond
	ActorType    string  `json:"actorType"`
	ActorID      string  `json:"actorId"`
	Action       string  `json:"action"`
	ResourceType string  `json:"resourceType"`
	ResourceID   *string `json:"resourceId"`
	Outcome      string  `json:"outcome"`
	RequestID    string  `json:"requestId"`
	Actor        []byte  `json:"actor"`   // the commitment to name, address and program
	Changes      []byte  `json:"changes"` // the commitment to the changes
}

// NewSalt returns a random salt.
func NewSalt() []byte {
	salt := make([]byte, SaltSize)
	_, _ = rand.Read(salt) // it never fails
	return salt
}

// Leaf returns the canonical form of an entry; its hash is the leaf of the log. It needs both seals.
func Leaf(e *ent.AuditEntry) ([]byte, error) {
	actor, err := ActorCommitment(e)
	if err != nil {
		return nil, err
	}
	changes, err := ChangesCommitment(e)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(leafForm{
		Version: 1, ID: e.ID, Company: e.CompanyID, At: e.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000Z"),
		ActorType: e.ActorType, ActorID: e.ActorID, Action: e.Action, ResourceType: e.ResourceType, ResourceID: e.ResourceID,
		Outcome: string(e.Outcome), RequestID: e.RequestID, Actor: actor, Changes: changes,
	})
	if err != nil {
		return nil, fmt.Errorf("write the leaf: %w", err)
	}
	return b, nil
}

// CheckLeaf returns an error unless leaf is the canonical form of an entry, whose time is known only to the millisecond.
func CheckLeaf(leaf []byte, e *ent.AuditEntry) error {
	var form leafForm
	if err := json.Unmarshal(leaf, &form); err != nil {
		return fmt.Errorf("read the leaf: %w", err)
	}
	at, err := time.Parse(time.RFC3339Nano, form.At)
	if err != nil || at.Truncate(time.Millisecond) != e.CreatedAt.UTC() {
		return errors.New("the leaf is of another time")
	}
	exact := *e
	exact.CreatedAt, exact.CompanyID = at, form.Company
	want, err := Leaf(&exact)
	if err != nil {
		return err
	}
	if !bytes.Equal(want, leaf) {
		return errors.New("the leaf is of another entry, or a value was changed")
	}
	return nil
}

// Hash returns the hash of an entry's leaf.
func Hash(e *ent.AuditEntry) (tlog.Hash, error) {
	b, err := Leaf(e)
	if err != nil {
		return tlog.Hash{}, err
	}
	return tlog.RecordHash(b), nil
}

// ActorCommitment returns the commitment to who did it: computed from the values or, after an erasure, the one that was left.
func ActorCommitment(e *ent.AuditEntry) ([]byte, error) {
	if ActorErased(e) {
		if e.ActorName != "" || e.IP != "" || e.UserAgent != "" {
			return nil, fmt.Errorf("the actor of %s is there although it is erased", e.ID)
		}
		return e.ActorSeal[:CommitmentSize], nil
	}
	values, err := json.Marshal([]string{e.ActorName, e.IP, e.UserAgent})
	if err != nil {
		return nil, fmt.Errorf("write the actor: %w", err)
	}
	return commit(actorPart, e.ActorSeal, values)
}

// ChangesCommitment returns the commitment to what changed: computed from the values or, after an erasure, the one that was left.
func ChangesCommitment(e *ent.AuditEntry) ([]byte, error) {
	if ChangesErased(e) {
		if len(e.Changes) > 0 {
			return nil, fmt.Errorf("the changes of %s are there although they are erased", e.ID)
		}
		return e.ChangesSeal[:CommitmentSize], nil
	}
	return commit(changesPart, e.ChangesSeal, e.Changes)
}

// ActorErased reports whether name, address and program of an entry were erased.
func ActorErased(e *ent.AuditEntry) bool { return len(e.ActorSeal) > CommitmentSize }

// ChangesErased reports whether the changes of an entry were erased.
func ChangesErased(e *ent.AuditEntry) bool { return len(e.ChangesSeal) > CommitmentSize }

// ErasedSeal returns the seal of an erased part: the commitment, and the id of the entry about the erasure.
func ErasedSeal(commitment []byte, by string) []byte {
	return append(bytes.Clone(commitment), by...)
}

// commit hashes a part's values under a salt.
func commit(part string, salt, values []byte) ([]byte, error) {
	if len(salt) != SaltSize {
		return nil, fmt.Errorf("the entry has no salt of %d bytes", SaltSize)
	}
	h := sha256.New()
	h.Write([]byte(part))
	h.Write(salt)
	h.Write(values)
	return h.Sum(nil), nil
}

// stamp returns an entry's time as both databases store it: PostgreSQL's precision is a microsecond.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// CompanyOf returns the company of a leaf.
func CompanyOf(leaf []byte) (string, error) {
	var form leafForm
	if err := json.Unmarshal(leaf, &form); err != nil {
		return "", fmt.Errorf("read the leaf: %w", err)
	}
	return form.Company, nil
}

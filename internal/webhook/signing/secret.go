package signing

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"atrium/internal/op"
	"atrium/internal/secret"
)

// Prefix begins each secret that New returns.
const Prefix = "whsec_"

const (
	keyBytes       = 32
	defaultOverlap = 24 * time.Hour
)

// New returns a random secret.
func New() secret.Value {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return secret.Value(Prefix + base64.StdEncoding.EncodeToString(key))
}

// Seal encrypts a secret for the row with that id.
func Seal(sealer op.Sealer, v secret.Value, rowID string) ([]byte, error) {
	sealed, err := sealer.Seal([]byte(v), []byte(rowID))
	if err != nil {
		return nil, fmt.Errorf("seal the signing secret: %w", err)
	}
	return sealed, nil
}

// Open returns the secrets that are valid for a row: the current one and, until the rotation's overlap ends, the previous one.
// Do not call it in a transaction: with a KMS the first value of a data key takes a network call.
func Open(sealer op.Sealer, rowID string, now time.Time, current, previous []byte, until *time.Time) ([]secret.Value, error) {
	sealed := [][]byte{current}
	if until != nil && now.Before(*until) && len(previous) > 0 {
		sealed = append(sealed, previous)
	}
	secrets := make([]secret.Value, len(sealed))
	for i, b := range sealed {
		plain, err := sealer.Unseal(b, []byte(rowID))
		if err != nil {
			return nil, fmt.Errorf("unseal a signing secret: %w", err)
		}
		secrets[i] = secret.Value(plain)
	}
	return secrets, nil
}

// Overlap is the part of a rotation's input that says for how long the old secret stays valid.
type Overlap struct {
	OverlapSeconds *int `json:"overlapSeconds,omitempty" nullable:"true" minimum:"0" maximum:"604800" doc:"For so long the old secret stays valid beside the new one: at most 7 days; a day when not given."`
}

// update is Ent's update of a row that has a signing secret.
type update[U any] interface {
	SetSecretSealed(sealed []byte) U
	SetPreviousSealed(sealed []byte) U
	SetPreviousUntil(t time.Time) U
	ClearPreviousSealed() U
	ClearPreviousUntil() U
}

// Rotate sets the next secret in an update of the row with that id, and keeps the current one, which is sealed, for the overlap.
func Rotate[U update[U]](ctx context.Context, tx *op.Tx, u U, rowID string, current []byte, next secret.Value, in Overlap) error {
	sealed, err := Seal(tx.Sealer(), next, rowID)
	if err != nil {
		return err
	}
	u.SetSecretSealed(sealed)
	overlap := time.Duration(op.Or(in.OverlapSeconds, int(defaultOverlap/time.Second))) * time.Second
	if overlap > 0 && len(current) > 0 {
		u.SetPreviousSealed(current).SetPreviousUntil(tx.Now(ctx).Add(overlap))
	} else {
		u.ClearPreviousSealed().ClearPreviousUntil()
	}
	return nil
}

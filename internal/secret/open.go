package secret

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"atrium/ent"
	"atrium/ent/secret"
	"atrium/internal/op"
)

// Opened is a secret that was opened.
type Opened struct {
	Value string

	id       string
	lastUsed *time.Time
}

// Open returns the named secret of the context's company with its current value, for a call that is about to be made.
// Returns Ent's not-found error when there is none, or the sealer's. Keep it out of transactions: with a KMS the first
// value of a data key takes a network call.
func Open(ctx context.Context, db *ent.Client, sealer op.Sealer, name string) (Opened, error) {
	s, err := db.Secret.Query().Where(secret.Name(name)).Only(ctx)
	if err != nil {
		return Opened{}, fmt.Errorf("look the secret %s up: %w", name, err)
	}
	value, err := unseal(sealer, s)
	if err != nil {
		return Opened{}, fmt.Errorf("unseal the secret %s: %w", name, err)
	}
	return Opened{Value: string(value), id: s.ID, lastUsed: s.LastUsedAt}, nil
}

// noteEvery is how far a secret's row may lag behind its last use: a thousand calls a second write it once.
const noteEvery = time.Minute

// Noted returns the ids of those secrets whose last use is to be noted at a moment, in order, so that two nodes do not wait for each
// other in a circle.
func Noted(used []Opened, now time.Time) []string {
	var ids []string
	for _, o := range used {
		if o.lastUsed == nil || now.Sub(*o.lastUsed) >= noteEvery {
			ids = append(ids, o.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// NoteUse notes when secrets were last used; a later use that another node noted stays.
func NoteUse(ctx context.Context, db *ent.Client, ids []string, now time.Time) error {
	for _, id := range ids {
		err := db.Secret.Update().Where(secret.ID(id), secret.Or(secret.LastUsedAtIsNil(), secret.LastUsedAtLT(now))).SetLastUsedAt(now).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the use of %s: %w", id, err)
		}
	}
	return nil
}

// BoundTo binds a sealed value to its row and version, so that it opens nowhere else.
func BoundTo(companyID, rowID string, version int) []byte {
	return []byte(companyID + "/" + rowID + "/" + strconv.Itoa(version))
}

func unseal(sealer op.Sealer, s *ent.Secret) ([]byte, error) {
	return sealer.Unseal(s.Sealed, BoundTo(s.CompanyID, s.ID, s.Version))
}

// OpenAll returns an error for the first secret, of all companies, that the master key does not open.
func OpenAll(ctx context.Context, db *ent.Client, sealer op.Sealer) error {
	last := ""
	for {
		rows, err := db.Secret.Query().Where(secret.IDGT(last)).Order(secret.ByID()).Limit(openedTogether).All(ctx)
		if err != nil {
			return fmt.Errorf("read the secrets: %w", err)
		}
		for _, s := range rows {
			if _, err := unseal(sealer, s); err != nil {
				return fmt.Errorf("the master key does not open the secret %s: %w", s.ID, err)
			}
			last = s.ID
		}
		if len(rows) < openedTogether {
			return nil
		}
	}
}

const openedTogether = 500

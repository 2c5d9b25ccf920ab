package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"atrium/ent"
	"atrium/ent/secret"
	"atrium/internal/op"
	"atrium/internal/platform/egress"
)

// Opened is a decrypted secret.
type Opened struct {
	Name  string
	Value string
	Hosts egress.Hosts // to which it may be sent

	id       string
	lastUsed *time.Time
}

// Open decrypts the current value of the named secret of the context's company, for a call that is about to be made. Returns
// Ent's not-found error for an unknown name, or the sealer's error. Do not call it in a transaction: with a KMS, the first
// value of each data key needs a network call.
func Open(ctx context.Context, db *ent.Client, sealer op.Sealer, name string) (Opened, error) {
	s, err := db.Secret.Query().Where(secret.Name(name)).Only(ctx)
	if err != nil {
		return Opened{}, fmt.Errorf("look the secret %s up: %w", name, err)
	}
	value, err := unseal(sealer, s)
	if err != nil {
		return Opened{}, fmt.Errorf("unseal the secret %s: %w", name, err)
	}
	return Opened{Name: s.Name, Value: string(value), Hosts: s.AllowedHosts, id: s.ID, lastUsed: s.LastUsedAt}, nil
}

// Barred returns the name of the first of the secrets that may not be sent to a host; empty if all may.
func Barred(used []Opened, host string) string {
	for _, o := range used {
		if !o.Hosts.Allow(host) {
			return o.Name
		}
	}
	return ""
}

// noteEvery is the resolution of a secret's last use. So a thousand calls a second write it once a minute.
const noteEvery = time.Minute

// DueForTouch returns the ids of the secrets whose last use should be stored now. The ids are sorted, so that two nodes that store
// them do not deadlock.
func DueForTouch(used []Opened, now time.Time) []string {
	var ids []string
	for _, o := range used {
		if o.lastUsed == nil || now.Sub(*o.lastUsed) >= noteEvery {
			ids = append(ids, o.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// TouchLastUsed stores when secrets were last used. It never replaces a later time that another node stored.
func TouchLastUsed(ctx context.Context, db *ent.Client, ids []string, now time.Time) error {
	for _, id := range ids {
		err := db.Secret.Update().Where(secret.ID(id), secret.Or(secret.LastUsedAtIsNil(), secret.LastUsedAtLT(now))).SetLastUsedAt(now).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the use of %s: %w", id, err)
		}
	}
	return nil
}

// BoundTo returns the associated data that binds a sealed value to its row and version, so that it cannot be decrypted
// elsewhere.
func BoundTo(companyID, rowID string, version int) []byte {
	return []byte(companyID + "/" + rowID + "/" + strconv.Itoa(version))
}

func unseal(sealer op.Sealer, s *ent.Secret) ([]byte, error) {
	return sealer.Unseal(s.Sealed, BoundTo(s.CompanyID, s.ID, s.Version))
}

// former is a value that a secret had before, in its version.
type former struct {
	Version int    `json:"version"`
	Sealed  []byte `json:"sealed"`
}

// The values before that are kept, to be masked: the last one, and others as far as they are short together.
const (
	maxFormer      = 10
	maxFormerBytes = 16 << 10
)

// formerOf returns the values that a secret had before, the last one first.
func formerOf(s *ent.Secret) (list []former, err error) {
	if len(s.Previous) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(s.Previous, &list); err != nil {
		return nil, fmt.Errorf("read the earlier values of %s: %w", s.ID, err)
	}
	return list, nil
}

// withPrevious returns the earlier values of a secret together with the present one, as the row keeps them: as many as have room.
func withPrevious(s *ent.Secret, room int) ([]byte, error) {
	before, err := formerOf(s)
	if err != nil {
		return nil, err
	}
	list, size := []former{}, 0
	for _, f := range append([]former{{Version: s.Version, Sealed: s.Sealed}}, before...) {
		if size += len(f.Sealed); size > room || len(list) > 0 && size > maxFormerBytes || len(list) == maxFormer {
			break
		}
		list = append(list, f)
	}
	return json.Marshal(list)
}

// unsealAll decrypts the present value of a secret and those before, in this order.
func unsealAll(sealer op.Sealer, s *ent.Secret) ([]string, error) {
	value, err := unseal(sealer, s)
	if err != nil {
		return nil, fmt.Errorf("unseal the secret %s: %w", s.Name, err)
	}
	list, err := formerOf(s)
	if err != nil {
		return nil, err
	}
	values := []string{string(value)}
	for _, f := range list {
		value, err := sealer.Unseal(f.Sealed, BoundTo(s.CompanyID, s.ID, f.Version))
		if err != nil {
			return nil, fmt.Errorf("unseal version %d of the secret %s: %w", f.Version, s.Name, err)
		}
		values = append(values, string(value))
	}
	return values, nil
}

// OpenAll decrypts the secrets of all companies and returns an error for the first one that the master key cannot decrypt.
func OpenAll(ctx context.Context, db *ent.Client, sealer op.Sealer) error {
	last := ""
	for {
		rows, err := db.Secret.Query().Where(secret.IDGT(last)).Order(secret.ByID()).Limit(openedTogether).All(ctx)
		if err != nil {
			return fmt.Errorf("read the secrets: %w", err)
		}
		for _, s := range rows {
			if _, err := unsealAll(sealer, s); err != nil {
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

package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"atrium/ent"
	"atrium/ent/signingkey"
	"atrium/internal/op"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Keys are the provider's signing keys. Safe for concurrent use.
type Keys struct {
	store  *store.Store
	sealer op.Sealer
	sets   store.AuthorityCache[*keySet] // one
}

// keySet holds the keys as read from the database.
type keySet struct {
	until  time.Time // when another key starts to sign; zero if none is waiting
	signer jose.SigningKey
	public jose.JSONWebKeySet
}

// NewKeys returns the keys of the store's database. It neither reads nor creates a key yet.
func NewKeys(s *store.Store, sealer op.Sealer) *Keys { return &Keys{store: s, sealer: sealer} }

// Sign returns claims as a JWT of the given type, signed with the key that signs now.
func (k *Keys) Sign(ctx context.Context, typ jose.ContentType, claims any) (string, error) {
	key, err := k.Signer(ctx)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(typ))
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return token, nil
}

// Signer returns the key that signs now. The first call in a new installation creates it.
func (k *Keys) Signer(ctx context.Context) (jose.SigningKey, error) {
	set, err := k.current(ctx)
	if err != nil {
		return jose.SigningKey{}, err
	}
	return set.signer, nil
}

// Public returns every key that still verifies.
func (k *Keys) Public(ctx context.Context) (jose.JSONWebKeySet, error) {
	set, err := k.current(ctx)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	return set.public, nil
}

// current returns the current keys, and reads them again when authority has changed.
func (k *Keys) current(ctx context.Context) (*keySet, error) {
	now := k.store.Clock().Now()
	good := func(set *keySet) bool { return set.until.IsZero() || now.Before(set.until) }
	return k.sets.GetWhile(k.store, "", good, func() (*keySet, error) { return k.read(ctx, now) })
}

func (k *Keys) read(ctx context.Context, now time.Time) (*keySet, error) {
	ctx = principal.System(ctx, "signing keys belong to the installation")
	rows, err := inUse(ctx, k.store.Reader())
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		row, err := k.create(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	set := &keySet{}
	for _, row := range rows {
		var pub jose.JSONWebKey
		if err := json.Unmarshal(row.PublicJwk, &pub); err != nil {
			return nil, fmt.Errorf("read signing key %s: %w", row.ID, err)
		}
		set.public.Keys = append(set.public.Keys, pub)
	}
	signs, until := signing(rows, now)
	set.until = until
	if set.signer, err = k.open(signs); err != nil {
		return nil, err
	}
	return set, nil
}

// inUse returns the keys that are not retired, oldest first.
func inUse(ctx context.Context, db *ent.Client) ([]*ent.SigningKey, error) {
	rows, err := db.SigningKey.Query().Where(signingkey.RetiredAtIsNil()).Order(signingkey.ByCreatedAt(), signingkey.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the signing keys: %w", err)
	}
	return rows, nil
}

// open unseals a row's private key.
func (k *Keys) open(row *ent.SigningKey) (jose.SigningKey, error) {
	der, err := k.sealer.Unseal(row.PrivateSealed, []byte(row.ID))
	if err != nil {
		return jose.SigningKey{}, fmt.Errorf("unseal signing key %s (is this the master key it was sealed under?): %w", row.ID, err)
	}
	key, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return jose.SigningKey{}, fmt.Errorf("parse signing key %s: %w", row.ID, err)
	}
	return jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: row.ID, Algorithm: string(jose.ES256), Use: "sig"}}, nil
}

// create creates a key pair. When two processes do so at once, both keys are valid.
func (k *Keys) create(ctx context.Context) (*ent.SigningKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	kid := id.New("sig")
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	sealed, err := k.sealer.Seal(der, []byte(kid))
	if err != nil {
		return nil, fmt.Errorf("seal the signing key: %w", err)
	}
	pub, err := json.Marshal(jose.JSONWebKey{Key: key.Public(), KeyID: kid, Algorithm: string(jose.ES256), Use: "sig"})
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	var row *ent.SigningKey
	err = k.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		tx.AuthorityChanged()
		row, err = tx.SigningKey.Create().SetID(kid).SetAlgorithm(string(jose.ES256)).SetPrivateSealed(sealed).SetPublicJwk(pub).Save(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("keep the signing key: %w", err)
	}
	return row, nil
}

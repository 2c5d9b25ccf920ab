package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	keysMaxAge   = 10 * time.Minute // after which they are read again
	keysMaxStale = 24 * time.Hour   // how long they are used while they cannot be read again
	maxKeys      = 100
)

// ErrToken is returned for every token that is not valid, whatever the reason.
var ErrToken = errors.New("issuer: the token is not valid")

// keySet caches a provider's published keys. A token that names an unknown key causes the set to be read again, but at most
// once in retryAfter, however many such tokens arrive.
type keySet struct {
	remote *Remote

	reading sync.Mutex // held while the keys are read

	mu    sync.RWMutex
	keys  []jose.JSONWebKey
	read  time.Time // when the keys were read
	tried time.Time // when reading them was last tried
}

// VerifySignature returns the payload of a token that one of the keys signed. Only the configured algorithms are accepted. A
// key that names its algorithm verifies with no other.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	algorithms := make([]jose.SignatureAlgorithm, len(k.remote.algorithms))
	for i, a := range k.remote.algorithms {
		algorithms[i] = jose.SignatureAlgorithm(a)
	}
	parsed, err := jose.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Signatures) != 1 {
		return nil, errors.New("malformed token")
	}
	keys, err := k.fresh(ctx)
	if err != nil {
		return nil, err
	}
	if payload, ok := verifyBy(keys, parsed); ok {
		return payload, nil
	}
	again, err := k.refresh(ctx, keys)
	if err != nil {
		return nil, err
	}
	if payload, ok := verifyBy(again, parsed); ok {
		return payload, nil
	}
	return nil, errors.New("unknown key or bad signature")
}

// verifyBy verifies with the key that the token names; with each of the keys when it names none.
func verifyBy(keys []jose.JSONWebKey, token *jose.JSONWebSignature) ([]byte, bool) {
	header := token.Signatures[0].Header
	for _, key := range keys {
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if payload, err := token.Verify(key.Key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// current returns the cached keys, when they were read, and when reading was last tried.
func (k *keySet) current() (keys []jose.JSONWebKey, read, tried time.Time) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys, k.read, k.tried
}

// fresh returns keys that are not too old. While one caller reads the keys again, or reading fails, other callers get the
// cached ones.
func (k *keySet) fresh(ctx context.Context) ([]jose.JSONWebKey, error) {
	keys, read, tried := k.current()
	now := k.remote.now()
	if len(keys) > 0 && within(now, read, keysMaxAge) {
		return keys, nil
	}
	if usable := len(keys) > 0 && within(now, read, keysMaxStale); usable {
		if within(now, tried, retryAfter) || !k.reading.TryLock() {
			return keys, nil
		}
		defer k.reading.Unlock()
		if err := k.load(ctx, now); err == nil {
			keys, _, _ = k.current()
		}
		return keys, nil
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	if keys, read, tried = k.current(); len(keys) > 0 && within(now, read, keysMaxStale) {
		return keys, nil // another caller has read them meanwhile
	}
	if within(now, tried, retryAfter) {
		return nil, ErrUnavailable
	}
	if err := k.load(ctx, now); err != nil {
		return nil, err
	}
	keys, _, _ = k.current()
	return keys, nil
}

// refresh reads the keys again after the caller has tried those in tried without success. It returns the cached keys when the
// last attempt was less than retryAfter ago.
func (k *keySet) refresh(ctx context.Context, tried []jose.JSONWebKey) ([]jose.JSONWebKey, error) {
	now := k.remote.now()
	if _, _, last := k.current(); within(now, last, retryAfter) {
		keys, _, _ := k.current()
		return keys, nil
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	if keys, _, last := k.current(); within(now, last, retryAfter) {
		return keys, nil // another caller has just tried
	}
	if err := k.load(ctx, now); err != nil && ctx.Err() != nil {
		return nil, err
	}
	keys, _, _ := k.current()
	if len(keys) == 0 {
		return tried, nil
	}
	return keys, nil
}

// within reports whether t is less than d before now.
func within(now, t time.Time, d time.Duration) bool {
	age := now.Sub(t)
	return age >= 0 && age < d
}

// load reads the keys and caches them; the caller holds reading. A failure because ctx has ended does not count as an attempt.
func (k *keySet) load(ctx context.Context, now time.Time) error {
	keys, err := k.fetch(ctx)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried = now
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	k.keys, k.read = keys, now
	return nil
}

// fetch reads the provider's JWKS. It skips keys of unknown kinds.
func (k *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	m, err := k.remote.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.keysURL, nil)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	res, err := k.remote.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the keys: status %d", res.StatusCode)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON(raw); err == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("read the keys: there is none that signs")
	}
	return keys, nil
}

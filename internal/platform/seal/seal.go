package seal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"
	"golang.org/x/sync/singleflight"
)

// ErrCorrupt is returned by Unseal when a value was altered, was sealed with other associated data, or is not a sealed value.
// Retrying does not help.
var ErrCorrupt = errors.New("seal: the value does not open: altered, not sealed here, or other associated data")

// errUsedUp is returned when a data key has reached AES-GCM's limit for random nonces.
var errUsedUp = errors.New("seal: the data key has sealed 2^32 values: restart to draw a new one")

// KMSTimeout limits a call to a KMS.
const KMSTimeout = 10 * time.Second

const (
	lengthSize  = 4       // of the length field
	maxWrapped  = 4096    // bytes; as in Tink
	maxSealed   = 1 << 32 // values per data key
	maxDataKeys = 4096    // cached data keys: there is one per start of a process that sealed something
)

// Sealer encrypts and decrypts values. It is safe for concurrent use.
type Sealer struct {
	source string // for logs
	master tink.AEADWithContext
	close  func()

	header  []byte // of the values sealed by this process: length and wrapped data key
	dataKey tink.AEAD
	sealed  atomic.Uint64

	mu       sync.RWMutex
	dataKeys map[string]tink.AEAD // by their wrapped form; includes this process's own
	unwraps  singleflight.Group
}

// Open loads the master key, generates a data key, wraps it and unwraps it again as a check. With a KMS this takes two network
// calls, which end when ctx does. Close the Sealer when done.
func Open(ctx context.Context, source Source) (*Sealer, error) {
	master, closeMaster, err := source.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("seal: opening the %s: %w", source, err)
	}
	s := &Sealer{source: source.String(), master: master, close: closeMaster, dataKeys: map[string]tink.AEAD{}}
	if err := s.drawDataKey(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("seal: using the %s: %w", source, err)
	}
	return s, nil
}

// Close closes the connections to a KMS. The Sealer must not be used afterwards.
func (s *Sealer) Close() { s.close() }

// Seal encrypts plaintext with associatedData, which Unseal needs again. It makes no network call, and fails only when the data
// key is used up. The result is about 100 bytes longer than plaintext (with a KMS, up to 300).
func (s *Sealer) Seal(plaintext, associatedData []byte) ([]byte, error) {
	if s.sealed.Add(1) > maxSealed {
		return nil, errUsedUp
	}
	payload, err := s.dataKey.Encrypt(plaintext, associatedData)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return slices.Concat(s.header, payload), nil
}

// Unseal decrypts what Seal returned in this process or in another one with the same master key. Returns ErrCorrupt if the
// value is not one that was sealed with associatedData. Any other error means that the master key cannot decrypt the data key,
// or that the KMS cannot be reached; a call to the KMS takes at most 10 s, once per data key.
func (s *Sealer) Unseal(sealed, associatedData []byte) ([]byte, error) {
	if len(sealed) < lengthSize {
		return nil, ErrCorrupt
	}
	n := binary.BigEndian.Uint32(sealed)
	if n == 0 || n > maxWrapped || int(n) > len(sealed)-lengthSize {
		return nil, ErrCorrupt
	}
	wrapped, payload := sealed[lengthSize:lengthSize+n], sealed[lengthSize+n:]
	dataKey, err := s.dataKeyOf(wrapped)
	if err != nil {
		return nil, err
	}
	plaintext, err := dataKey.Decrypt(payload, associatedData)
	if err != nil {
		return nil, ErrCorrupt
	}
	return plaintext, nil
}

// drawDataKey generates the data key of this process.
func (s *Sealer) drawDataKey(ctx context.Context) error {
	data, err := registry.NewKeyData(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("drawing a data key: %w", err)
	}
	wrapped, err := s.master.EncryptWithContext(ctx, data.GetValue(), nil)
	if err != nil {
		return fmt.Errorf("wrapping a data key: %w", err)
	}
	if len(wrapped) == 0 || len(wrapped) > maxWrapped {
		return fmt.Errorf("wrapping a data key: got %d bytes, the limit is %d", len(wrapped), maxWrapped)
	}
	if s.dataKey, err = s.unwrap(ctx, wrapped); err != nil {
		return err
	}
	s.header = append(binary.BigEndian.AppendUint32(nil, uint32(len(wrapped))), wrapped...)
	s.dataKeys[string(wrapped)] = s.dataKey
	return nil
}

// dataKeyOf returns the data key for its wrapped form. Concurrent callers share one call to the KMS.
func (s *Sealer) dataKeyOf(wrapped []byte) (tink.AEAD, error) {
	s.mu.RLock()
	dataKey, ok := s.dataKeys[string(wrapped)]
	s.mu.RUnlock()
	if ok {
		return dataKey, nil
	}
	shared, err, _ := s.unwraps.Do(string(wrapped), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), KMSTimeout)
		defer cancel()
		dataKey, err := s.unwrap(ctx, wrapped)
		if err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.dataKeys) >= maxDataKeys {
			clear(s.dataKeys)
		}
		s.dataKeys[string(wrapped)] = dataKey
		return dataKey, nil
	})
	if err != nil {
		return nil, err
	}
	return shared.(tink.AEAD), nil
}

// unwrap decrypts a data key with the master key.
func (s *Sealer) unwrap(ctx context.Context, wrapped []byte) (tink.AEAD, error) {
	key, err := s.master.DecryptWithContext(ctx, wrapped, nil)
	if err != nil {
		return nil, fmt.Errorf("unwrapping a data key: %w", err)
	}
	primitive, err := registry.Primitive(aead.AES256GCMKeyTemplate().GetTypeUrl(), key)
	if err != nil {
		return nil, fmt.Errorf("reading a data key: %w", err)
	}
	dataKey, ok := primitive.(tink.AEAD)
	if !ok {
		return nil, errors.New("reading a data key: not an AEAD")
	}
	return dataKey, nil
}

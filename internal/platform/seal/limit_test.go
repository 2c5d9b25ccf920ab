package seal

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tink-crypto/tink-go/v2/tink"
)

// setup opens a Sealer with a bare key.
func setup(t *testing.T) *Sealer {
	t.Helper()
	s, err := Open(context.Background(), Source{Base64: base64.StdEncoding.EncodeToString(make([]byte, rawKeySize))})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// A data key stops sealing at AES-GCM's limit for random nonces. Values sealed before can still be decrypted.
func TestDataKeyIsUsedUp(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.sealed.Store(maxSealed - 1)
	last, err := s.Seal([]byte("last"), nil)
	require.NoError(t, err)
	_, err = s.Seal([]byte("one more"), nil)
	require.ErrorIs(t, err, errUsedUp)
	_, err = s.Unseal(last, nil)
	require.NoError(t, err)
}

// The cache of data keys is limited. A data key that was dropped is unwrapped again.
func TestDataKeysAreBounded(t *testing.T) {
	t.Parallel()
	s, other := setup(t), setup(t)
	for len(s.dataKeys) < maxDataKeys {
		s.dataKeys[string(rune(len(s.dataKeys)))] = tink.AEAD(nil)
	}
	mine, err := s.Seal([]byte("mine"), nil)
	require.NoError(t, err)
	theirs, err := other.Seal([]byte("theirs"), nil)
	require.NoError(t, err)
	for range 2 {
		for _, sealed := range [][]byte{theirs, mine} {
			_, err := s.Unseal(sealed, nil)
			require.NoError(t, err)
		}
	}
	require.Len(t, s.dataKeys, 2)
}

package seal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Source says where the master key is: exactly one of File, Base64 and KMS is set. See the package comment for the formats.
type Source struct {
	File   string // path of a key file
	Base64 string // the key itself: the value of ATRIUM_MASTER_KEY
	KMS    string // URI of a key in a KMS

	// Connect returns the client for the URI in KMS, and a function that closes it: kms.Connect.
	Connect func(ctx context.Context, uri string) (registry.KMSClient, func(), error)
}

// open returns the AEAD of the master key, and a function that closes it.
func (s Source) open(ctx context.Context) (tink.AEADWithContext, func(), error) {
	nothing := func() {}
	set := 0
	for _, field := range []string{s.File, s.Base64, s.KMS} {
		if field != "" {
			set++
		}
	}
	switch {
	case set != 1:
		return nil, nil, fmt.Errorf("want one of a file, ATRIUM_MASTER_KEY and a KMS, got %d of them", set)
	case s.File != "":
		m, err := openFile(s.File)
		return m, nothing, err
	case s.Base64 != "":
		m, err := parseBase64(s.Base64)
		return local{m}, nothing, err
	default:
		return s.openKMS(ctx)
	}
}

// openKMS returns the AEAD of a key in a KMS, and a function that closes the client.
func (s Source) openKMS(ctx context.Context) (tink.AEADWithContext, func(), error) {
	if s.Connect == nil {
		return nil, nil, errors.New("nothing here connects to a KMS")
	}
	client, closeClient, err := s.Connect(ctx, s.KMS)
	if err != nil {
		return nil, nil, err
	}
	remote, err := client.GetAEAD(s.KMS)
	if err != nil {
		closeClient()
		return nil, nil, fmt.Errorf("finding the key: %w", err)
	}
	if m, ok := remote.(tink.AEADWithContext); ok {
		return m, closeClient, nil
	}
	return local{remote}, closeClient, nil // Vault's AEAD ignores contexts: only its client's timeout limits a call
}

// KeyFile returns the master key as the contents of a key file. Returns nil for a key in a KMS, which no file can hold.
func (s Source) KeyFile() ([]byte, error) {
	switch {
	case s.File != "":
		text, _, err := readFile(s.File)
		if err != nil {
			return nil, fmt.Errorf("seal: reading the master key: %w", err)
		}
		return text, nil
	case s.Base64 != "":
		handle, err := decodeBase64(s.Base64)
		if err != nil {
			return nil, fmt.Errorf("seal: reading the master key: %w", err)
		}
		return encodeKeyset(handle)
	}
	return nil, nil
}

// base64Variants removes the differences in padding, line ends and alphabet between the tools that generate keys.
var base64Variants = strings.NewReplacer("-", "+", "_", "/", "=", "", " ", "", "\n", "", "\r", "", "\t", "")

// parseBase64 returns the AEAD of the value of ATRIUM_MASTER_KEY.
func parseBase64(value string) (tink.AEAD, error) {
	handle, err := decodeBase64(value)
	if err != nil {
		return nil, err
	}
	return aead.New(handle)
}

// decodeBase64 reads the value of ATRIUM_MASTER_KEY.
func decodeBase64(value string) (*keyset.Handle, error) {
	pieces := strings.Split(value, ",")
	keys := make([][]byte, len(pieces))
	for i, piece := range pieces {
		key, err := base64.RawStdEncoding.DecodeString(base64Variants.Replace(piece))
		if err != nil {
			return nil, fmt.Errorf("key %d is not base64", i+1) // the error of package base64 may quote a byte of the key
		}
		keys[i] = key
	}
	if len(keys) == 1 && len(keys[0]) != rawKeySize {
		return readKeyset(keys[0])
	}
	return rawKeys(keys)
}

const rawKeySize = 32

// rawKeys returns a keyset of bare AES-256 keys, the first of which is the primary. The id of a key is part of what the key
// wraps, so it must be the same at every start; it is derived from the key.
func rawKeys(keys [][]byte) (*keyset.Handle, error) {
	params, err := aesgcm.NewParameters(aesgcm.ParametersOpts{
		KeySizeInBytes: rawKeySize, IVSizeInBytes: 12, TagSizeInBytes: 16, Variant: aesgcm.VariantTink,
	})
	if err != nil {
		return nil, err
	}
	m := keyset.NewManager()
	for i, raw := range keys {
		if len(raw) != rawKeySize {
			return nil, fmt.Errorf("key %d has %d bytes, want %d", i+1, len(raw), rawKeySize)
		}
		digest := sha256.Sum256(append([]byte("atrium master key id\x00"), raw...))
		id := binary.BigEndian.Uint32(digest[:])
		key, err := aesgcm.NewKey(secretdata.NewBytesFromData(raw, insecuresecretdataaccess.Token{}), id, params)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if _, err := m.AddKey(key); err != nil {
			return nil, fmt.Errorf("key %d stands there twice", i+1)
		}
		if i == 0 {
			if err := m.SetPrimary(id); err != nil {
				return nil, err
			}
		}
	}
	return m.Handle()
}

// parseKeyset reads the contents of a key file.
func parseKeyset(text []byte) (tink.AEAD, error) {
	handle, err := readKeyset(text)
	if err != nil {
		return nil, err
	}
	return aead.New(handle)
}

func readKeyset(text []byte) (*keyset.Handle, error) {
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		// The parser's error may quote its input.
		return nil, errors.New("not a master key: neither 32 bytes nor a Tink keyset in JSON")
	}
	return handle, nil
}

// local is an AEAD whose calls ignore their context once they have begun.
type local struct{ tink.AEAD }

func (l local) EncryptWithContext(ctx context.Context, plaintext, associatedData []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.Encrypt(plaintext, associatedData)
}

func (l local) DecryptWithContext(ctx context.Context, ciphertext, associatedData []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.Decrypt(ciphertext, associatedData)
}

// String says where the key is. Of a KMS URI it prints only the scheme, because some URIs contain credentials.
func (s Source) String() string {
	switch {
	case s.File != "":
		return "master key in " + strconv.Quote(s.File)
	case s.Base64 != "":
		return "master key in ATRIUM_MASTER_KEY"
	case s.KMS != "":
		if u, err := url.Parse(s.KMS); err == nil && u.Scheme != "" {
			return "master key in a KMS (" + u.Scheme + ")"
		}
		return "master key in a KMS"
	default:
		return "master key"
	}
}

// Format prints String for every verb of fmt.
func (s Source) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue returns String.
func (s Source) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns String, for JSON and other encoders.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String says where the master key is.
func (s *Sealer) String() string { return "sealer with the " + s.source }

// Format prints String for every verb of fmt.
func (s *Sealer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue returns String.
func (s *Sealer) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns String, for JSON and other encoders.
func (s *Sealer) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

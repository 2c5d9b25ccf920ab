package seal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/testing/fakekms"
	"github.com/tink-crypto/tink-go/v2/tink"

	"atrium/internal/platform/seal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, source seal.Source) *seal.Sealer {
	t.Helper()
	s, err := seal.Open(context.Background(), source)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// fake is a master key in a KMS. It counts its calls, and fails while down is set.
type fake struct {
	mu    sync.Mutex
	down  error
	calls int
	tink.AEAD
}

func newFake(t testing.TB) (*fake, seal.Source) {
	uri, err := fakekms.NewKeyURI()
	require.NoError(t, err)
	key, err := fakekms.NewAEAD(uri)
	require.NoError(t, err)
	f := &fake{AEAD: key}
	return f, seal.Source{KMS: "fake-kms://key", Connect: func(context.Context, string) (registry.KMSClient, func(), error) { return f, func() {}, nil }}
}

func (f *fake) Supported(string) bool               { return true }
func (f *fake) GetAEAD(string) (tink.AEAD, error)   { return f, nil }
func (f *fake) Encrypt(p, a []byte) ([]byte, error) { return f.call(f.AEAD.Encrypt, p, a) }
func (f *fake) Decrypt(c, a []byte) ([]byte, error) { return f.call(f.AEAD.Decrypt, c, a) }

func (f *fake) call(do func(_, _ []byte) ([]byte, error), in, associatedData []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.down != nil {
		return nil, f.down
	}
	return do(in, associatedData)
}

func (f *fake) state(down error) (calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
	return f.calls
}

func TestWhatIsSealedOpens(t *testing.T) {
	t.Parallel()
	_, source := newFake(t)
	s, other := open(t, source), open(t, source) // two processes, two data keys
	rapid.Check(t, func(t *rapid.T) {
		plaintext, aad := rapid.SliceOf(rapid.Byte()).Draw(t, "plaintext"), rapid.SliceOf(rapid.Byte()).Draw(t, "aad")
		sealed, err := s.Seal(plaintext, aad)
		require.NoError(t, err)
		again, err := s.Seal(plaintext, aad)
		require.NoError(t, err)
		require.NotEqual(t, sealed, again)
		for _, process := range []*seal.Sealer{s, other} {
			got, err := process.Unseal(sealed, aad)
			require.NoError(t, err)
			require.True(t, bytes.Equal(plaintext, got))
			_, err = process.Unseal(sealed, append(aad, 'x'))
			require.ErrorIs(t, err, seal.ErrCorrupt)
		}
	})
}

// A value with a changed byte or a missing end cannot be decrypted. A text that is not a sealed value gives ErrCorrupt.
func TestAltered(t *testing.T) {
	t.Parallel()
	_, source := newFake(t)
	s := open(t, source)
	sealed, err := s.Seal([]byte("value"), []byte("co_1/sec_1"))
	require.NoError(t, err)
	for i := range sealed {
		altered := bytes.Clone(sealed)
		altered[i] ^= 1
		_, err := s.Unseal(altered, []byte("co_1/sec_1"))
		require.Error(t, err, i)
		_, err = s.Unseal(sealed[:i], []byte("co_1/sec_1"))
		require.Error(t, err, i)
	}
	for _, junk := range []string{"", "abc", "\x00\x00\x00\x00", "\x00\x00\x00\x05abcd", "\xff\xff\xff\xffabcd", "\x00\x00\x10\x01" + strings.Repeat("a", 5000)} {
		_, err := s.Unseal([]byte(junk), nil)
		require.ErrorIs(t, err, seal.ErrCorrupt, junk)
	}
}

// The layout is Tink's: its KMS envelope AEAD decrypts our values, and we decrypt its values.
func TestTinkEnvelope(t *testing.T) {
	t.Parallel()
	f, source := newFake(t)
	s := open(t, source)
	envelope := aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), f)

	sealed, err := s.Seal([]byte("value"), []byte("aad"))
	require.NoError(t, err)
	got, err := envelope.Decrypt(sealed, []byte("aad"))
	require.NoError(t, err)
	require.Equal(t, "value", string(got))

	encrypted, err := envelope.Encrypt([]byte("value"), []byte("aad"))
	require.NoError(t, err)
	got, err = s.Unseal(encrypted, []byte("aad"))
	require.NoError(t, err)
	require.Equal(t, "value", string(got))
}

// The KMS is called twice at the start and then once per new data key. During an outage, Seal works, and so does Unseal for
// data keys that this process knows.
func TestCallsToTheKMS(t *testing.T) {
	t.Parallel()
	f, source := newFake(t)
	earlier := open(t, source)
	old, err := earlier.Seal([]byte("old"), nil)
	require.NoError(t, err)
	unmet, err := open(t, source).Seal([]byte("unmet"), nil)
	require.NoError(t, err)

	before := f.state(nil)
	s := open(t, source)
	require.Equal(t, before+2, f.state(nil))

	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, err := s.Seal([]byte("x"), nil)
			require.NoError(t, err)
			_, err = s.Unseal(old, nil)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	down := fmt.Errorf("no route to host")
	calls := f.state(down)
	require.LessOrEqual(t, calls, before+2+50)
	require.Greater(t, calls, before+2)

	sealed, err := s.Seal([]byte("new"), nil)
	require.NoError(t, err)
	for _, known := range [][]byte{sealed, old} {
		_, err = s.Unseal(known, nil)
		require.NoError(t, err)
	}
	require.Equal(t, calls, f.state(down))

	_, err = s.Unseal(unmet, nil)
	require.ErrorIs(t, err, down)
	require.NotErrorIs(t, err, seal.ErrCorrupt)
	f.state(nil)
	_, err = s.Unseal(unmet, nil) // failures are not cached
	require.NoError(t, err)
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	f, source := newFake(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := seal.Open(ended, source)
	require.ErrorIs(t, err, context.Canceled)

	down := fmt.Errorf("permission denied")
	f.state(down)
	_, err = seal.Open(context.Background(), source)
	require.ErrorIs(t, err, down)
	for _, faulty := range []seal.Source{
		{}, {File: "a", Base64: "b"}, {File: "a", KMS: "b"}, {KMS: "gcp-kms://projects/p"}, {KMS: "hcvault://h/transit/secret"}, {KMS: "hcvault://[/x"}, {KMS: "aws-kms://nonsense"},
	} {
		_, err := seal.Open(context.Background(), faulty)
		require.Error(t, err)
	}
}

// Printing, logging or marshalling shows where the key is and never the key.
func TestMasked(t *testing.T) {
	t.Parallel()
	const key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	source := seal.Source{Base64: key}
	s := open(t, source)
	var out bytes.Buffer
	for _, v := range []any{source, &source, s, struct{ S *seal.Sealer }{s}, struct{ s *seal.Sealer }{s}, struct{ S seal.Source }{source}} {
		for _, verb := range []string{"%v ", "%+v ", "%#v ", "%s ", "%q ", "%x ", "%d "} {
			fmt.Fprintf(&out, verb, v)
		}
		require.NoError(t, json.NewEncoder(&out).Encode(v))
		slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v)
	}
	require.Contains(t, out.String(), "master key in ATRIUM_MASTER_KEY")
	require.NotContains(t, out.String(), key[:20])
	require.NotContains(t, out.String(), fmt.Sprintf("%x", key)[:20])

	for _, faulty := range []string{"!!" + key, key + ",short", key[:20], key + "," + key} {
		_, err := seal.Open(context.Background(), seal.Source{Base64: faulty})
		require.Error(t, err)
		require.NotContains(t, err.Error(), key[:8])
	}
	require.Equal(t, "master key in a KMS (fake-kms)", seal.Source{KMS: "fake-kms://" + key}.String())
}

func FuzzUnseal(f *testing.F) {
	_, source := newFake(f)
	s := open(f, source)
	sealed, err := s.Seal([]byte("value"), []byte("aad"))
	require.NoError(f, err)
	f.Add(sealed, []byte("aad"))
	f.Add([]byte("\x00\x00\x00\x01a"), []byte{})
	f.Fuzz(func(t *testing.T, in, aad []byte) {
		got, err := s.Unseal(in, aad)
		if err == nil {
			require.True(t, bytes.Equal(in, sealed) && string(aad) == "aad" && string(got) == "value")
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	_, source := newFake(b)
	s := open(b, source)
	value, aad := make([]byte, 64), []byte("co_01/sec_01/value")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Seal(value, aad); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnseal(b *testing.B) {
	_, source := newFake(b)
	s := open(b, source)
	aad := []byte("co_01/sec_01/value")
	sealed, err := s.Seal(make([]byte, 64), aad)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Unseal(sealed, aad); err != nil {
			b.Fatal(err)
		}
	}
}

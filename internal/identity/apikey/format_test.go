package apikey_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/apikey"
)

func ExampleParse() {
	key, err := apikey.Parse("key_live_3bUxdLMV1SAFMDFdwjeKVdVzpTRVDqjBZy4m5YCc2Lq0000000")
	fmt.Println(key, err)
	// Output: malformed API key
}

func TestNewKeysParse(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^key_(live|test)_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for i := range 1000 {
		test := i%2 == 1
		key, err := apikey.New(test)
		require.NoError(t, err)
		require.Regexp(t, form, key.Value())
		require.Len(t, key.Value(), apikey.Length)
		require.False(t, seen[key.Value()])
		seen[key.Value()] = true

		require.Equal(t, test, key.Test())
		require.Equal(t, map[bool]string{false: "key_live_", true: "key_test_"}[test], key.Prefix())
		require.Equal(t, key.Value()[len(key.Value())-4:], key.Last4())
		require.Equal(t, sha256.Sum256([]byte(key.Value())), key.Hash())
		require.Equal(t, key.Value()[52:], base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(key.Value()[:52])))), 6))

		parsed, err := apikey.Parse(key.Value())
		require.NoError(t, err)
		require.Equal(t, key, parsed)
		require.Equal(t, key.Hash(), parsed.Hash())
	}
}

// Every malformed text gives the same error, and no key.
func TestMalformed(t *testing.T) {
	t.Parallel()
	key, err := apikey.New(false)
	require.NoError(t, err)
	good := key.Value()
	faulty := map[string]string{
		"empty":              "",
		"prefix only":        "key_live_",
		"too short":          good[:len(good)-1],
		"too long":           good + "0",
		"space before":       " " + good,
		"line end":           good + "\n",
		"space instead":      good[:len(good)-1] + " ",
		"other prefix":       "key_prod_" + good[9:],
		"upper-case prefix":  "KEY_LIVE_" + good[9:],
		"live made test":     "key_test_" + good[9:],
		"digit off alphabet": good[:20] + "-" + good[21:],
		"digit not ASCII":    good[:20] + "é" + good[22:],
		"NUL":                good[:20] + "\x00" + good[21:],
		"no checksum":        good[:52] + "000000",
	}
	for i := 9; i < len(good); i++ { // any single character mistyped
		c := "0"
		if good[i] == '0' {
			c = "1"
		}
		faulty[fmt.Sprintf("character %d", i)] = good[:i] + c + good[i+1:]
	}
	for name, s := range faulty {
		if s == good { // a checksum may happen to be 000000
			continue
		}
		key, err := apikey.Parse(s)
		require.Equal(t, apikey.ErrMalformed, err, name)
		require.Equal(t, apikey.Key{}, key, name)
	}
}

// No way of printing shows more than the prefix and the last four characters.
func TestMasked(t *testing.T) {
	t.Parallel()
	key, err := apikey.New(true)
	require.NoError(t, err)
	masked := "key_test_…" + key.Last4()
	secret := key.Value()[9:54]

	require.Equal(t, masked, key.String())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T%v", "%20v"} {
		require.Contains(t, fmt.Sprintf(strings.ReplaceAll(verb, "%T", ""), key), masked, verb)
	}
	hidden := struct{ hidden apikey.Key }{key} // fmt calls no methods on unexported fields
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		out := fmt.Sprintf(verb, hidden)
		require.NotContains(t, out, secret, verb)
		require.NotContains(t, out, fmt.Sprintf("%x", secret), verb)
	}

	asJSON, err := json.Marshal(map[string]any{"key": key, "hidden": hidden, "in": map[apikey.Key]int{key: 1}})
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(`{"key":%q,"hidden":{},"in":{%q:1}}`, masked, masked), string(asJSON))
	asXML, err := xml.Marshal(key)
	require.NoError(t, err)
	require.Contains(t, string(asXML), masked)

	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("issued", "key", key, "hidden", hidden, "pointer", &key)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("issued", "key", key, "hidden", hidden, "pointer", &key)
	require.NotContains(t, log.String(), secret)
	require.Contains(t, log.String(), masked)
}

func TestZeroKey(t *testing.T) {
	t.Parallel()
	var key apikey.Key
	require.Empty(t, key.Value()+key.String()+key.Prefix()+key.Last4())
	require.False(t, key.Test())
	require.NotPanics(t, func() { key.Hash() })
}

func FuzzParse(f *testing.F) {
	for _, test := range []bool{false, true} {
		key, err := apikey.New(test)
		require.NoError(f, err)
		f.Add(key.Value())
	}
	f.Add("")
	f.Add("key_live_")
	f.Add("key_live_" + strings.Repeat("z", 49))
	f.Fuzz(func(t *testing.T, s string) {
		key, err := apikey.Parse(s)
		if err != nil {
			require.Equal(t, apikey.ErrMalformed, err)
			require.Equal(t, apikey.Key{}, key)
			return
		}
		require.Equal(t, s, key.Value())
		require.Equal(t, s, key.Prefix()+s[9:54]+key.Last4())
		require.Equal(t, sha256.Sum256([]byte(s)), key.Hash())
		require.Equal(t, s[52:], base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(s[:52])))), 6))
		require.NotContains(t, fmt.Sprintf("%+v", key), s[9:54])
	})
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apikey.New(false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseAndHash measures what every authenticated call costs.
func BenchmarkParseAndHash(b *testing.B) {
	key, err := apikey.New(false)
	require.NoError(b, err)
	s := key.Value()
	b.ReportAllocs()
	for b.Loop() {
		key, err := apikey.Parse(s)
		if err != nil || key.Hash() == [32]byte{} {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	key, err := apikey.New(false)
	require.NoError(b, err)
	s := key.Value()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apikey.Parse(s); err != nil {
			b.Fatal(err)
		}
	}
}

// base62 computes the digits independently: big.Int counts 0-9a-zA-Z, a key 0-9A-Za-z.
func base62(n *big.Int, width int) string {
	swap := func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}
	s := strings.Map(swap, n.Text(62))
	return strings.Repeat("0", width-len(s)) + s
}

package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const canary = "cAn4ry-s3cret/with+signs&\"quotes\"=é✓ and more"

// encodings are what templates, expressions and receivers may do to a value.
var encodings = map[string]func(string) string{
	"plain": func(s string) string { return s },
	"upper case": func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < 128 {
				return unicode.ToUpper(r)
			}
			return r
		}, s)
	},
	"query":          url.QueryEscape,
	"path":           url.PathEscape,
	"lower-case %xx": func(s string) string { return strings.ToLower(url.QueryEscape(s)) },
	"every byte %xx": func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
		return b.String()
	},
	"JSON": func(s string) string { raw, _ := json.Marshal(s); return string(raw) },
	"ASCII JSON": func(s string) string {
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return b.String()
	},
	"JSON in JSON": func(s string) string {
		raw, _ := json.Marshal(map[string]string{"body": s})
		raw, _ = json.Marshal(string(raw))
		return string(raw)
	},
	"JSON in a query":       func(s string) string { raw, _ := json.Marshal(s); return url.QueryEscape(string(raw)) },
	"HTML":                  html.EscapeString,
	"base64":                func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64url":             func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"raw base64url":         func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 at 1":           func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u" + s + "!")) },
	"base64 at 2":           func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + s + "!?")) },
	"base64 in a query":     func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"a query in base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte("q=" + url.QueryEscape(s))) },
	"JSON in base64":        func(s string) string { raw, _ := json.Marshal(s); return base64.StdEncoding.EncodeToString(raw) },
	"hexadecimal":           func(s string) string { return hex.EncodeToString([]byte(s)) },
	"upper-case hex":        func(s string) string { return fmt.Sprintf("%X", s) },
	"a path in hexadecimal": func(s string) string { return hex.EncodeToString([]byte(url.PathEscape(s))) },
	"reversed": func(s string) string {
		runes := []rune(s)
		slices.Reverse(runes)
		return string(runes)
	},
}

// requireHidden fails if a text shows more of an encoded secret than the encoding of an empty text, plus the bits at both ends
// that base64 mixes with neighbouring bytes.
func requireHidden(t require.TestingT, out, name string) {
	require.Contains(t, out, masked)
	require.LessOrEqual(t, len(strings.ReplaceAll(out, masked, "")), len(encodings[name](""))+8, "%s: %s", name, out)
}

func TestMaskHidesEveryForm(t *testing.T) {
	t.Parallel()
	m := NewMasker("", canary, "another-value-0123456789")
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireHidden(t, m.Text(encode(canary)), name)
			out := m.Text("before the value, " + encode(canary) + ", after the value")
			require.True(t, strings.HasPrefix(out, "before the value, ") && strings.HasSuffix(out, ", after the value"), out)
			requireHidden(t, out[len("before the value, "):len(out)-len(", after the value")], name)
		})
	}
}

func TestMaskHidesPieces(t *testing.T) {
	t.Parallel()
	m := NewMasker("0123456789abcdef")
	for text, want := range map[string]string{
		"01234567":             masked,
		"x01234567x":           "x***x",
		"89abcdef and 3456789": "*** and 3456789", // seven characters
		"[4567 89ab]":          "[4567 89ab]",
		"456789abcd456789ab":   masked,
		"0123456789ABCDEF":     masked,
		"nothing":              "nothing",
		"":                     "",
		base64.StdEncoding.EncodeToString([]byte("user:456789ab")):                                "dXNlcjo***g==",
		hex.EncodeToString([]byte("<456789ab>")):                                                  "3c***3e",
		`"\u0030\u0031\u0032\u0033\u0034\u0035\u0036\u0037 …"`:                                    `"*** …"`,
		"https://h/?t=01%323456%37&u=0123456789abcde%66":                                          "https://h/?t=***&u=***",
		strings.Repeat("0123456789abcdef", 3) + strings.Repeat(" ", 8) + "fedcba9876543210" + "!": "***        ***!",
	} {
		require.Equal(t, want, m.Text(text), text)
	}
}

func TestMaskHidesShortValuesWhole(t *testing.T) {
	t.Parallel()
	m := NewMasker("pa&ss")
	for _, text := range []string{"pa&ss", "pa%26ss", `pa\u0026ss`, "pa&amp;ss", "PA&SS", "ss&ap", "7061267373", "cGEmc3"} {
		require.Equal(t, "<***>", m.Text("<"+text+">"), text)
	}
	require.Equal(t, "pa&s", m.Text("pa&s"))
	require.Equal(t, "*** bytes ***1", NewMasker("7").Text("7 bytes 71"))
	require.Equal(t, "text", NewMasker("", "").Text("text"))
}

func TestMaskJSONValues(t *testing.T) {
	t.Parallel()
	m := NewMasker("1234567890123456", "tok-abcdefghij")
	got := m.Value(map[string]any{
		"echo": []any{
			"Bearer tok-abcdefghij", nil, true, 5.5, json.Number("1234567890123456"), float64(1234567890123456), int64(1234567890123456), 7,
		},
		"tok-abcdefghij": map[string]any{"raw": json.RawMessage(`{"a":["tok-abcdefghij",12345678]}`), "unwritable": func() {}},
		"tok-abcdefgh":   1,
	})
	require.Equal(t, map[string]any{
		"echo":       []any{"Bearer ***", nil, true, 5.5, masked, masked, masked, 7},
		masked:       1,
		masked + "*": map[string]any{"raw": map[string]any{"a": []any{masked, masked}}, "unwritable": masked},
	}, got)
}

// TestMaskProperty generates secrets from characters that encodings treat specially, cuts out a piece, encodes it and puts it
// into a text. A secret that contains escapes is not cut, because a piece of it may stand for fewer than eight bytes.
func TestMaskProperty(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range encodings {
			if !yield(name) {
				return
			}
		}
	})
	alphabet := []rune(`abcXYZ0189+/-_=%&"\<> 'n:é✓😀` + "\n\t")
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringOfN(rapid.SampledFrom(alphabet), 8, 60, -1).Draw(t, "secret")
		part := secret
		if _, escaped := unescaped(view{text: []byte(secret)}); !escaped {
			runes := []rune(secret)
			from := rapid.IntRange(0, len(runes)-8).Draw(t, "from")
			part = string(runes[from:rapid.IntRange(from+8, len(runes)).Draw(t, "to")])
		}
		name := rapid.SampledFrom(names).Draw(t, "encoding")
		out := NewMasker("filler-value-of-no-interest", secret).Text("«" + encodings[name](part) + "»")
		requireHidden(t, strings.Trim(out, "«»"), name)
	})
}

// A masker takes at most 13 bytes of memory for each byte of the values, whatever they are made of: a value that is long in its
// encodings takes no more than others, and repetitions take nothing.
func TestMaskMemory(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(raw)
	for name, value := range map[string]string{
		"hexadecimal": hex.EncodeToString(raw[:32<<10]),
		"controls":    strings.Map(func(r rune) rune { return r%31 + 1 }, string(raw)),
		"escapes":     strings.Map(func(r rune) rune { return r%90 + '!' }, string(raw)),
		"one letter":  strings.Repeat("a", 64<<10),
	} {
		m := NewMasker(value)
		require.LessOrEqual(t, m.pieces.size(), 13*len(value), name)
		require.Equal(t, "<***>", m.Text("<"+value[1000:1100]+">"), name)
	}
}

// Of a masker that hides only some values in every piece, the others are hidden as a whole, and in 32 bytes of them.
func TestMaskOthersWhole(t *testing.T) {
	t.Parallel()
	own, url, token := "0123456789abcdef", "https://hooks.example.com/services/T000/B000/qXyZ4711", "tok-5f2c9d8e"
	m := NewMasker(own, url, token, "pa&ss")
	m = &Masker{pieces: m.pieces, alone: m.pieces.of([]string{own})}
	for text, want := range map[string]string{
		"01234567":                           "***",
		"https://example.com/orders/1":       "https://example.com/orders/1",
		"https://hooks.example.com/services": "***", // 34 bytes
		"https://hooks.example.com/serv":     "https://hooks.example.com/serv",
		"to " + url + ".":                    "to ***.",
		"to " + reversed(url) + ".":          "to ***.",
		"a TOK-5F2C9D8E b":                   "a *** b",
		"tok-5f2c9d8":                        "tok-5f2c9d8",
		"pa&ss":                              "pa&ss",
		`{"a":"` + hex.EncodeToString([]byte(token)) + `"}`:          `{"a":"***"}`,
		base64.StdEncoding.EncodeToString([]byte("{" + token + "}")): "e3***X0=",
		url + token: "***",
	} {
		require.Equal(t, want, m.Text(text), text)
	}
}

func BenchmarkMask(b *testing.B) {
	var many []string
	for i := range 60 {
		raw := make([]byte, 32<<10)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(raw)
		many = append(many, hex.EncodeToString(raw))
	}
	b.Run("new/60×65536", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			NewMasker(many...)
		}
	})
	text := strings.Repeat(`{"id":"req_01k9","title":"A new laptop for \"Zoë\"","url":"https://example.com/a%20b"}`, 3000)
	for _, size := range []int{40, 64 << 10} {
		raw := make([]byte, size/2)
		_, _ = rand.NewChaCha8([32]byte{}).Read(raw)
		value := hex.EncodeToString(raw)
		b.Run(fmt.Sprintf("new/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				NewMasker(value)
			}
		})
		m := NewMasker(value)
		b.Run(fmt.Sprintf("text/%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				m.Text(text)
			}
		})
	}
}

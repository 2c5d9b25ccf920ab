package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/identity/apikey"
)

// The alphabets that issuers use.
const (
	decimal   = "0123456789"
	capitals  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	base62    = capitals + "abcdefghijklmnopqrstuvwxyz" + decimal
	base32Std = capitals + "234567"
	base64URL = base62 + "-_"
	base64Std = base62 + "+/"
)

// issuer generates a key in a real format.
type issuer func(r *rand.Rand) string

// of concatenates texts and issuers. The keys in these tests are concatenated so that scanners of source code do not report
// them.
func of(parts ...any) issuer {
	return func(r *rand.Rand) string {
		var b strings.Builder
		for _, part := range parts {
			switch part := part.(type) {
			case string:
				b.WriteString(part)
			case issuer:
				b.WriteString(part(r))
			}
		}
		return b.String()
	}
}

// some returns n random characters of an alphabet.
func some(n int, alphabet string) issuer {
	return func(r *rand.Rand) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
}

// pemOf generates a PEM block with a body of three lines.
func pemOf(kind string) issuer {
	begin, end := "-----BEGIN "+kind+"-----\n", "\n-----END "+kind+"-----"
	return of(begin, some(64, base64Std), "\n", some(64, base64Std), "\n", some(30, base64Std), "==", end)
}

// jsonPart generates a part of a JWT.
func jsonPart(name, value string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"` + name + `":"` + value + `"}`))
}

// word generates 32 random bytes like our sessions and mailed links, of those that are recognised. TestDrawn measures how many
// are.
func word(r *rand.Rand) string {
	for {
		raw := make([]byte, 32)
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		if s := base64.RawURLEncoding.EncodeToString(raw); drawn([]byte(s)) {
			return s
		}
	}
}

var issuers = map[string]issuer{
	"our API key":              of("key_", "live_", some(49, base62)),
	"our test key":             of("key_", "test_", some(49, base62)),
	"our signing secret":       of("whs", "ec_", some(43, base64Std), "="),
	"our access token":         of(jsonPart("alg", "ES256"), ".", jsonPart("sub", "usr_01"), ".", some(86, base64URL)),
	"our refresh token":        of(some(51, base32Std), "7"),
	"our session's cookie":     of("__Host-atrium_", "session=", some(43, base64URL)),
	"our session's value":      word,
	"a private key":            pemOf("PRIVATE" + " KEY"),
	"an RSA key":               pemOf("RSA PRIVATE" + " KEY"),
	"an OpenSSH key":           pemOf("OPENSSH PRIVATE" + " KEY"),
	"a PGP key":                pemOf("PGP PRIVATE" + " KEY BLOCK"),
	"an AWS key id":            of("AK", "IA", some(16, base32Std)),
	"a temporary AWS key id":   of("AS", "IA", some(16, base32Std)),
	"an AWS id and secret":     of("AK", "IA", some(16, base32Std), ":", some(37, base64Std), "aB3"),
	"an AWS session":           of("IQoJb3", "JpZ2lu", some(400, base64Std), "=="),
	"a GitHub token":           of("gh", "p_", some(36, base62)),
	"an OAuth token of GitHub": of("gh", "o_", some(36, base62)),
	"a GitHub app":             of("gh", "s_", some(36, base62)),
	"a GitHub user":            of("gh", "u_", some(36, base62)),
	"a GitHub refresh token":   of("gh", "r_", some(76, base62)),
	"a narrow GitHub token":    of("github", "_pat_", some(22, base62), "_", some(59, base62)),
	"a Slack bot":              of("xo", "xb-", some(12, decimal), "-", some(12, decimal), "-", some(24, base62)),
	"a Slack user":             of("xo", "xp-", some(12, decimal), "-", some(12, decimal), "-", some(32, base62)),
	"a Slack workspace":        of("xo", "xa-2-", some(12, decimal), "-", some(32, base62)),
	"a Slack app":              of("xa", "pp-1-A0", some(10, base62), "-", some(13, decimal), "-", some(64, "0123456789abcdef")),
	"a Slack webhook":          of("hooks.slack", ".com/services/", some(11, base62), "/", some(36, base62)),
	"an OpenAI key":            of("s", "k-", some(20, base62), "T3BlbkFJ", some(20, base62), "7"),
	"an OpenAI project":        of("s", "k-proj-", some(74, base64URL), "T3BlbkFJ", some(74, base64URL)),
	"an OpenAI account":        of("s", "k-svcacct-", some(58, base64URL), "T3BlbkFJ", some(58, base64URL)),
	"an Anthropic key":         of("s", "k-ant-api03-", some(93, base64URL), "AA"),
}

// apart lists the keys that are not found when a letter directly precedes them: they have no prefix, or words end like it.
var apart = []string{
	"our refresh token", "our session's value", "a Slack app", "an OpenAI key", "an OpenAI project", "an OpenAI account",
	"an Anthropic key",
}

// lossy lists the encodings of a Masker's tests after which a key is unusable.
var lossy = []string{"upper case", "lower-case %xx", "reversed"}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 1)) }

// maskKeys returns a text as a Masker without values leaves it.
func maskKeys(text string) string { return NewMasker().WithKeys().Text(text) }

func TestMaskKeysHidesEveryKeyInEveryForm(t *testing.T) {
	t.Parallel()
	for kind, issue := range issuers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			key := issue(seeded(1))
			for name, encode := range encodings {
				if slices.Contains(lossy, name) || name == "base64 at 1" && slices.Contains(apart, kind) {
					continue
				}
				out := maskKeys("It is " + encode(key) + ", please keep it.")
				require.True(t, strings.HasPrefix(out, "It is ") && strings.HasSuffix(out, ", please keep it."), "%s: %s", name, out)
				requireHidden(t, out[len("It is "):len(out)-len(", please keep it.")], name)
			}
		})
	}
}

// In the places where people paste keys, the surrounding text stays.
func TestMaskKeysInTheirSurroundings(t *testing.T) {
	t.Parallel()
	r := seeded(2)
	github, openAI, refresh := issuers["a GitHub token"](r), issuers["an OpenAI key"](r), issuers["our refresh token"](r)
	id, secret, session := issuers["an AWS key id"](r), some(37, base64Std)(r)+"aB3", issuers["our session's value"](r)
	b64 := base64.StdEncoding.EncodeToString
	long := strings.Repeat("An innocent line of a file.\n", 20)
	far, commit := strings.Repeat(" and so on ", 30), "3ed03a3f0c1b2a49586776859403f2e1d0c9b8a7"
	pem, indent := issuers["an RSA key"](r), strings.NewReplacer("\n", "\n  ")
	for name, c := range map[string]struct{ text, want string }{
		"a header":                    {"Authorization: Bearer " + openAI, "Authorization: Bearer ***"},
		"a clone address":             {"https://bot:" + github + "@github.com/acme/app", "https://bot:***@github.com/acme/app"},
		"a mailed link":               {"https://id.example.com/reset?token=" + session, "https://id.example.com/reset?token=***"},
		"a form body":                 {"a=b&refresh_token=" + refresh + "&c=d", "a=b&refresh_token=***&c=d"},
		"basic authentication":        {"Authorization: Basic " + b64([]byte("app:"+refresh)), "Authorization: Basic ***"},
		"a key that was cut":          {"it begins with " + github[:24] + "…", "it begins with ***…"},
		"two keys":                    {github + " or " + openAI, "*** or ***"},
		"AWS credentials":             {"id = " + id + "\nsecret = " + secret + "\n", "id = ***\nsecret = ***\n"},
		"an AWS secret by its label":  {"AWS_SECRET_ACCESS_KEY=" + secret, "AWS_SECRET_ACCESS_KEY=***"},
		"an AWS secret far away":      {id + far + secret, "***" + far + secret},
		"a commit beside an AWS id":   {id + " since " + commit, "*** since " + commit},
		"a PEM block in one line":     {strings.ReplaceAll(pem, "\n", " ") + " it is", "*** it is"},
		"a PEM block without its end": {pem[:140] + "\n\nThat is all.", "***\n\nThat is all."},
		"two PEM blocks":              {pem + "\nand\n" + pem, "***\nand\n***"},
		"a file in base64":            {b64([]byte(long + github + "\n" + long)), "***"},
		"a file in full lines":        {wrap(b64([]byte(github+long)), 32) + "\n\nThanks", "***\n\nThanks"},
		"a file in wrapped base64":    {"data:\n" + wrap(b64([]byte(long+github+long)), 76) + "\n\nThanks", "data:\n***\n\nThanks"},
		"an indented one":             {"key: |\n  " + indent.Replace(wrap(b64([]byte(long+github)), 64)), "key: |\n  ***"},
		"wrapped hexadecimal":         {wrap(hex.EncodeToString([]byte(long+github)), 60), "***"},
		"base64 of base64":            {b64([]byte(`{"auth":"` + b64([]byte("u:"+github)) + `"}`)), "***"},
		"base64 behind a path":        {"path/" + b64([]byte(github)), "***"},
		"JSON in base64 in a query":   {"?state=" + strings.ReplaceAll(b64([]byte(`{"k":"`+openAI+`"}`)), "=", "%3D"), "?state=***"},
	} {
		require.Equal(t, c.want, maskKeys(c.text), name)
	}
}

func wrap(text string, width int) string {
	return regexp.MustCompile(fmt.Sprintf(`.{%d}\B`, width)).ReplaceAllString(text, "$0\n")
}

// The forms match what the product itself issues.
func TestMaskKeysOfOurOwn(t *testing.T) {
	t.Parallel()
	live, err := apikey.New(false)
	require.NoError(t, err)
	test, err := apikey.New(true)
	require.NoError(t, err)
	for _, key := range []string{live.Value(), test.Value()} { // signing secrets: package signing
		require.Equal(t, "<***>", maskKeys("<"+key+">"))
	}
}

func TestMaskKeysLeavesTheRest(t *testing.T) {
	t.Parallel()
	image := make([]byte, 3000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(image)
	for _, text := range []string{
		"",
		"My laptop's keyboard is broken: the keys A, S and K are stuck. I asked at the help-desk-in-building-7-second-floor.",
		"Please ask-the-2nd-line-of-support-in-zurich, task-01k9ye4ryzf7stj6dqnm8x2v3b and risk-0123456789abcdef0123456789abcdef.",
		"scikit: sk-learn-2-onnx-converter-tool, sk-SK, sk-proj, sk-ant-colony-optimisation-notes",
		"xoxo-your-grandmother, SLOVAKIA, ASIAPACIFICHEADQUARTERS, whsec_, key_live_…k3Zp, gh" + "p_…",
		"req_01k9ye4ryzf7stj6dqnm8x2v3b usr_01k9ye4ryzf7stj6dqnm8x2v3c whs_01k9ye4ryzf7stj6dqnm8x2v3d",
		"f47ac10b-58cc-4372-a567-0e02b2c3d479 and F47AC10B-58CC-4372-A567-0E02B2C3D479",
		"commit 3ed03a3f0c1b2a49586776859403f2e1d0c9b8a7",
		"sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDgPdbCYeK2Xu9nFfQ is the host's fingerprint",
		`integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"`,
		"https://example.com/a/long/path/with-many-words_and_underscores/index.html?page=2&sort=-createdAt&filter=open%20ones#top",
		"https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
		"https://hooks.slack.com/services/ is where its webhooks are; see https://github.com/acme/app/pull/12345",
		"Quarterly-Report-2026-Finance-Department-EU, ThisIsAVeryLongCamelCaseIdentifierNumber042",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq5VtY3Jx0Jv0n0c8v1Yb7m4V2Qw9u3Zr6Xk5Lh8T1P zoe@laptop",
		"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ2hlY2tUaGF0Tm90aGluZ0lzSGlkZGVuSGVyZQ==\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZm9vYmFyYmF6cXV4Zm9vYmFyYmF6\n-----END PUBLIC KEY-----",
		"The PRIVATE KEY of the cabinet is lost, and the END of the year is near.",
		"data:image/png;base64," + base64.StdEncoding.EncodeToString(image),
		base64.StdEncoding.EncodeToString([]byte("Only a text in base64, of some length, that says nothing at all.")),
		hex.EncodeToString([]byte("Only a text in hexadecimal that says nothing.")),
		"Straße, Zoë, 東京 and 😀 — 100 % of A&B \\ C:\\Users\\zoe\\Documents",
	} {
		require.Equal(t, text, maskKeys(text))
	}
}

// Members of one object or list count as near each other, and so do names. Different objects do not.
func TestMaskKeysInJSON(t *testing.T) {
	t.Parallel()
	r := seeded(3)
	id, aws, github := issuers["an AWS key id"](r), some(37, base64Std)(r)+"aB3", issuers["a GitHub token"](r)
	m := NewMasker("tok-of-this-company")
	got := m.WithKeys().Value(map[string]any{
		"pair":    map[string]any{"id": id, "secret": aws, "deeper": []any{aws}},
		"named":   map[string]any{"secretAccessKey": aws},
		"list":    []any{"the id is " + id, "and the secret " + aws, 7},
		"other":   map[string]any{"text": aws, github: json.Number("12")},
		"company": "tok-of-this-company",
	})
	require.Equal(t, map[string]any{
		"pair":    map[string]any{"id": masked, "secret": masked, "deeper": []any{masked}},
		"named":   map[string]any{"secretAccessKey": masked},
		"list":    []any{"the id is ***", "and the secret ***", 7},
		"other":   map[string]any{"text": aws, masked: json.Number("12")},
		"company": masked,
	}, got)
	require.Equal(t, github, m.Text(github), "a masker without keys stays one")
}

// Nearly all values of our sessions are distinguished from words.
func TestDrawn(t *testing.T) {
	t.Parallel()
	r, missed := seeded(4), 0
	for range 20_000 {
		raw := make([]byte, 32)
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		if !drawn([]byte(base64.RawURLEncoding.EncodeToString(raw))) {
			missed++
		}
	}
	require.Less(t, missed, 40)
}

// TestMaskKeysProperty generates a key of any kind, encodes it and puts it between texts: the key is hidden and the rest
// unchanged.
func TestMaskKeysProperty(t *testing.T) {
	t.Parallel()
	kinds, names := slices.Sorted(maps.Keys(issuers)), slices.Sorted(maps.Keys(encodings))
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(lossy, name) || name == "base64 at 1" })
	around := rapid.StringOfN(rapid.SampledFrom([]rune(" \n.,:;!?()[]<>é✓😀\"'%&\\")), 0, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		key := issuers[rapid.SampledFrom(kinds).Draw(t, "kind")](seeded(rapid.Uint64().Draw(t, "seed")))
		name := rapid.SampledFrom(names).Draw(t, "encoding")
		before, behind := around.Draw(t, "before")+"«", "»"+around.Draw(t, "behind")
		out := maskKeys(before + encodings[name](key) + behind)
		require.True(t, strings.HasPrefix(out, before) && strings.HasSuffix(out, behind), out)
		requireHidden(t, out[len(before):len(out)-len(behind)], name)
	})
}

// For any text, what remains is part of the text, in order.
func FuzzMaskKeys(f *testing.F) {
	for _, kind := range slices.Sorted(maps.Keys(issuers)) {
		f.Add(issuers[kind](seeded(5)))
	}
	f.Add("--BEGIN PRIVATE" + " KEY \\n%2")
	f.Add("A=\r\n A&amp;\\u00")
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		for piece := range strings.SplitSeq(maskKeys(text), masked) {
			_, after, found := strings.Cut(rest, piece)
			require.True(t, found, "%q in %q", piece, rest)
			rest = after
		}
	})
}

// BenchmarkMaskKeys reads 32 KiB of requests, of base64, and of text made to be slow.
func BenchmarkMaskKeys(b *testing.B) {
	raw := make([]byte, 24<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(raw)
	fill := func(s string) string { return strings.Repeat(s, 32<<10/len(s)) }
	for name, text := range map[string]string{
		"requests": fill(`{"id":"req_01k9ye4ryzf7stj6dqnm8x2v3b","title":"A laptop for \"Zoë\"","url":"https://example.com/a%20b"}`),
		"base64":   base64.StdEncoding.EncodeToString(raw),
		"nested":   base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(raw[:18<<10]))),
		"hex":      hex.EncodeToString(raw[:16<<10]),
		"prefixes": fill("sk-eyJxoxb-ghs_AK" + "IAwhsec_secret_access_key"),
		"PEM":      fill("--BEGIN PRIVATE" + " KEY"),
		"escapes":  fill(`%255Cu0025%2526amp;\\\\u0041`),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				maskKeys(text)
			}
		})
	}
}

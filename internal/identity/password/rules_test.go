package password_test

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/identity/password"
	"atrium/internal/platform/apperr"
)

var about = []string{"ada.lovelace@engines.test", "Ada Lovelace", "Difference Engines"}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		why, plain string
		refused    string // part of the message; empty when the password may be chosen
	}{
		{"nothing", "", "at least 8"},
		{"7 characters", "k7mqx2z", "at least 8"},
		{"8 characters of any kind", "k7mqx2zp", ""},
		{"characters, not bytes", "žluťoučk", ""},
		{"7 characters in 14 bytes", "žšťčřďň", "at least 8"},
		{"counted as normalised: 7 letters with their accents apart", "e\u0301e\u0300a\u0301o\u0302i\u0308u\u0308n\u0303", "at least 8"},
		{"a passphrase without digits", "correct horse battery staple", ""},
		{"blanks at the ends count", " k7mqx2 ", ""},
		{"emoji", "🦊🐢🐙🦉🐝🐌🦔🐍", ""},
		{"128 characters", strings.Repeat("k7mqx2zp", 16), ""},
		{"256 characters", strings.Repeat("k7mqx2zp", 32), ""},
		{"257 characters", strings.Repeat("k7mqx2zp", 32) + "x", "at most 256"},
		{"a megabyte", strings.Repeat("k7mqx2zp", 1<<17), "at most 256"},
		{"invalid UTF-8", "k7mqx2z\xff", "UTF-8"},
		{"a common one", "iloveyou", "common"},
		{"a common one in another case", "ILoveYou", "common"},
		{"a common one in full-width letters", "ｉｌｏｖｅｙｏｕ", "common"},
		{"a common one with a digit", "password1", "common"},
		{"a common one with all classes of characters", "P@ssw0rd", "common"},
		{"one character", "zzzzzzzzzzzz", "repetition"},
		{"two in turn", "qpqpqpqpqp", "repetition"},
		{"up", "cdefghijkl", "sequence"},
		{"down", "987654321", "sequence"},
		{"the e-mail address", "ada.lovelace@engines.test", "your name"},
		{"the name", "Ada Lovelace", "your name"},
		{"the name with a year", "lovelace1843", "your name"},
		{"the company with a mark", "Engines!Engines", "your name"},
		{"the product", "Atrium2026!", "the product's name"},
		{"the name in a passphrase", "lovelace wrote the first program", ""},
		{"a short word of the name is no hindrance", "madagascar-vanilla", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			t.Parallel()
			err := password.Check(tc.plain, about...)
			if tc.refused == "" {
				require.NoError(t, err)
				return
			}
			e := apperr.From(err)
			require.Equal(t, apperr.Validation, e.Code)
			require.Len(t, e.Details, 1)
			require.Equal(t, "password", e.Details[0].Field)
			require.Contains(t, e.Details[0].Message, tc.refused)
			if tc.plain != "" {
				require.NotContains(t, err.Error(), tc.plain, "a refusal does not repeat the password")
			}
		})
	}
}

// breachedFile writes a file with the hashes of the passwords, each cut to a number of hex digits, and returns its path.
func breachedFile(t *testing.T, digits int, ending string, plain ...string) string {
	t.Helper()
	var lines []string
	for i, p := range plain {
		count := ""
		if i%3 > 0 {
			count = ":" + strings.Repeat("7", i%5+1) // so that lines differ in length
		}
		lines = append(lines, fmt.Sprintf("%X", sha1.Sum([]byte(p)))[:digits]+count)
	}
	slices.Sort(lines)
	path := filepath.Join(t.TempDir(), "breached.txt")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, ending)), 0o600))
	return path
}

func openBreached(t *testing.T, path string) *password.Breached {
	t.Helper()
	b, err := password.OpenBreached(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// Passwords in the operator's file are refused, and so are those of the built-in list.
func TestBreached(t *testing.T) {
	t.Parallel()
	rules := password.NewRules(openBreached(t, breachedFile(t, 40, "\r\n", "violet-otter-9", "tangled-fern-3")))
	err := rules.Check("violet-otter-9")
	require.Equal(t, apperr.Validation, apperr.CodeOf(err))
	require.Contains(t, apperr.From(err).Details[0].Message, "breaches")
	require.NoError(t, rules.Check("violet-otter-8"))
	require.Error(t, rules.Check("iloveyou"))
}

// For any number of lines, line lengths and line ends, exactly the passwords in the file are found.
func TestBreachedSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.SliceOfNDistinct(rapid.StringN(1, 12, -1), 1, 60, rapid.ID).Draw(rt, "in")
		digits := rapid.SampledFrom([]int{10, 16, 40}).Draw(rt, "digits")
		ending := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "ending")
		b, err := password.OpenBreached(breachedFile(t, digits, ending, in...))
		require.NoError(rt, err)
		defer b.Close() //nolint:errcheck // only read
		for _, p := range in {
			found, err := b.Contains(p)
			require.NoError(rt, err)
			require.True(rt, found, "%q", p)
		}
		out := rapid.StringN(13, 20, -1).Draw(rt, "out")
		found, err := b.Contains(out)
		require.NoError(rt, err)
		require.False(rt, found)
	})
}

func TestBreachedFaults(t *testing.T) {
	t.Parallel()
	hash := func(s string) string { return fmt.Sprintf("%X", sha1.Sum([]byte(s))) }
	for name, content := range map[string]string{
		"empty":      "",
		"words":      "password\nletmein\n",
		"too short":  "ABCDEF\nABCDFF\n",
		"mixed":      "0000000000\n" + hash("a"),
		"descending": "FFFFFFFFFFFF\n000000000000\n",
		"no lines":   strings.Repeat("A", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "breached.txt")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			_, err := password.OpenBreached(path)
			require.Error(t, err)
		})
	}
	_, err := password.OpenBreached(filepath.Join(t.TempDir(), "absent"))
	require.Error(t, err)
	_, err = password.OpenBreached(t.TempDir())
	require.Error(t, err)

	// Damage in the middle of the file is an error when the search reaches it.
	path := filepath.Join(t.TempDir(), "breached.txt")
	damaged := append([]byte(strings.Repeat("0", 40)+"\n"), bytes.Repeat([]byte("?"), 4000)...)
	damaged = append(damaged, []byte("\n"+strings.Repeat("F", 40)+"\n")...)
	require.NoError(t, os.WriteFile(path, damaged, 0o600))
	_, err = password.NewRules(openBreached(t, path)).Check("k7mqx2zp"), nil
	require.NoError(t, err)
	err = password.NewRules(openBreached(t, path)).Check("k7mqx2zp")
	require.Error(t, err)
	require.Equal(t, apperr.Internal, apperr.CodeOf(err))
}

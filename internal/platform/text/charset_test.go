package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/text"
)

// What is no UTF-8 can be told from the text: U+FFFD stands where a sender has written it, and nowhere else.
func TestPlain(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"Zoë 😀 \ufffd": "Zoë 😀 \ufffd", "a\x00b": `a\x00b`, "Zo\xeb": `Zo\xeb`, "\xed\xa0\xbd": `\xed\xa0\xbd`, "ü\xc3": `ü\xc3`, "": "",
	} {
		require.Equal(t, want, text.Plain(s))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		plain := text.Plain(s)
		if !utf8.ValidString(plain) || strings.ContainsRune(plain, 0) || strings.Count(plain, "\ufffd") != strings.Count(s, "\ufffd") || text.Plain(plain) != plain {
			t.Fatalf("%q became %q", s, plain)
		}
	})
}

// A header is in UTF-8 or in Latin-1.
func TestHeader(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"Zo\xeb": "Zoë", "Zoë": "Zoë", "plain": "plain", "\x80": "€", "\x80\x81": `\x80\x81`} {
		require.Equal(t, want, text.Header(s))
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, kind, want, unreadable string }{
		{"Zo\xeb", "text/plain; charset=iso-8859-1", "Zoë", ""}, {"\ufeffé", "", "é", ""}, {"\x82\xa0", "text/plain; charset=Shift_JIS", "あ", ""},
		{"\xff\xfea\x00", "text/plain", "a", ""}, {"Zo\xeb", "text/plain", "", "it is not in UTF-8, and names no other charset"},
		{"a", "text/plain; charset=klingon", "", "its charset is not known"}, {"\x82", "text/plain; charset=Shift_JIS", "", "it is not in the charset that it names"},
	} {
		got, unreadable := text.Decode([]byte(c.body), c.kind)
		require.Equal(t, []string{c.want, c.unreadable}, []string{string(got), unreadable}, "%q %s", c.body, c.kind)
	}
}

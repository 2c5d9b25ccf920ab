package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/text"
)

func TestEmail(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a@b", "ada.lovelace+x@mail.example.com", "o'brien@x-y.test", "a@xn--bcher-kva.example", strings.Repeat("a", 64) + "@b.test"} {
		got, ok := text.Email(strings.ToUpper(good))
		require.True(t, ok, good)
		require.Equal(t, good, got)
	}
	for name, bad := range map[string]string{
		"none": "", "no domain": "a@", "no local part": "@b.test", "two ats": "a@b@c.test", "a blank": "a b@c.test", "a quoted part": `"a b"@c.test`,
		"a literal": "a@[127.0.0.1]", "a bare address": "a@127.0.0.1", "dots in a row": "a..b@c.test", "a dot at the end": "a@c.test.", "a dot first": ".a@c.test",
		"a control character": "a\x07@c.test", "a line": "a@c.test\r\nBcc: b@c.test", "a zero width joiner": "a\u200d@c.test", "right to left": "a\u202e@c.test",
		"not ASCII": "ädam@c.test", "a letter that folds to ASCII": "\u212aim@c.test", "a domain that is not ASCII": "a@\u0441om.test", "a name": "A <a@c.test>",
		"a comment": "a(b)@c.test", "a long part": strings.Repeat("a", 65) + "@b.test", "a long label": "a@" + strings.Repeat("b", 64) + ".test",
		"a long whole": "a@" + strings.Repeat("bcdefghij.", 26) + "test", "a hyphen first": "a@-b.test",
	} {
		_, ok := text.Email(bad)
		require.False(t, ok, name)
	}
}

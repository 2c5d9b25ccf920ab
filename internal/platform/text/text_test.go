package text_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/text"
)

func TestCut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abc", text.Cut("abcdef", 3))
	require.Equal(t, "ab", text.Cut("abü", 3), "no half of a letter")
	require.Equal(t, `a\x00b`, text.Cut("a\x00b", 9))
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		n := rapid.IntRange(0, 40).Draw(t, "n")
		cut := text.Cut(s, n)
		if len(cut) > n || !utf8.ValidString(cut) {
			t.Fatalf("%q cut to %d is %q", s, n, cut)
		}
	})
}

func TestBlank(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{"", " ", "\t\n", "\u00a0", "\u200b", "\u3000", "\ufeff", "\u2060\u2028 "} {
		require.True(t, text.Blank(blank), "%q", blank)
	}
	for _, shown := range []string{"0", " x ", "\u200bя", "👩‍💻", "\u0301"} {
		require.False(t, text.Blank(shown), "%q", shown)
	}
}

func TestCamel(t *testing.T) {
	t.Parallel()
	for column, want := range map[string]string{"name": "name", "created_by": "createdBy", "owner_team_id": "ownerTeamId", "a__b": "aB"} {
		require.Equal(t, want, text.Camel(column))
	}
}

// A text is cut to what fits, the mark of the cut included, and not where it fits.
func TestShort(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "abc": "abc", "abcd": "abcd", "abcde": "abc…", "éàüöx": "éàü…"} {
		require.Equal(t, want, text.Short(in, 4), in)
	}
}

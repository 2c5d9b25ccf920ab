package authz_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/authz"
)

// Globs match the same texts as their equivalent regular expressions.
func TestGlobsMatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?é😀.\\\n")), 0, 12, -1).Draw(t, "pattern")
		if rapid.Bool().Draw(t, "long") { // positions beyond one word of bits
			pattern = strings.Repeat("a", 60) + pattern + strings.Repeat("?", 70) + pattern
		}
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abé😀.\\\n")), 0, 16, -1).Draw(t, "text")
		if rapid.Bool().Draw(t, "fits") {
			text = strings.NewReplacer("*", text, "?", "é").Replace(pattern)
		}
		expression := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		require.Equal(t, regexp.MustCompile("^(?s:"+expression+")$").MatchString(text), authz.Matches(pattern, text))
	})
}

// The worst glob takes one pass over the longest text.
func BenchmarkGlob(b *testing.B) {
	pattern := strings.Repeat("*"+strings.Repeat("a", 23), 8) + "b"
	text := strings.Repeat("a", 10_000)
	for b.Loop() {
		require.False(b, authz.Matches(pattern, text))
	}
}

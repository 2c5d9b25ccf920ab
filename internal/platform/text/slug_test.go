package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/text"
)

func TestSlug(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"IT Support": "it-support", "  Ärger & Co. ": "arger-co", "a--b": "a-b", "Élan": "elan", "straße": "strasse", "STRASSE": "strasse",
		"Cœur Ørsted Łódź": "coeur-orsted-lodz", "İstanbul": "istanbul", "naïve": "naive", "①②": "12", "E\u0301lan": "elan", "東京 Büro": "buro",
		"Ωmega": "omega", "\u2126mega": "omega", "Αθήνα Ψυχή": "athina-psychi", "Привет, Яблоко": "privet-iabloko", "Київ": "kiiv", "объект": "obekt", "Ǿre": "ore",
		strings.Repeat("a", 100): strings.Repeat("a", 63), strings.Repeat("a", 62) + " b": strings.Repeat("a", 62),
	} {
		got := text.Slug(name, "x")
		require.Equal(t, want, got, "%q", name)
		require.Regexp(t, "^[a-z0-9-]{1,63}$", got)
	}
	for _, name := range []string{"---", "日本", ""} {
		require.Regexp(t, "^x[a-z0-9-]{0,62}$", text.Slug(name, "x"), "%q leaves nothing: the fallback", name)
	}
}

func TestNumberedSlug(t *testing.T) {
	t.Parallel()
	require.Equal(t, "acme-2", text.NumberedSlug("acme", 2))
	require.Equal(t, strings.Repeat("a", 60)+"-10", text.NumberedSlug(strings.Repeat("a", 63), 10))
	require.Equal(t, strings.Repeat("a", 60)+"-2", text.NumberedSlug(strings.Repeat("a", 60)+"-bc", 2), "no second hyphen where it is cut")
}
